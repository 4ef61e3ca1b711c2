// Bit patterns of the element formats, as the vector roundings of quantise_avx2.inl and quantise_avx512.inl need them.
#pragma once

#include "engine/formats.h"

#include <bit>

namespace engine::cpu {

/// Mirrors fp8Limits().
template <Fp8Format format>
struct CastBits {
    static constexpr int kMantissa = fp8Limits(format).mantissaBits;
    static constexpr float kMax = fp8Limits(format).max;
    static constexpr int kMaxBits = std::bit_cast<int>(fp8Limits(format).max);
    static constexpr int kMinNormalBits = std::bit_cast<int>(fp8Limits(format).minNormal);
    static constexpr int kSignShift = 24;  // from the sign of a float to the sign of a code
    static constexpr int kSign = 0x80;
    static constexpr int kNan = 0x7F;
};

struct E2M1Bits {
    static constexpr int kMantissa = 1;
    static constexpr float kMax = kMaxE2M1;
    static constexpr int kMaxBits = std::bit_cast<int>(kMaxE2M1);
    static constexpr int kMinNormalBits = std::bit_cast<int>(1.0F);
    static constexpr int kSignShift = 28;
    static constexpr int kSign = 0x8;
    static constexpr int kNan = 0x7;
};

}  // namespace engine::cpu
