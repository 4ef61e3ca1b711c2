// Between the blocking driver (gemm.cpp) and the instruction sets (gemm_avx2.cpp, gemm_avx512.cpp): what a set of
// packing functions and micro-kernels must offer.
//
// Packed operands consist of 4-byte units along k: one float, or two BF16 neighbours. A is packed in rows (units of
// one row side by side, rows `stride` bytes apart), B in panels of `panelColumns` columns (one unit of each column
// side by side, panels `stride` bytes apart). Whatever lies past the edge of the operand is packed as zero.
#pragma once

#include "cpu/kernels.h"

#include <cstddef>
#include <cstdint>

namespace engine::cpu {

inline constexpr int kMaxStripRows = 8;
inline constexpr std::int64_t kMaxKBlock = 512;
inline constexpr std::int64_t kPackedColumnStep = 64;  // packing writes this many columns of B at a time

/// What happens to a finished sum on its way to C.
struct GemmEpilogue {
    float alpha;
    bool accumulate;
    const float* bias;  // for the first column of the tile, or nullptr
};

/// `lines` rows of A or columns of B, `k` elements of each.
using PackFunction = void (*)(const std::byte* source, std::int64_t ld, std::int64_t lines, std::int64_t k,
                              std::byte* packed, std::int64_t stride);
/// One tile of C: as many rows as the function is made for, the first `columns` ≤ panelColumns columns.
using MicroFunction = void (*)(std::int64_t units, const std::byte* a, std::int64_t aStride, const std::byte* b,
                               float* c, std::int64_t ldc, std::int64_t columns, const GemmEpilogue& epilogue);

struct GemmKernels {
    int stripRows;
    int panelColumns;
    int elementsPerUnit;
    std::int64_t kBlock;                     // elements of k packed at a time, at most kMaxKBlock
    MicroFunction micro[kMaxStripRows + 1];  // by number of rows
    // By where k runs: 0 = k is contiguous in memory, 1 = k goes from line to line; then by Type − 1.
    PackFunction packA[2][4];
    PackFunction packB[2][4];
};

const GemmKernels& gemmKernelsAvx2();        // any types, as FP32
const GemmKernels& gemmKernelsAvx512();      // any types, as FP32
const GemmKernels& gemmKernelsAvx512Bf16();  // BF16 and FP8 only

/// All 256 values of an FP8 format.
const float* fp8Values(Type type);

}  // namespace engine::cpu
