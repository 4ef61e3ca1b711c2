// Activations of the MLP, plain and gated, and their derivatives.
//   Ref     plain loops and libm
//   Avx2    activation.inl compiled for 8 lanes, with its own branch-free exponential (exp.inl)
//   Avx512  the same for 16 lanes
#include "cpu/isa.h"
#include "cpu/kernels.h"

#include <algorithm>
#include <cmath>

namespace engine::cpu {

namespace {

constexpr float kGeluA = 0.7978845608F;  // √(2/π)
constexpr float kGeluB = 0.044715F;
constexpr float kGeluFlat = 30.0F;                   // beyond ±30 the slope is 0 or 1
[[maybe_unused]] constexpr float kSiluFlat = 88.0F;  // as above; e^−88 counts as 0

// ------------------------------------------------------------------------------------------------ Ref

float geluRef(float x) {
    const float from = std::max(x, -kGeluFlat);
    const float u = kGeluA * (from + kGeluB * from * from * from);
    return 0.5F * from * (1.0F + std::tanh(u));
}

float geluSlopeRef(float x) {
    const float from = std::clamp(x, -kGeluFlat, kGeluFlat);
    const float squared = from * from;
    const float t = std::tanh(kGeluA * from * (1.0F + kGeluB * squared));
    const float slope = kGeluA * (1.0F + 3.0F * kGeluB * squared);
    return 0.5F * (1.0F + t) + 0.5F * from * (1.0F - t * t) * slope;
}

double sigmoidRef(double x) {
    return 1.0 / (1.0 + std::exp(-x));
}

float siluRef(float x) {
    const double from = std::max(static_cast<double>(x), -1000.0);  // σ(−1000) is 0, −∞·0 would be NaN
    return static_cast<float>(from * sigmoidRef(from));
}

float siluSlopeRef(float x) {
    const double from = std::clamp(static_cast<double>(x), -1000.0, 1000.0);
    const double sigmoid = sigmoidRef(from);
    return static_cast<float>(sigmoid + from * sigmoid * sigmoidRef(-from));
}

float valueRef(Activation kind, float x) {
    switch (kind) {
        case Activation::Gelu:
        case Activation::GeGlu:
            return geluRef(x);
        case Activation::Relu:
        case Activation::ReGlu:
            return std::max(x, 0.0F);
        case Activation::Silu:
        case Activation::SwiGlu:
            return siluRef(x);
    }
    return x;
}

float slopeRef(Activation kind, float x) {
    switch (kind) {
        case Activation::Gelu:
        case Activation::GeGlu:
            return geluSlopeRef(x);
        case Activation::Relu:
        case Activation::ReGlu:
            return std::isnan(x) ? x : x > 0.0F ? 1.0F : 0.0F;
        case Activation::Silu:
        case Activation::SwiGlu:
            return siluSlopeRef(x);
    }
    return x;
}

void activateRef(Activation kind, const float* x, float* y, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = valueRef(kind, x[i]);
    if (!isGated(kind)) return;
    for (std::int64_t i = 0; i < n; ++i) y[i] *= x[n + i];
}

void activateBackwardRef(Activation kind, const float* x, const float* dy, float* dx, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) dx[i] = dy[i] * slopeRef(kind, x[i]);
    if (!isGated(kind)) return;
    for (std::int64_t i = 0; i < n; ++i) {
        dx[i] *= x[n + i];
        dx[n + i] = dy[i] * valueRef(kind, x[i]);
    }
}

}  // namespace
}  // namespace engine::cpu

#if AMAXSCOPE_X86

// ------------------------------------------------------------------------------------------------ Avx2
AMAXSCOPE_BEGIN_AVX2
namespace engine::cpu::avx2 {
namespace {
#include "cpu/exp.inl"

#include "cpu/activation.inl"
}  // namespace
}  // namespace engine::cpu::avx2
AMAXSCOPE_END_ISA

// ------------------------------------------------------------------------------------------------ Avx512
AMAXSCOPE_BEGIN_AVX512
namespace engine::cpu::avx512 {
namespace {
#include "cpu/exp.inl"

#include "cpu/activation.inl"
}  // namespace
}  // namespace engine::cpu::avx512
AMAXSCOPE_END_ISA

#endif

// ------------------------------------------------------------------------------------------------ dispatch
namespace engine::cpu {

void activate(Activation kind, const float* x, float* y, std::int64_t n, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::activate(kind, x, y, n);
    if (isa >= Isa::Avx2) return avx2::activate(kind, x, y, n);
#endif
    activateRef(kind, x, y, n);
}

void activateBackward(Activation kind, const float* x, const float* dy, float* dx, std::int64_t n, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::activateBackward(kind, x, dy, dx, n);
    if (isa >= Isa::Avx2) return avx2::activateBackward(kind, x, dy, dx, n);
#endif
    activateBackwardRef(kind, x, dy, dx, n);
}

}  // namespace engine::cpu
