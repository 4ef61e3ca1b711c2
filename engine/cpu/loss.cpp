// Softmax cross-entropy of one row, with its gradient in place.
//   Ref     plain loops and libm in FP64
//   Avx2    loss.inl compiled for 8 lanes, with the exponential of exp.inl
//   Avx512  the same for 16 lanes
#include "cpu/isa.h"
#include "cpu/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace engine::cpu {

namespace {

[[maybe_unused]] constexpr std::int64_t kBlock = 1024;

// ------------------------------------------------------------------------------------------------ Ref

double crossEntropyRowRef(float* logits, std::int64_t vocab, int target, float gradScale) {
    const double targetLogit = static_cast<double>(logits[target]);
    const double largest = static_cast<double>(*std::max_element(logits, logits + vocab));
    double sum = 0;
    for (std::int64_t i = 0; i < vocab; ++i) sum += std::exp(static_cast<double>(logits[i]) - largest);
    if (gradScale != 0.0F) {
        for (std::int64_t i = 0; i < vocab; ++i) {
            const double probability = std::exp(static_cast<double>(logits[i]) - largest) / sum;
            const double oneHot = i == target ? 1.0 : 0.0;
            logits[i] = static_cast<float>((probability - oneHot) * static_cast<double>(gradScale));
        }
    }
    return std::log(sum) + (largest - targetLogit);
}

}  // namespace
}  // namespace engine::cpu

#if AMAXSCOPE_X86

// ------------------------------------------------------------------------------------------------ Avx2
AMAXSCOPE_BEGIN_AVX2
namespace engine::cpu::avx2 {
namespace {
#include "cpu/exp.inl"
#include "cpu/loss.inl"
}  // namespace
}  // namespace engine::cpu::avx2
AMAXSCOPE_END_ISA

// ------------------------------------------------------------------------------------------------ Avx512
AMAXSCOPE_BEGIN_AVX512
namespace engine::cpu::avx512 {
namespace {
#include "cpu/exp.inl"
#include "cpu/loss.inl"
}  // namespace
}  // namespace engine::cpu::avx512
AMAXSCOPE_END_ISA

#endif

// ------------------------------------------------------------------------------------------------ dispatch
namespace engine::cpu {

double crossEntropyRow(float* logits, std::int64_t vocab, int target, float gradScale, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::crossEntropyRow(logits, vocab, target, gradScale);
    if (isa >= Isa::Avx2) return avx2::crossEntropyRow(logits, vocab, target, gradScale);
#endif
    return crossEntropyRowRef(logits, vocab, target, gradScale);
}

}  // namespace engine::cpu
