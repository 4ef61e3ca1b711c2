// Number formats: FP8 (E4M3, E5M2) and BF16. The scalar conversions here are the oracle for every kernel.
// Values as in NVIDIA's cuda_fp8.h / cuda_bf16.h: E4M3 is the "fn" kind (no infinity, one NaN code per sign).
#pragma once

#include <cstdint>

namespace engine {

enum class Fp8Format : std::uint8_t { E4M3 = 1, E5M2 = 2 };

/// What happens to |x| above the largest finite value: Saturate gives ±max (training), Propagate gives
/// NaN (E4M3) or ±infinity (E5M2).
enum class Overflow : std::uint8_t { Saturate = 1, Propagate = 2 };

struct Fp8Limits {
    int mantissaBits;  // explicit bits
    int exponentBias;
    float max;           // largest finite value
    float minNormal;     // smallest normal value
    float minSubnormal;  // smallest positive value; at half of it and below, values round to zero
};

constexpr Fp8Limits fp8Limits(Fp8Format format) {
    return format == Fp8Format::E4M3 ? Fp8Limits{3, 7, 448.0F, 0x1p-6F, 0x1p-9F}
                                     : Fp8Limits{2, 15, 57344.0F, 0x1p-14F, 0x1p-16F};
}

constexpr const char* formatName(Fp8Format format) {
    return format == Fp8Format::E4M3 ? "E4M3" : "E5M2";
}

/// Round to nearest, ties to even; NaN becomes 0x7F whatever its sign; −0 stays 0x80.
std::uint8_t encodeFp8(float value, Fp8Format format, Overflow overflow = Overflow::Saturate);
std::uint8_t encodeFp8(double value, Fp8Format format, Overflow overflow = Overflow::Saturate);
float decodeFp8(std::uint8_t code, Fp8Format format);

/// Round to nearest, ties to even; NaN becomes 0x7FFF, as __float2bfloat16 does.
std::uint16_t encodeBf16(float value);
float decodeBf16(std::uint16_t code);

}  // namespace engine
