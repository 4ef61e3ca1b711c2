// Element-wise kernels: GELU and its derivative, sums, scaling, exponential.
//   Ref     plain loops and libm
//   Avx2    pointwise.inl compiled for 8 lanes, with its own branch-free exponential (exp.inl)
//   Avx512  the same for 16 lanes
#include "cpu/isa.h"
#include "cpu/kernels.h"

#include <algorithm>
#include <cmath>

namespace engine::cpu {

namespace {

constexpr float kGeluA = 0.7978845608F;  // √(2/π)
constexpr float kGeluB = 0.044715F;
constexpr float kGeluFlat = 900.0F;  // beyond x² = 900 the slope is 0 or 1 and x² may be anything

// ------------------------------------------------------------------------------------------------ Ref

void geluRef(const float* x, float* y, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const float u = kGeluA * (x[i] + kGeluB * x[i] * x[i] * x[i]);
        y[i] = 0.5F * x[i] * (1.0F + std::tanh(u));
    }
}

void geluBackwardRef(const float* x, const float* dy, float* dx, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const float squared = std::min(x[i] * x[i], kGeluFlat);
        const float t = std::tanh(kGeluA * x[i] * (1.0F + kGeluB * squared));
        const float slope = kGeluA * (1.0F + 3.0F * kGeluB * squared);
        dx[i] = dy[i] * (0.5F * (1.0F + t) + 0.5F * x[i] * (1.0F - t * t) * slope);
    }
}

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

void gelu(const float* x, float* y, std::int64_t n, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::gelu(x, y, n);
    if (isa >= Isa::Avx2) return avx2::gelu(x, y, n);
#endif
    geluRef(x, y, n);
}

void geluBackward(const float* x, const float* dy, float* dx, std::int64_t n, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::geluBackward(x, dy, dx, n);
    if (isa >= Isa::Avx2) return avx2::geluBackward(x, dy, dx, n);
#endif
    geluBackwardRef(x, dy, dx, n);
}

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
