// AdamW with decoupled weight decay, one pass over weights, gradients and both moments.
//   Ref     plain loop
//   Avx2    adamw.inl compiled for 8 lanes
//   Avx512  the same for 16 lanes
#include "cpu/isa.h"
#include "cpu/kernels.h"

#include <cmath>

namespace engine::cpu {

namespace {

// ------------------------------------------------------------------------------------------------ Ref

void adamWRef(float* w, const float* g, float* m, float* v, std::int64_t n, const AdamWArgs& args) {
    for (std::int64_t i = 0; i < n; ++i) {
        const float gradient = g[i] * args.gradScale;
        m[i] = args.beta1 * m[i] + (1.0F - args.beta1) * gradient;
        v[i] = args.beta2 * v[i] + (1.0F - args.beta2) * gradient * gradient;
        const float update = m[i] * args.correction1 / (std::sqrt(v[i] * args.correction2) + args.epsilon);
        w[i] -= args.lr * (update + args.weightDecay * w[i]);
    }
}

}  // namespace
}  // namespace engine::cpu

#if AMAXSCOPE_X86

// ------------------------------------------------------------------------------------------------ Avx2
AMAXSCOPE_BEGIN_AVX2
namespace engine::cpu::avx2 {
namespace {
#include "cpu/adamw.inl"
}  // namespace
}  // namespace engine::cpu::avx2
AMAXSCOPE_END_ISA

// ------------------------------------------------------------------------------------------------ Avx512
AMAXSCOPE_BEGIN_AVX512
namespace engine::cpu::avx512 {
namespace {
#include "cpu/adamw.inl"
}  // namespace
}  // namespace engine::cpu::avx512
AMAXSCOPE_END_ISA

#endif

// ------------------------------------------------------------------------------------------------ dispatch
namespace engine::cpu {

void adamW(float* w, const float* g, float* m, float* v, std::int64_t n, const AdamWArgs& args, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::adamW(w, g, m, v, n, args);
    if (isa >= Isa::Avx2) return avx2::adamW(w, g, m, v, n, args);
#endif
    adamWRef(w, g, m, v, n, args);
}

}  // namespace engine::cpu
