// Rotary position embedding in place on packed rows. Element i of a head's first half and element i of its second half
// are one point that is turned by position · theta^(−2i/headDim); turning back is the gradient.
//   Ref     plain loops
//   Avx2    rotary.inl compiled for 8 lanes
//   Avx512  the same for 16 lanes
#include "cpu/isa.h"
#include "cpu/kernels.h"
#include "engine/error.h"

#include <cmath>

namespace engine::cpu {

namespace {

void checkHeadDim(std::int64_t headDim) {
    ENGINE_CHECK(headDim > 0 && headDim % 2 == 0, "a head that is rotated has two halves");
}

// ------------------------------------------------------------------------------------------------ Ref

void rotateHeadsRef(float* x, std::int64_t firstToken, std::int64_t lastToken, const RotaryArgs& args) {
    const std::int64_t half = args.headDim / 2;
    for (std::int64_t token = firstToken; token < lastToken; ++token) {
        const float* cosines = args.table + token % args.seqLen * args.headDim;
        const float* sines = cosines + half;
        for (std::int64_t head = 0; head < args.heads; ++head) {
            float* a = x + token * args.rowStride + head * args.headDim;
            float* b = a + half;
            for (std::int64_t i = 0; i < half; ++i) {
                const float first = a[i];
                const float second = b[i];
                const float sine = args.inverse ? -sines[i] : sines[i];
                a[i] = first * cosines[i] - second * sine;
                b[i] = second * cosines[i] + first * sine;
            }
        }
    }
}

}  // namespace
}  // namespace engine::cpu

#if AMAXSCOPE_X86

// ------------------------------------------------------------------------------------------------ Avx2
AMAXSCOPE_BEGIN_AVX2
namespace engine::cpu::avx2 {
namespace {
#include "cpu/rotary.inl"
}  // namespace
}  // namespace engine::cpu::avx2
AMAXSCOPE_END_ISA

// ------------------------------------------------------------------------------------------------ Avx512
AMAXSCOPE_BEGIN_AVX512
namespace engine::cpu::avx512 {
namespace {
#include "cpu/rotary.inl"
}  // namespace
}  // namespace engine::cpu::avx512
AMAXSCOPE_END_ISA

#endif

// ------------------------------------------------------------------------------------------------ dispatch
namespace engine::cpu {

void rotaryTable(float* cosSin, std::int64_t seqLen, std::int64_t headDim, double theta) {
    checkHeadDim(headDim);
    const std::int64_t half = headDim / 2;
    for (std::int64_t i = 0; i < half; ++i) {
        const double frequency = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(headDim));
        for (std::int64_t position = 0; position < seqLen; ++position) {
            const double angle = static_cast<double>(position) * frequency;
            cosSin[position * headDim + i] = static_cast<float>(std::cos(angle));
            cosSin[position * headDim + half + i] = static_cast<float>(std::sin(angle));
        }
    }
}

void rotateHeads(float* x, std::int64_t firstToken, std::int64_t lastToken, const RotaryArgs& args, Isa isa) {
    checkHeadDim(args.headDim);
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::rotateHeads(x, firstToken, lastToken, args);
    if (isa >= Isa::Avx2) return avx2::rotateHeads(x, firstToken, lastToken, args);
#endif
    rotateHeadsRef(x, firstToken, lastToken, args);
}

}  // namespace engine::cpu
