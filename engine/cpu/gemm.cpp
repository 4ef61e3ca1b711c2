// Matrix products: the reference, the blocking driver that the vector versions share, and the dispatch list.
//   Ref         three loops over floats
//   Avx2        6×16 tiles, everything unpacked to FP32 while packing
//   Avx512      8×32 tiles, everything unpacked to FP32 while packing
//   Avx512Bf16  8×32 tiles; BF16 and FP8 multiply two by two as BF16 (vdpbf16ps), FP8 unpacked while packing
#include "cpu/gemm_kernels.h"
#include "cpu/isa.h"
#include "cpu/scratch.h"
#include "cpu/thread_pool.h"

#include <algorithm>
#include <array>
#include <vector>

namespace engine::cpu {

namespace {

constexpr std::int64_t kRowBlock = 240;      // of A: with kBlock, half of the second-level cache
constexpr std::int64_t kColumnBlock = 1024;  // of B: two MiB with the deepest block of k
constexpr std::int64_t kMinWork = 1 << 18;   // multiplications below which waking the pool costs more than it saves

constexpr std::int64_t ceilDiv(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}
constexpr std::int64_t roundUp(std::int64_t a, std::int64_t b) {
    return ceilDiv(a, b) * b;
}

const std::byte* at(const void* data, Type type, std::int64_t index) {
    return static_cast<const std::byte*>(data) + index * bytesOf(type);
}

// ---------------------------------------------------------------- Ref

float element(const void* data, Type type, std::int64_t index) {
    switch (type) {
        case Type::F32:
            return static_cast<const float*>(data)[index];
        case Type::Bf16:
            return decodeBf16(static_cast<const std::uint16_t*>(data)[index]);
        case Type::E4M3:
        case Type::E5M2:
        case Type::E2M1:  // never here: unpacked before
            break;
    }
    return fp8Values(type)[static_cast<const std::uint8_t*>(data)[index]];
}

void gemmRef(const GemmArgs& args) {
    std::vector<float> b(static_cast<std::size_t>(args.k * args.n));
    for (std::int64_t p = 0; p < args.k; ++p)
        for (std::int64_t j = 0; j < args.n; ++j)
            b[static_cast<std::size_t>(p * args.n + j)] =
                element(args.b, args.bType, args.bTransposed ? j * args.ldb + p : p * args.ldb + j);

    std::vector<float> sums(static_cast<std::size_t>(args.n));
    for (std::int64_t i = 0; i < args.m; ++i) {
        std::fill(sums.begin(), sums.end(), 0.0F);
        for (std::int64_t p = 0; p < args.k; ++p) {
            const float a = element(args.a, args.aType, args.aTransposed ? p * args.lda + i : i * args.lda + p);
            const float* row = b.data() + p * args.n;
            for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += a * row[j];
        }
        float* c = args.c + i * args.ldc;
        for (std::size_t j = 0; j < sums.size(); ++j) {
            float value = args.alpha * sums[j];
            if (args.accumulate) value += c[j];
            if (args.bias != nullptr) value += args.bias[j];
            c[j] = value;
        }
    }
}

// ---------------------------------------------------------------- dispatch list

/// nullptr: Ref.
const GemmKernels* kernelsFor(Isa isa, Type aType, Type bType) {
#if AMAXSCOPE_X86
    const bool bf16 = aType != Type::F32 && bType != Type::F32;
    if (isa >= Isa::Avx512Bf16 && bf16) return &gemmKernelsAvx512Bf16();
    if (isa >= Isa::Avx512) return &gemmKernelsAvx512();
    if (isa >= Isa::Avx2) return &gemmKernelsAvx2();
#else
    (void)isa, (void)aType, (void)bType;
#endif
    return nullptr;
}

// ---------------------------------------------------------------- blocking driver

/// One packed block of A times one packed block of B. Strips of nearly equal height, so that none is very thin.
void multiplyBlock(const GemmKernels& kernels, std::int64_t rows, std::int64_t columns, std::int64_t units,
                   const std::byte* a, std::int64_t aStride, const std::byte* b, std::int64_t bStride, float* c,
                   std::int64_t ldc, const GemmEpilogue& epilogue) {
    const std::int64_t strips = ceilDiv(rows, kernels.stripRows);
    for (std::int64_t j = 0; j < columns; j += kernels.panelColumns, b += bStride) {
        GemmEpilogue tile = epilogue;
        if (tile.bias != nullptr) tile.bias += j;
        const std::int64_t width = std::min<std::int64_t>(kernels.panelColumns, columns - j);
        for (std::int64_t s = 0; s < strips; ++s) {
            const std::int64_t first = rows * s / strips;
            const std::int64_t last = rows * (s + 1) / strips;
            kernels.micro[last - first](units, a + first * aStride, aStride, b, c + first * ldc + j, ldc, width, tile);
        }
    }
}

void gemmBlocked(const GemmArgs& args, const GemmKernels& kernels) {
    const PackFunction packA = kernels.packA[args.aTransposed ? 1 : 0][static_cast<int>(args.aType) - 1];
    const PackFunction packB = kernels.packB[args.bTransposed ? 0 : 1][static_cast<int>(args.bType) - 1];
    // The blocks of k depend on k alone: the order of the sum must not follow from how C was split.
    const std::int64_t kStep = roundUp(ceilDiv(args.k, ceilDiv(args.k, kernels.kBlock)), 64);
    const std::int64_t maxUnits = ceilDiv(kStep, kernels.elementsPerUnit);
    const std::int64_t aStride = maxUnits * 4 + 64;  // the extra line keeps rows off each other's cache sets
    // The size fits every set of kernels, so that switching between them allocates nothing.
    std::byte* packedA = threadScratch(Scratch::GemmA, static_cast<std::size_t>(kRowBlock * (kMaxKBlock * 4 + 64)));
    std::byte* packedB = threadScratch(Scratch::GemmB, static_cast<std::size_t>(kColumnBlock * kMaxKBlock * 4));

    for (std::int64_t j = 0; j < args.n; j += kColumnBlock) {
        const std::int64_t columns = std::min(kColumnBlock, args.n - j);
        for (std::int64_t p = 0; p < args.k; p += kStep) {
            const std::int64_t depth = std::min(kStep, args.k - p);
            const std::int64_t units = ceilDiv(depth, kernels.elementsPerUnit);
            const std::int64_t bStride = units * 4 * kernels.panelColumns;
            packB(at(args.b, args.bType, args.bTransposed ? j * args.ldb + p : p * args.ldb + j), args.ldb, columns,
                  depth, packedB, bStride);
            const bool lastDepth = p + depth == args.k;
            const GemmEpilogue epilogue{args.alpha, args.accumulate || p > 0,
                                        lastDepth && args.bias != nullptr ? args.bias + j : nullptr};
            for (std::int64_t i = 0; i < args.m; i += kRowBlock) {
                const std::int64_t rows = std::min(kRowBlock, args.m - i);
                packA(at(args.a, args.aType, args.aTransposed ? p * args.lda + i : i * args.lda + p), args.lda, rows,
                      depth, packedA, aStride);
                multiplyBlock(kernels, rows, columns, units, packedA, aStride, packedB, bStride,
                              args.c + i * args.ldc + j, args.ldc, epilogue);
            }
        }
    }
}

// ---------------------------------------------------------------- splitting C

struct Grid {
    std::int64_t rows, columns;          // parts
    std::int64_t rowUnits, columnUnits;  // tiles to share out
};

/// The grid of parts whose largest part is cheapest: its tiles plus its packing, which the parts of one row or column
/// of the grid repeat.
Grid chooseGrid(const GemmArgs& args, int threads, std::int64_t stripRows, std::int64_t panelColumns) {
    constexpr std::int64_t kPackCost = 8;  // an element packed costs about as much as this many multiplied
    Grid best{1, 1, ceilDiv(args.m, stripRows), ceilDiv(args.n, panelColumns)};
    std::int64_t bestCost = -1;
    for (std::int64_t rows = 1; rows <= threads; ++rows) {
        const std::int64_t columns = threads / rows;
        const std::int64_t m = ceilDiv(best.rowUnits, rows) * stripRows;
        const std::int64_t n = ceilDiv(best.columnUnits, columns) * panelColumns;
        const std::int64_t cost = m * n + kPackCost * (m + n);
        if (bestCost >= 0 && cost >= bestCost) continue;
        bestCost = cost;
        best.rows = rows;
        best.columns = columns;
    }
    return best;
}

/// The arguments for the part of C that a chunk computes; false when there is nothing for it.
bool takePart(const Grid& grid, int chunk, std::int64_t stripRows, std::int64_t panelColumns, GemmArgs& args) {
    if (chunk >= grid.rows * grid.columns) return false;
    const std::int64_t row = chunk / grid.columns;
    const std::int64_t column = chunk % grid.columns;
    const std::int64_t i0 = grid.rowUnits * row / grid.rows * stripRows;
    const std::int64_t i1 = std::min(args.m, grid.rowUnits * (row + 1) / grid.rows * stripRows);
    const std::int64_t j0 = grid.columnUnits * column / grid.columns * panelColumns;
    const std::int64_t j1 = std::min(args.n, grid.columnUnits * (column + 1) / grid.columns * panelColumns);
    if (i1 <= i0 || j1 <= j0) return false;
    args.m = i1 - i0;
    args.n = j1 - j0;
    args.a = at(args.a, args.aType, args.aTransposed ? i0 : i0 * args.lda);
    args.b = at(args.b, args.bType, args.bTransposed ? j0 * args.ldb : j0);
    args.c += i0 * args.ldc + j0;
    if (args.bias != nullptr) args.bias += j0;
    return true;
}

}  // namespace

const float* fp8Values(Type type) {
    using Values = std::array<float, 256>;
    const auto make = [](Fp8Format format) {
        Values values{};
        for (std::size_t code = 0; code < values.size(); ++code)
            values[code] = decodeFp8(static_cast<std::uint8_t>(code), format);
        return values;
    };
    static const Values e4m3 = make(Fp8Format::E4M3);
    static const Values e5m2 = make(Fp8Format::E5M2);
    return type == Type::E4M3 ? e4m3.data() : e5m2.data();
}

void gemmSerial(const GemmArgs& args, Isa isa) {
    const GemmKernels* kernels = kernelsFor(isa, args.aType, args.bType);
    if (kernels == nullptr)
        gemmRef(args);
    else
        gemmBlocked(args, *kernels);
}

void gemm(ThreadPool& pool, const GemmArgs& args, Isa isa) {
    if (pool.threads() == 1 || args.m * args.n * args.k < kMinWork) {
        gemmSerial(args, isa);
        return;
    }
    const GemmKernels* kernels = kernelsFor(isa, args.aType, args.bType);
    const std::int64_t stripRows = kernels == nullptr ? 1 : kernels->stripRows;
    const std::int64_t panelColumns = kernels == nullptr ? 16 : kernels->panelColumns;
    const Grid grid = chooseGrid(args, pool.threads(), stripRows, panelColumns);
    pool.run([&](int chunk) {
        GemmArgs part = args;
        if (takePart(grid, chunk, stripRows, panelColumns, part)) gemmSerial(part, isa);
    });
}

}  // namespace engine::cpu
