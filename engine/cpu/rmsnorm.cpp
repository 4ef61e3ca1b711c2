// RMSNorm, one row at a time, forward and backward. All sums in FP64.
//   Ref     plain loops
//   Avx2    rmsnorm.inl compiled for 8 lanes
//   Avx512  the same for 16 lanes
#include "cpu/isa.h"
#include "cpu/kernels.h"

#include <cmath>

namespace engine::cpu {

namespace {

// ------------------------------------------------------------------------------------------------ Ref

void rmsNormRowRef(const float* x, const float* gamma, float* y, std::int64_t d, float epsilon, float& rstd) {
    double squares = 0;
    for (std::int64_t i = 0; i < d; ++i) squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    const double meanSquare = squares / static_cast<double>(d);
    rstd = static_cast<float>(1.0 / std::sqrt(meanSquare + static_cast<double>(epsilon)));
    for (std::int64_t i = 0; i < d; ++i) y[i] = x[i] * rstd * gamma[i];
}

void rmsNormRowBackwardRef(const float* dy, const float* x, const float* gamma, float rstd, float* dx, float* dgamma,
                           std::int64_t d) {
    double dot = 0;
    for (std::int64_t i = 0; i < d; ++i) {
        const float normalised = x[i] * rstd;
        dot += static_cast<double>(dy[i] * gamma[i]) * static_cast<double>(normalised);
        dgamma[i] += dy[i] * normalised;
    }
    const float meanOfDot = static_cast<float>(dot / static_cast<double>(d));
    for (std::int64_t i = 0; i < d; ++i) dx[i] += rstd * (dy[i] * gamma[i] - x[i] * rstd * meanOfDot);
}

}  // namespace
}  // namespace engine::cpu

#if AMAXSCOPE_X86

// ------------------------------------------------------------------------------------------------ Avx2
AMAXSCOPE_BEGIN_AVX2
namespace engine::cpu::avx2 {
namespace {
#include "cpu/rmsnorm.inl"
}  // namespace
}  // namespace engine::cpu::avx2
AMAXSCOPE_END_ISA

// ------------------------------------------------------------------------------------------------ Avx512
AMAXSCOPE_BEGIN_AVX512
namespace engine::cpu::avx512 {
namespace {
#include "cpu/rmsnorm.inl"
}  // namespace
}  // namespace engine::cpu::avx512
AMAXSCOPE_END_ISA

#endif

// ------------------------------------------------------------------------------------------------ dispatch
namespace engine::cpu {

void rmsNormRow(const float* x, const float* gamma, float* y, std::int64_t d, float epsilon, float& rstd, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::rmsNormRow(x, gamma, y, d, epsilon, rstd);
    if (isa >= Isa::Avx2) return avx2::rmsNormRow(x, gamma, y, d, epsilon, rstd);
#endif
    rmsNormRowRef(x, gamma, y, d, epsilon, rstd);
}

void rmsNormRowBackward(const float* dy, const float* x, const float* gamma, float rstd, float* dx, float* dgamma,
                        std::int64_t d, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::rmsNormRowBackward(dy, x, gamma, rstd, dx, dgamma, d);
    if (isa >= Isa::Avx2) return avx2::rmsNormRowBackward(dy, x, gamma, rstd, dx, dgamma, d);
#endif
    rmsNormRowBackwardRef(dy, x, gamma, rstd, dx, dgamma, d);
}

}  // namespace engine::cpu
