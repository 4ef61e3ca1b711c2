// Block-scaled codes back to the values that a GEMM multiplies.
//   Ref     element by element, with the scalar conversions of formats.h
//   Avx2    block_unpack.inl on 8 lanes; codes are put together bit by bit (block_decode_avx2.inl)
//   Avx512  the same on 16 lanes; codes are looked up within registers (block_decode_avx512.inl)
// The bits are the same at every level.
#include "cpu/block_cast.h"

#include "cpu/block_work.h"
#include "cpu/fp8_table_avx512.h"
#include "cpu/isa.h"
#include "cpu/quantise.h"

#include <bit>
#include <cmath>

namespace engine::cpu {

namespace {

constexpr std::uint16_t kBf16Nan = 0x7FC0;

// ------------------------------------------------------------------------------------------------ Ref

void storeRef(float value, bool negative, float& target) {
    target =
        std::isnan(value) ? decodeBf16(static_cast<std::uint16_t>(negative ? kBf16Nan | 0x8000 : kBf16Nan)) : value;
}
void storeRef(float value, bool negative, std::uint16_t& target) {
    target = encodeBf16(value);
    if (std::isnan(value)) target = static_cast<std::uint16_t>(negative ? kBf16Nan | 0x8000 : kBf16Nan);
}

template <typename Target>
void unpackBlocksRef(const BlockWork& work, const std::uint8_t* codes, const void* scales, Target* target) {
    for (std::int64_t r = 0; r < work.rows; ++r)
        for (std::int64_t c = 0; c < work.cols; ++c) {
            const std::int64_t row = work.firstRow + r;
            const std::int64_t slot = row / work.cast.blockRows * work.scaleCols + c / work.cast.blockCols;
            const float scale = work.scaleTable == nullptr
                                    ? static_cast<const float*>(scales)[slot]
                                    : work.scaleTable[static_cast<const std::uint8_t*>(scales)[slot]];
            const float value = blockValue(work.cast.type, codeAt(work.cast.type, codes, row * work.cols + c));
            storeRef(value * scale, std::signbit(value), target[r * work.cols + c]);
        }
}

}  // namespace

bool exactInBf16(const BlockCast& cast) {
    return cast.scaleType != BlockScale::F32 || cast.powerOfTwo;
}

}  // namespace engine::cpu

#if AMAXSCOPE_X86

// ------------------------------------------------------------------------------------------------ Avx2
AMAXSCOPE_BEGIN_AVX2
namespace engine::cpu::avx2 {
namespace {
#include "cpu/quantise_avx2.inl"

#include "cpu/block_lanes_avx2.inl"

#include "cpu/block_decode_avx2.inl"

#include "cpu/block_segment.inl"

#include "cpu/block_unpack.inl"
}  // namespace
}  // namespace engine::cpu::avx2
AMAXSCOPE_END_ISA

// ------------------------------------------------------------------------------------------------ Avx512
AMAXSCOPE_BEGIN_AVX512
namespace engine::cpu::avx512 {
namespace {
#include "cpu/quantise_avx512.inl"

#include "cpu/block_lanes_avx512.inl"

#include "cpu/block_decode_avx512.inl"

#include "cpu/block_segment.inl"

#include "cpu/block_unpack.inl"
}  // namespace
}  // namespace engine::cpu::avx512
AMAXSCOPE_END_ISA

#endif

// ------------------------------------------------------------------------------------------------ dispatch
namespace engine::cpu {

namespace {

template <typename Target>
void unpackBlocks(const BlockWork& work, const void* codes, const void* scales, Target* target, Isa isa) {
    const auto* bytes = static_cast<const std::uint8_t*>(codes);
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::unpackBlocks(work, bytes, scales, target);
    if (isa >= Isa::Avx2) return avx2::unpackBlocks(work, bytes, scales, target);
#endif
    unpackBlocksRef(work, bytes, scales, target);
}

}  // namespace

void unpackBlocksBf16(const BlockCast& cast, const void* codes, const void* scales, std::int64_t firstRow,
                      std::int64_t rows, std::int64_t cols, std::uint16_t* target, Isa isa) {
    ENGINE_CHECK(exactInBf16(cast), "products with these scales need FP32");
    unpackBlocks(blockWork(cast, firstRow, rows, cols), codes, scales, target, isa);
}

void unpackBlocksF32(const BlockCast& cast, const void* codes, const void* scales, std::int64_t firstRow,
                     std::int64_t rows, std::int64_t cols, float* target, Isa isa) {
    unpackBlocks(blockWork(cast, firstRow, rows, cols), codes, scales, target, isa);
}

}  // namespace engine::cpu
