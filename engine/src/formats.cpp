// Scalar conversions between FP32/FP64 and the narrow formats, on the bits alone: no rounding mode, table or compiler
// flag can change them. Every kernel that converts is tested against these.
#include "engine/formats.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace engine {

namespace {

constexpr std::uint16_t kNanBf16 = 0x7FFF;
constexpr std::uint8_t kNanE8M0 = 0xFF;
constexpr std::uint32_t kMaxE8M0 = 0xFE;

/// The bits of a format with sign, exponent and mantissa. Codes are magnitudes; the sign is added above them.
struct Layout {
    int mantissaBits;
    int exponentBias;
    int signShift;
    int maxCode;    // largest finite value
    int aboveCode;  // what anything larger becomes, infinity too
    int nanCode;    // what NaN becomes, whatever its sign
};

constexpr Layout kE4M3{3, 7, 7, 0x7E, 0x7F, 0x7F};
constexpr Layout kE5M2{2, 15, 7, 0x7B, 0x7C, 0x7F};
constexpr Layout kE2M1{1, 1, 3, 0x7, 0x7, 0x7};
constexpr Layout kF16{10, 15, 15, 0x7BFF, 0x7C00, 0x7FFF};

constexpr Layout fp8Layout(Fp8Format format, Overflow overflow) {
    Layout layout = format == Fp8Format::E4M3 ? kE4M3 : kE5M2;
    if (overflow == Overflow::Saturate) layout.aboveCode = layout.maxCode;
    return layout;
}

/// Rounds once, from the source's own bits: going through a narrower type would create false ties.
/// `bits` is the IEEE pattern with sourceMantissa explicit mantissa bits and sourceBias; std::uint64_t holds both.
int encodeBits(std::uint64_t bits, int sourceMantissa, int sourceBias, int sourceWidth, const Layout& layout) {
    const std::uint64_t one = 1;
    const int sign = static_cast<int>(bits >> (sourceWidth - 1)) << layout.signShift;
    const std::uint64_t magnitude = bits & ((one << (sourceWidth - 1)) - 1);
    const std::uint64_t infinity = static_cast<std::uint64_t>(2 * sourceBias + 1) << sourceMantissa;
    if (magnitude > infinity) return layout.nanCode;

    int code = 0;
    const int exponent = static_cast<int>(magnitude >> sourceMantissa) - sourceBias;
    const int smallest = 1 - layout.exponentBias;  // exponent of the target's smallest normal value
    if (magnitude == infinity) {
        code = layout.aboveCode;
    } else if (exponent >= smallest - layout.mantissaBits - 1) {
        // Subnormal sources are far below this range, so the hidden bit is always there.
        const std::uint64_t significand = (one << sourceMantissa) | (magnitude & ((one << sourceMantissa) - 1));
        const bool subnormal = exponent < smallest;
        const int shift = sourceMantissa - layout.mantissaBits + (subnormal ? smallest - exponent : 0);
        const std::uint64_t rest = significand & ((one << shift) - 1);
        const std::uint64_t half = one << (shift - 1);
        int rounded = static_cast<int>(significand >> shift);
        if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
        // A carry out of the mantissa raises the exponent by itself: the two fields are neighbours.
        code = subnormal ? rounded : ((exponent - smallest) << layout.mantissaBits) + rounded;
    }
    if (code > layout.maxCode) code = layout.aboveCode;
    return sign | code;
}

int encodeBits(float value, const Layout& layout) {
    return encodeBits(std::bit_cast<std::uint32_t>(value), 23, 127, 32, layout);
}

/// The value of a finite, unsigned code.
float decodeFinite(int magnitude, const Layout& layout) {
    const int mantissa = magnitude & ((1 << layout.mantissaBits) - 1);
    const int exponent = magnitude >> layout.mantissaBits;
    if (exponent != 0) {
        return std::bit_cast<float>(((exponent - layout.exponentBias + 127) << 23) |
                                    (mantissa << (23 - layout.mantissaBits)));
    }
    const float minSubnormal = std::bit_cast<float>((128 - layout.exponentBias - layout.mantissaBits) << 23);
    return static_cast<float>(mantissa) * minSubnormal;
}

float decodeBits(int code, const Layout& layout) {
    const int magnitude = code & ((1 << layout.signShift) - 1);
    float value = std::numeric_limits<float>::quiet_NaN();
    if (magnitude <= layout.maxCode) {
        value = decodeFinite(magnitude, layout);
    } else if (magnitude != layout.nanCode && magnitude == layout.aboveCode) {
        value = std::numeric_limits<float>::infinity();
    }
    return (code & (1 << layout.signShift)) != 0 ? -value : value;
}

}  // namespace

std::uint8_t encodeFp8(float value, Fp8Format format, Overflow overflow) {
    return static_cast<std::uint8_t>(encodeBits(value, fp8Layout(format, overflow)));
}

std::uint8_t encodeFp8(double value, Fp8Format format, Overflow overflow) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
    return static_cast<std::uint8_t>(encodeBits(bits, 52, 1023, 64, fp8Layout(format, overflow)));
}

float decodeFp8(std::uint8_t code, Fp8Format format) {
    return decodeBits(code, format == Fp8Format::E4M3 ? kE4M3 : kE5M2);
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

std::uint16_t encodeF16(float value) {
    return static_cast<std::uint16_t>(encodeBits(value, kF16));
}

float decodeF16(std::uint16_t code) {
    return decodeBits(code, kF16);
}

std::uint8_t encodeE2M1(float value) {
    return static_cast<std::uint8_t>(encodeBits(value, kE2M1));
}

float decodeE2M1(std::uint8_t code) {
    return decodeBits(code, kE2M1);
}

std::uint8_t encodeE8M0(float value) {
    const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) return kNanE8M0;
    std::uint32_t exponent = magnitude >> 23;
    // Of the subnormal floats, those up to 2^-127 (mantissa 0x400000) are at or below the smallest scale.
    const std::uint32_t exact = exponent == 0 ? 0x400000U : 0U;
    if ((magnitude & 0x7FFFFFU) > exact) ++exponent;
    return static_cast<std::uint8_t>(std::min(exponent, kMaxE8M0));
}

float decodeE8M0(std::uint8_t code) {
    if (code == kNanE8M0) return std::numeric_limits<float>::quiet_NaN();
    // 2^-127 is a subnormal float.
    return code == 0 ? 0x1p-127F : std::bit_cast<float>(static_cast<std::uint32_t>(code) << 23);
}

}  // namespace engine
