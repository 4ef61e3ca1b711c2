// Scalar conversions between FP32/FP64 and FP8/BF16, on the bits alone: no rounding mode, table or compiler flag can
// change them. Every kernel that converts is tested against these.
#include "engine/formats.h"

#include <bit>
#include <limits>

namespace engine {

namespace {

constexpr std::uint8_t kNan8 = 0x7F;
constexpr std::uint16_t kNanBf16 = 0x7FFF;

/// Codes of the largest finite value and of what Propagate makes of anything above it.
constexpr int maxCode(Fp8Format format) {
    return format == Fp8Format::E4M3 ? 0x7E : 0x7B;
}
constexpr int overflowCode(Fp8Format format) {
    return format == Fp8Format::E4M3 ? 0x7F : 0x7C;
}

/// Rounds once, from the source's own bits: going through a narrower type would create false ties.
/// `bits` is the IEEE pattern with sourceMantissa explicit mantissa bits and sourceBias; std::uint64_t holds both.
std::uint8_t encodeBits(std::uint64_t bits, int sourceMantissa, int sourceBias, int sourceWidth, Fp8Format format,
                        Overflow overflow) {
    const Fp8Limits limits = fp8Limits(format);
    const std::uint64_t one = 1;
    const int sign = static_cast<int>(bits >> (sourceWidth - 1)) << 7;
    const std::uint64_t magnitude = bits & ((one << (sourceWidth - 1)) - 1);
    const std::uint64_t infinity = static_cast<std::uint64_t>(2 * sourceBias + 1) << sourceMantissa;
    if (magnitude > infinity) return kNan8;

    int code = 0;
    const int exponent = static_cast<int>(magnitude >> sourceMantissa) - sourceBias;
    const int smallest = 1 - limits.exponentBias;  // exponent of the smallest normal FP8 value
    if (magnitude == infinity) {
        code = overflowCode(format);
    } else if (exponent >= smallest - limits.mantissaBits - 1) {
        // Subnormal sources are far below this range, so the hidden bit is always there.
        const std::uint64_t significand = (one << sourceMantissa) | (magnitude & ((one << sourceMantissa) - 1));
        const bool subnormal = exponent < smallest;
        const int shift = sourceMantissa - limits.mantissaBits + (subnormal ? smallest - exponent : 0);
        const std::uint64_t rest = significand & ((one << shift) - 1);
        const std::uint64_t half = one << (shift - 1);
        int rounded = static_cast<int>(significand >> shift);
        if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
        // A carry out of the mantissa raises the exponent by itself: the two fields are neighbours.
        code = subnormal ? rounded : ((exponent - smallest) << limits.mantissaBits) + rounded;
    }
    if (code > maxCode(format)) code = overflow == Overflow::Saturate ? maxCode(format) : overflowCode(format);
    return static_cast<std::uint8_t>(sign | code);
}

}  // namespace

std::uint8_t encodeFp8(float value, Fp8Format format, Overflow overflow) {
    return encodeBits(std::bit_cast<std::uint32_t>(value), 23, 127, 32, format, overflow);
}

std::uint8_t encodeFp8(double value, Fp8Format format, Overflow overflow) {
    return encodeBits(std::bit_cast<std::uint64_t>(value), 52, 1023, 64, format, overflow);
}

float decodeFp8(std::uint8_t code, Fp8Format format) {
    const Fp8Limits limits = fp8Limits(format);
    const int magnitude = code & 0x7F;
    const int mantissa = magnitude & ((1 << limits.mantissaBits) - 1);
    const int exponent = magnitude >> limits.mantissaBits;
    float value = 0;
    if (magnitude > maxCode(format)) {
        const bool infinite = format == Fp8Format::E5M2 && magnitude == 0x7C;
        value = infinite ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    } else if (exponent == 0) {
        value = static_cast<float>(mantissa) * limits.minSubnormal;
    } else {
        const int bits = ((exponent - limits.exponentBias + 127) << 23) | (mantissa << (23 - limits.mantissaBits));
        value = std::bit_cast<float>(bits);
    }
    return (code & 0x80) != 0 ? -value : value;
}

std::uint16_t encodeBf16(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return kNanBf16;
    const std::uint32_t lastKeptBit = (bits >> 16) & 1U;
    return static_cast<std::uint16_t>((bits + 0x7FFFU + lastKeptBit) >> 16);
}

float decodeBf16(std::uint16_t code) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
}

}  // namespace engine
