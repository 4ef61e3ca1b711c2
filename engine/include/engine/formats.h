// Number formats: FP8 (E4M3, E5M2), FP4 (E2M1), the block scale E8M0, BF16 and IEEE half. The scalar conversions here
// are the oracle for every kernel. Values as in NVIDIA's cuda_fp8.h, cuda_fp4.h, cuda_bf16.h and cuda_fp16.h: E4M3 is
// the "fn" kind (no infinity, one NaN code per sign).
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

/// IEEE binary16. Round to nearest, ties to even; above 65504 + half a step becomes ±infinity; NaN becomes 0x7FFF, as
/// __float2half_rn does. Decoding keeps the sign of a NaN, not its payload.
std::uint16_t encodeF16(float value);
float decodeF16(std::uint16_t code);

inline constexpr float kMaxE2M1 = 6.0F;

/// FP4: codes 0…15, bit 3 the sign, magnitudes 0, 0.5, 1, 1.5, 2, 3, 4, 6. Round to nearest, ties to the even code;
/// everything above 6 becomes ±6. There is no NaN code: NaN becomes 0x7 (+6) whatever its sign, as
/// __nv_cvt_float_to_fp4 does. −0 stays 0x8. Decoding looks at the low four bits alone.
std::uint8_t encodeE2M1(float value);
float decodeE2M1(std::uint8_t code);

/// Block scale of MXFP8: code e stands for 2^(e−127), 255 for NaN; there is no zero and no sign. |value| is rounded up
/// to the next power of two: zero and everything up to 2^−127 becomes 0, everything above 2^127 (infinity too) 254, NaN
/// 255. This is Transformer Engine's rule for its scales, and on all 2^32 floats it is also
/// __nv_cvt_float_to_e8m0(…, __NV_SATFINITE, cudaRoundPosInf) of cuda_fp8.h: the two do not differ.
std::uint8_t encodeE8M0(float value);
float decodeE8M0(std::uint8_t code);

}  // namespace engine
