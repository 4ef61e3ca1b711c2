// Element-wise kernels: sums, scaling, exponential.
//   Ref     plain loops and libm
//   Avx2    pointwise.inl compiled for 8 lanes, with its own branch-free exponential (exp.inl)
//   Avx512  the same for 16 lanes
#include "cpu/isa.h"
#include "cpu/kernels.h"

#include <cmath>

namespace engine::cpu {

namespace {

// ------------------------------------------------------------------------------------------------ Ref

void addToRef(float* y, const float* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) y[i] += x[i];
}

void scaleByRef(float* y, float factor, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) y[i] *= factor;
}

double sumOfSquaresRef(const float* x, std::int64_t n) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    return sum;
}

void expOfRef(const float* x, float* y, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i]);
}

}  // namespace
}  // namespace engine::cpu

#if AMAXSCOPE_X86

// ------------------------------------------------------------------------------------------------ Avx2
AMAXSCOPE_BEGIN_AVX2
namespace engine::cpu::avx2 {
namespace {
#include "cpu/exp.inl"
#include "cpu/pointwise.inl"
}  // namespace
}  // namespace engine::cpu::avx2
AMAXSCOPE_END_ISA

// ------------------------------------------------------------------------------------------------ Avx512
AMAXSCOPE_BEGIN_AVX512
namespace engine::cpu::avx512 {
namespace {
#include "cpu/exp.inl"
#include "cpu/pointwise.inl"
}  // namespace
}  // namespace engine::cpu::avx512
AMAXSCOPE_END_ISA

#endif

// ------------------------------------------------------------------------------------------------ dispatch
namespace engine::cpu {

void addTo(float* y, const float* x, std::int64_t n, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::addTo(y, x, n);
    if (isa >= Isa::Avx2) return avx2::addTo(y, x, n);
#endif
    addToRef(y, x, n);
}

void scaleBy(float* y, float factor, std::int64_t n, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::scaleBy(y, factor, n);
    if (isa >= Isa::Avx2) return avx2::scaleBy(y, factor, n);
#endif
    scaleByRef(y, factor, n);
}

double sumOfSquares(const float* x, std::int64_t n, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::sumOfSquares(x, n);
    if (isa >= Isa::Avx2) return avx2::sumOfSquares(x, n);
#endif
    return sumOfSquaresRef(x, n);
}

void expOf(const float* x, float* y, std::int64_t n, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::expOf(x, y, n);
    if (isa >= Isa::Avx2) return avx2::expOf(x, y, n);
#endif
    expOfRef(x, y, n);
}

}  // namespace engine::cpu
