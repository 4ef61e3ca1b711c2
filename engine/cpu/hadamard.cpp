// The 16-point Hadamard transform along the rows of a matrix, which spreads outliers before a cast to FP4.
//   Ref     one column after the other
//   Avx2    hadamard.inl on 8 columns at a time
//   Avx512  the same on 16
// Additions have one order, so the bits are the same at every level.
#include "cpu/block_cast.h"
#include "cpu/isa.h"
#include "cpu/quantise.h"

namespace engine::cpu {

namespace {

constexpr float kHadamardNorm = 0.25F;  // 1/√16

// ------------------------------------------------------------------------------------------------ Ref

void hadamard16RowsRef(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
    for (std::int64_t row = 0; row < rows; row += kHadamardSize)
        for (std::int64_t col = 0; col < cols; ++col) {
            const std::int64_t place = row * cols + col;
            float v[kHadamardSize];
            for (int i = 0; i < kHadamardSize; ++i) v[i] = kHadamardSigns[i] * x[place + i * cols];
            for (int half = 1; half < kHadamardSize; half *= 2)
                for (int i = 0; i < kHadamardSize; ++i) {
                    if ((i & half) != 0) continue;
                    const float first = v[i];
                    const float second = v[i + half];
                    v[i] = first + second;
                    v[i + half] = first - second;
                }
            for (int i = 0; i < kHadamardSize; ++i) y[place + i * cols] = v[i] * kHadamardNorm;
        }
}

}  // namespace
}  // namespace engine::cpu

#if AMAXSCOPE_X86

// ------------------------------------------------------------------------------------------------ Avx2
AMAXSCOPE_BEGIN_AVX2
namespace engine::cpu::avx2 {
namespace {
#include "cpu/quantise_avx2.inl"

#include "cpu/block_lanes_avx2.inl"

#include "cpu/hadamard.inl"
}  // namespace
}  // namespace engine::cpu::avx2
AMAXSCOPE_END_ISA

// ------------------------------------------------------------------------------------------------ Avx512
AMAXSCOPE_BEGIN_AVX512
namespace engine::cpu::avx512 {
namespace {
#include "cpu/quantise_avx512.inl"

#include "cpu/block_lanes_avx512.inl"

#include "cpu/hadamard.inl"
}  // namespace
}  // namespace engine::cpu::avx512
AMAXSCOPE_END_ISA

#endif

// ------------------------------------------------------------------------------------------------ dispatch
namespace engine::cpu {

void hadamard16Rows(const float* x, float* y, std::int64_t rows, std::int64_t cols, Isa isa) {
    ENGINE_CHECK(rows % kHadamardSize == 0, "the transform takes 16 rows at a time");
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::hadamard16Rows(x, y, rows, cols);
    if (isa >= Isa::Avx2) return avx2::hadamard16Rows(x, y, rows, cols);
#endif
    hadamard16RowsRef(x, y, rows, cols);
}

}  // namespace engine::cpu
