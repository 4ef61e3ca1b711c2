// LayerNorm, one row at a time, forward and backward.
//   Ref     plain loops, sums in FP64
//   Avx2    layernorm.inl compiled for 8 lanes, FP32 partial sums per lane
//   Avx512  the same for 16 lanes
#include "cpu/isa.h"
#include "cpu/kernels.h"

#include <cmath>

namespace engine::cpu {

namespace {

// ------------------------------------------------------------------------------------------------ Ref

void layerNormRowRef(const float* x, const float* gamma, const float* beta, float* y, std::int64_t d, float epsilon,
                     float& mean, float& rstd) {
    double sum = 0;
    for (std::int64_t i = 0; i < d; ++i) sum += static_cast<double>(x[i]);
    mean = static_cast<float>(sum / static_cast<double>(d));
    double squares = 0;
    for (std::int64_t i = 0; i < d; ++i) {
        const double centred = static_cast<double>(x[i] - mean);
        squares += centred * centred;
    }
    const double variance = squares / static_cast<double>(d);
    rstd = static_cast<float>(1.0 / std::sqrt(variance + static_cast<double>(epsilon)));
    for (std::int64_t i = 0; i < d; ++i) y[i] = (x[i] - mean) * rstd * gamma[i];
    if (beta == nullptr) return;
    for (std::int64_t i = 0; i < d; ++i) y[i] += beta[i];
}

void layerNormRowBackwardRef(const float* dy, const float* x, const float* gamma, float mean, float rstd, float* dx,
                             float* dgamma, float* dbeta, std::int64_t d) {
    double sum = 0;
    double dot = 0;
    for (std::int64_t i = 0; i < d; ++i) {
        const float normalised = (x[i] - mean) * rstd;
        sum += static_cast<double>(dy[i] * gamma[i]);
        dot += static_cast<double>(dy[i] * gamma[i]) * static_cast<double>(normalised);
        dgamma[i] += dy[i] * normalised;
        if (dbeta != nullptr) dbeta[i] += dy[i];
    }
    const float meanOfSum = static_cast<float>(sum / static_cast<double>(d));
    const float meanOfDot = static_cast<float>(dot / static_cast<double>(d));
    for (std::int64_t i = 0; i < d; ++i) {
        const float normalised = (x[i] - mean) * rstd;
        dx[i] += rstd * (dy[i] * gamma[i] - meanOfSum - normalised * meanOfDot);
    }
}

}  // namespace
}  // namespace engine::cpu

#if AMAXSCOPE_X86

// ------------------------------------------------------------------------------------------------ Avx2
AMAXSCOPE_BEGIN_AVX2
namespace engine::cpu::avx2 {
namespace {
#include "cpu/layernorm.inl"
}  // namespace
}  // namespace engine::cpu::avx2
AMAXSCOPE_END_ISA

// ------------------------------------------------------------------------------------------------ Avx512
AMAXSCOPE_BEGIN_AVX512
namespace engine::cpu::avx512 {
namespace {
#include "cpu/layernorm.inl"
}  // namespace
}  // namespace engine::cpu::avx512
AMAXSCOPE_END_ISA

#endif

// ------------------------------------------------------------------------------------------------ dispatch
namespace engine::cpu {

void layerNormRow(const float* x, const float* gamma, const float* beta, float* y, std::int64_t d, float epsilon,
                  float& mean, float& rstd, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::layerNormRow(x, gamma, beta, y, d, epsilon, mean, rstd);
    if (isa >= Isa::Avx2) return avx2::layerNormRow(x, gamma, beta, y, d, epsilon, mean, rstd);
#endif
    layerNormRowRef(x, gamma, beta, y, d, epsilon, mean, rstd);
}

void layerNormRowBackward(const float* dy, const float* x, const float* gamma, float mean, float rstd, float* dx,
                          float* dgamma, float* dbeta, std::int64_t d, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::layerNormRowBackward(dy, x, gamma, mean, rstd, dx, dgamma, dbeta, d);
    if (isa >= Isa::Avx2) return avx2::layerNormRowBackward(dy, x, gamma, mean, rstd, dx, dgamma, dbeta, d);
#endif
    layerNormRowBackwardRef(dy, x, gamma, mean, rstd, dx, dgamma, dbeta, d);
}

}  // namespace engine::cpu
