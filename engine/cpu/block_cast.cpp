// Casts with one scale per block: amax of a block, its scale, its elements.
//   Ref     one block after the other, with the scalar conversions of formats.h
//   Avx2    block_cast.inl on 8 lanes, 32 columns at a time (block_lanes_avx2.inl)
//   Avx512  the same on 16 lanes, 64 columns at a time (block_lanes_avx512.inl)
// Codes, scales, amax and counts are the same at every level, bit for bit; the FP64 sums differ in their order only.
#include "cpu/block_cast.h"

#include "cpu/block_work.h"
#include "cpu/gemm_kernels.h"
#include "cpu/isa.h"
#include "cpu/quantise.h"
#include "src/random.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>

namespace engine::cpu {

namespace {

constexpr float kInverseE2M1Max = 1.0F / kMaxE2M1;

float largestOf(Type type) {
    if (type == Type::E2M1) return kMaxE2M1;
    return fp8Limits(type == Type::E4M3 ? Fp8Format::E4M3 : Fp8Format::E5M2).max;
}

/// All 256 values of a scale byte, or nullptr.
const float* scaleValues(BlockScale scaleType) {
    static const std::array<float, 256> e8m0 = [] {
        std::array<float, 256> values{};
        for (std::size_t code = 0; code < 256; ++code) values[code] = decodeE8M0(static_cast<std::uint8_t>(code));
        return values;
    }();
    if (scaleType == BlockScale::F32) return nullptr;
    return scaleType == BlockScale::E8M0 ? e8m0.data() : fp8Values(Type::E4M3);
}

/// Smallest and largest scale_inv among `count` scales in a row. Bytes of either kind are in the order of their values.
void noteScales(const BlockWork& work, const void* scales, std::int64_t first, std::int64_t count, CastStats& stats) {
    float smallest = FLT_MAX;
    float largest = 0;
    if (work.cast.scaleType == BlockScale::F32) {
        const float* values = static_cast<const float*>(scales) + first;
        for (std::int64_t i = 0; i < count; ++i) {
            smallest = values[i] < smallest ? values[i] : smallest;
            largest = values[i] > largest ? values[i] : largest;
        }
    } else {
        const std::uint8_t* bytes = static_cast<const std::uint8_t*>(scales) + first;
        std::uint8_t low = 255;
        std::uint8_t high = 0;
#pragma omp simd reduction(min : low) reduction(max : high)
        for (std::int64_t i = 0; i < count; ++i) {
            low = bytes[i] < low ? bytes[i] : low;
            high = bytes[i] > high ? bytes[i] : high;
        }
        smallest = work.scaleTable[low] * work.globalDecode;
        largest = work.scaleTable[high] * work.globalDecode;
    }
    stats.scaleInvMin = std::min(stats.scaleInvMin, smallest);
    stats.scaleInvMax = std::max(stats.scaleInvMax, largest);
}

// ------------------------------------------------------------------------------------------------ Ref

struct ScaleRef {
    float encode;       // an element is cast after multiplication by this
    float decode;       // value of the stored scale
    std::uint8_t code;  // of byte scales
};

ScaleRef scaleE8M0Ref(const BlockWork& work, float amax) {
    const std::uint8_t code = encodeE8M0(amax * work.inverseMax);
    return {std::ldexp(1.0F, 127 - code), decodeE8M0(code), code};
}

ScaleRef scaleF32Ref(const BlockWork& work, float amax) {
    const float limited = amax < work.cast.amaxEpsilon ? work.cast.amaxEpsilon : amax;
    if (limited == 0 || std::isinf(limited)) return {1.0F, 1.0F, 0};
    float scale = std::min(work.typeMax / limited, FLT_MAX);
    if (work.cast.powerOfTwo) scale = std::bit_cast<float>(std::bit_cast<std::uint32_t>(scale) & 0xFF800000U);
    return {scale, 1.0F / scale, 0};
}

ScaleRef scaleE4M3Ref(const BlockWork& work, float amax) {
    const std::uint8_t code = encodeFp8(std::min(amax * work.encodeFactor, FLT_MAX), Fp8Format::E4M3);
    const float decode = decodeFp8(code, Fp8Format::E4M3);
    if (decode == 0) return {FLT_MAX, 0, code};
    return {std::min(1.0F / (decode * work.globalDecode), FLT_MAX), decode, code};
}

ScaleRef scaleRef(const BlockWork& work, float amax) {
    switch (work.cast.scaleType) {
        case BlockScale::E8M0:
            return scaleE8M0Ref(work, amax);
        case BlockScale::F32:
            return scaleF32Ref(work, amax);
        case BlockScale::E4M3:
            break;
    }
    return scaleE4M3Ref(work, amax);
}

/// The neighbour below |scaled|, or the one above with the probability of the distance from the one below.
std::uint8_t encodeStochasticRef(const BlockWork& work, float scaled, std::int64_t index) {
    const float magnitude = std::fabs(scaled);
    if (!(magnitude < kMaxE2M1)) return encodeE2M1(scaled);
    std::uint8_t code = 0;
    while (decodeE2M1(code + 1) <= magnitude) ++code;
    const float below = decodeE2M1(code);
    const float step = decodeE2M1(code + 1) - below;
    const std::uint64_t bits = mixBits(work.noise ^ static_cast<std::uint64_t>(index / 2)) >> (index % 2 * 32);
    const float uniform = static_cast<float>((bits & 0xFFFFFFFFU) >> 8) * 0x1p-24F;
    if (uniform * step < magnitude - below) ++code;
    return std::signbit(scaled) ? code | 0x8 : code;
}

std::uint8_t encodeRef(const BlockWork& work, float scaled, std::int64_t index) {
    if (work.cast.stochastic) return encodeStochasticRef(work, scaled, index);
    if (work.cast.type == Type::E2M1) return encodeE2M1(scaled);
    return encodeFp8(scaled, work.cast.type == Type::E4M3 ? Fp8Format::E4M3 : Fp8Format::E5M2);
}

void storeCodeRef(Type type, std::uint8_t* codes, std::int64_t index, std::uint8_t code) {
    if (type != Type::E2M1) {
        codes[index] = code;
        return;
    }
    std::uint8_t& pair = codes[index / 2];
    pair = static_cast<std::uint8_t>(index % 2 == 0 ? (pair & 0xF0) | code : (pair & 0x0F) | (code << 4));
}

void countRef(const BlockWork& work, const ScaleRef& scale, float x, std::uint8_t code, CastStats& stats) {
    ++stats.count;
    if (std::fabs(x * scale.encode) > work.typeMax && scale.decode != 0) ++stats.saturated;
    if (x == 0) ++stats.zeros;
    if (!std::isfinite(x)) {
        ++stats.nonFinite;
        return;
    }
    const float value = blockValue(work.cast.type, code);
    if (x != 0 && (value == 0 || scale.decode == 0)) ++stats.underflowed;
    const float dequantised = value * scale.decode * work.globalDecode;
    const double error = static_cast<double>(x - dequantised);
    stats.sqError += error * error;
    stats.sqSignal += static_cast<double>(x) * static_cast<double>(x);
}

struct BlockRef {
    std::int64_t row, rows, col, cols;  // within the rows of the call
};

void castBlockRef(const BlockWork& work, const BlockRef& block, const float* x, std::uint8_t* codes, void* scales,
                  bool counting, CastStats& stats) {
    float amax = 0;
    for (std::int64_t r = block.row; r < block.row + block.rows; ++r)
        for (std::int64_t c = block.col; c < block.col + block.cols; ++c) {
            const float magnitude = std::fabs(x[r * work.cols + c]);
            if (magnitude > amax) amax = magnitude;  // no comparison holds for NaN
        }
    stats.amax = std::max(stats.amax, amax);

    const ScaleRef scale = scaleRef(work, amax);
    const std::int64_t slot =
        (work.firstRow + block.row) / work.cast.blockRows * work.scaleCols + block.col / work.cast.blockCols;
    if (work.cast.scaleType == BlockScale::F32) {
        static_cast<float*>(scales)[slot] = scale.decode;
    } else {
        static_cast<std::uint8_t*>(scales)[slot] = scale.code;
    }
    for (std::int64_t r = block.row; r < block.row + block.rows; ++r)
        for (std::int64_t c = block.col; c < block.col + block.cols; ++c) {
            const float element = x[r * work.cols + c];
            const std::int64_t index = (work.firstRow + r) * work.cols + c;
            const std::uint8_t code = encodeRef(work, element * scale.encode, index);
            storeCodeRef(work.cast.type, codes, index, code);
            if (counting) countRef(work, scale, element, code, stats);
        }
}

void castBlocksRef(const BlockWork& work, const float* x, std::uint8_t* codes, void* scales, bool counting,
                   CastStats& stats) {
    const BlockCast& cast = work.cast;
    for (std::int64_t row = 0; row < work.rows; row += cast.blockRows)
        for (std::int64_t col = 0; col < work.cols; col += cast.blockCols) {
            const BlockRef block{row, std::min(cast.blockRows, work.rows - row), col,
                                 std::min(cast.blockCols, work.cols - col)};
            castBlockRef(work, block, x, codes, scales, counting, stats);
        }
}

}  // namespace

// ------------------------------------------------------------------------------------------------ shared

BlockWork blockWork(const BlockCast& cast, std::int64_t firstRow, std::int64_t rows, std::int64_t cols) {
    const bool fp4 = cast.type == Type::E2M1;
    ENGINE_CHECK(fp4 || cast.type == Type::E4M3 || cast.type == Type::E5M2, "only FP8 and FP4 have block scales");
    ENGINE_CHECK(fp4 == (cast.scaleType == BlockScale::E4M3), "E4M3 scales go with E2M1 elements");
    ENGINE_CHECK(fp4 || !cast.stochastic, "only E2M1 is rounded stochastically");
    ENGINE_CHECK(cast.blockRows > 0, "a block needs rows");
    ENGINE_CHECK(cast.blockCols == 1 || (cast.blockCols >= 16 && (cast.blockCols & (cast.blockCols - 1)) == 0),
                 "this width of a block has no kernel");
    ENGINE_CHECK(cast.amaxEpsilon >= 0 && std::isfinite(cast.amaxEpsilon), "an amax is finite and not negative");
    ENGINE_CHECK(cast.globalEncode > 0 && std::isfinite(cast.globalEncode), "a scale is finite and positive");
    ENGINE_CHECK(firstRow >= 0 && rows >= 0 && cols >= 0, "a size is not negative");
    ENGINE_CHECK(!fp4 || cols % 2 == 0, "two E2M1 codes share a byte of one row");
    return {.cast = cast,
            .firstRow = firstRow,
            .rows = rows,
            .cols = cols,
            .colShift = std::countr_zero(static_cast<std::uint64_t>(cast.blockCols)),
            .scaleCols = (cols + cast.blockCols - 1) / cast.blockCols,
            .typeMax = largestOf(cast.type),
            .inverseMax = 1.0F / largestOf(cast.type),
            .encodeFactor = cast.globalEncode * kInverseE2M1Max,
            .globalDecode = fp4 ? 1.0F / cast.globalEncode : 1.0F,
            .noise = mixBits(cast.noiseKey),
            .scaleTable = scaleValues(cast.scaleType)};
}

float blockValue(Type type, std::uint8_t code) {
    if (type == Type::E2M1) return decodeE2M1(code);
    return decodeFp8(code, type == Type::E4M3 ? Fp8Format::E4M3 : Fp8Format::E5M2);
}

float globalEncodeScale(float amax) {
    const float scale = std::min(fp8Limits(Fp8Format::E4M3).max * kMaxE2M1 / amax, FLT_MAX);
    return amax == 0 || scale == 0 ? 1.0F : scale;
}

}  // namespace engine::cpu

#if AMAXSCOPE_X86

// ------------------------------------------------------------------------------------------------ Avx2
AMAXSCOPE_BEGIN_AVX2
namespace engine::cpu::avx2 {
namespace {
#include "cpu/quantise_avx2.inl"

#include "cpu/block_lanes_avx2.inl"

#include "cpu/block_segment.inl"

#include "cpu/block_cast.inl"
}  // namespace
}  // namespace engine::cpu::avx2
AMAXSCOPE_END_ISA

// ------------------------------------------------------------------------------------------------ Avx512
AMAXSCOPE_BEGIN_AVX512
namespace engine::cpu::avx512 {
namespace {
#include "cpu/quantise_avx512.inl"

#include "cpu/block_lanes_avx512.inl"

#include "cpu/block_segment.inl"

#include "cpu/block_cast.inl"
}  // namespace
}  // namespace engine::cpu::avx512
AMAXSCOPE_END_ISA

#endif

// ------------------------------------------------------------------------------------------------ dispatch
namespace engine::cpu {

namespace {

void castWith(Isa isa, const BlockWork& work, const float* x, std::uint8_t* codes, void* scales, bool counting,
              CastStats& stats) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::castBlocks(work, x, codes, scales, counting, stats);
    if (isa >= Isa::Avx2) return avx2::castBlocks(work, x, codes, scales, counting, stats);
#endif
    castBlocksRef(work, x, codes, scales, counting, stats);
}

}  // namespace

void castBlocks(const BlockCast& cast, const float* x, std::int64_t firstRow, std::int64_t rows, std::int64_t cols,
                void* codes, void* scales, bool counting, CastStats& stats, Isa isa) {
    const BlockWork work = blockWork(cast, firstRow, rows, cols);
    ENGINE_CHECK(firstRow % cast.blockRows == 0, "a cast starts at a row of blocks");
    if (rows == 0 || cols == 0) return;
    castWith(isa, work, x, static_cast<std::uint8_t*>(codes), scales, counting, stats);
    const std::int64_t strips = (rows + cast.blockRows - 1) / cast.blockRows;
    noteScales(work, scales, firstRow / cast.blockRows * work.scaleCols, strips * work.scaleCols, stats);
}

}  // namespace engine::cpu
