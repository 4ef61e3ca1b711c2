// The narrow formats as one table, and their conversions by definition alone: values by ldexp over the fields of a
// code, codes by a search among all values. Shares no arithmetic with engine/src/formats.cpp.
#pragma once

#include "engine/formats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <vector>

namespace testing_support {

enum class Narrow { E4M3, E5M2, E2M1, E8M0, Bf16, F16 };

struct NumberFormat {
    Narrow id;
    const char* name;
    int codes;
    int signBit;  // 0: no sign
    int mantissaBits;
    int exponentBias;
    int maxCode;  // largest finite value
    int nanCode;  // what NaN is encoded to
    bool hasInfinity;
    bool saturates;
    std::uint16_t (*encode)(float);
    float (*decode)(std::uint16_t);
};

/// gtest prints parameters with it.
inline void PrintTo(const NumberFormat& format, std::ostream* out) {
    *out << format.name;
}

inline const std::array<NumberFormat, 6>& numberFormats() {
    using engine::Fp8Format;
    static constexpr auto narrow = [](std::uint16_t code) { return static_cast<std::uint8_t>(code); };
    static const std::array<NumberFormat, 6> formats = {{
        {Narrow::E4M3, "E4M3", 0x100, 0x80, 3, 7, 0x7E, 0x7F, false, true,
         [](float x) -> std::uint16_t { return engine::encodeFp8(x, Fp8Format::E4M3); },
         [](std::uint16_t code) { return engine::decodeFp8(narrow(code), Fp8Format::E4M3); }},
        {Narrow::E5M2, "E5M2", 0x100, 0x80, 2, 15, 0x7B, 0x7F, true, true,
         [](float x) -> std::uint16_t { return engine::encodeFp8(x, Fp8Format::E5M2); },
         [](std::uint16_t code) { return engine::decodeFp8(narrow(code), Fp8Format::E5M2); }},
        {Narrow::E2M1, "E2M1", 0x10, 0x8, 1, 1, 0x7, 0x7, false, true,
         [](float x) -> std::uint16_t { return engine::encodeE2M1(x); },
         [](std::uint16_t code) { return engine::decodeE2M1(narrow(code)); }},
        {Narrow::E8M0, "E8M0", 0x100, 0, 0, 127, 0xFE, 0xFF, false, true,
         [](float x) -> std::uint16_t { return engine::encodeE8M0(x); },
         [](std::uint16_t code) { return engine::decodeE8M0(narrow(code)); }},
        {Narrow::Bf16, "BF16", 0x10000, 0x8000, 7, 127, 0x7F7F, 0x7FFF, true, false, engine::encodeBf16,
         engine::decodeBf16},
        {Narrow::F16, "F16", 0x10000, 0x8000, 10, 15, 0x7BFF, 0x7FFF, true, false, engine::encodeF16,
         engine::decodeF16},
    }};
    return formats;
}

inline const NumberFormat& numberFormat(Narrow id) {
    return numberFormats()[static_cast<std::size_t>(id)];
}

/// (−1)^sign · 2^(exponent − bias) · 1.mantissa, or 0.mantissa with exponent 1 where the exponent's field is zero.
/// E8M0 is the exponent alone: it has neither zero nor subnormals.
inline double valueByDefinition(const NumberFormat& format, int code) {
    const int magnitude = format.signBit == 0 ? code : code % format.signBit;
    const double sign = magnitude == code ? 1.0 : -1.0;
    if (magnitude > format.maxCode) {
        const bool infinite = format.hasInfinity && magnitude == format.maxCode + 1;
        return infinite ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    }
    const int steps = 1 << format.mantissaBits;
    const int exponent = magnitude / steps;
    const double mantissa = static_cast<double>(magnitude % steps) / steps;
    const bool subnormal = exponent == 0 && format.signBit != 0;
    return sign * (subnormal ? std::ldexp(mantissa, 1 - format.exponentBias)
                             : std::ldexp(1.0 + mantissa, exponent - format.exponentBias));
}

/// The right code of any float: the nearest value, ties to the even code; for E8M0 the smallest value not below.
/// A format with overflow to infinity rounds as if its exponents went on, and calls the next value infinity.
class CodeByDefinition {
public:
    explicit CodeByDefinition(const NumberFormat& format) : m_format(format) {
        const int last = format.saturates ? format.maxCode : format.maxCode + 1;
        for (int code = 0; code < last; ++code) {
            const double value = valueByDefinition(format, code);
            const double next = code < format.maxCode ? valueByDefinition(format, code + 1)
                                                      : 2 * value - valueByDefinition(format, code - 1);
            const double middle = (value + next) / 2;  // exact: doubles have bits to spare
            const bool tieGoesUp = code % 2 != 0;
            m_upTo.push_back(format.signBit == 0 ? value : tieGoesUp ? std::nextafter(middle, 0.0) : middle);
        }
    }

    int operator()(float x) const {
        std::uint16_t code = 0;
        encodeAscending(&x, &code, 1);
        return code;
    }

    /// For n floats of ascending magnitude (NaN may follow them): one search, then steps.
    void encodeAscending(const float* x, std::uint16_t* codes, std::size_t n) const {
        const auto first = std::lower_bound(m_upTo.begin(), m_upTo.end(), std::fabs(static_cast<double>(x[0])));
        std::size_t code = static_cast<std::size_t>(first - m_upTo.begin());
        for (std::size_t i = 0; i < n; ++i) {
            const double magnitude = std::fabs(static_cast<double>(x[i]));
            while (code < m_upTo.size() && m_upTo[code] < magnitude) ++code;
            const std::size_t sign = std::signbit(x[i]) ? static_cast<std::size_t>(m_format.signBit) : 0;
            const std::size_t nan = static_cast<std::size_t>(m_format.nanCode);
            codes[i] = static_cast<std::uint16_t>(std::isnan(x[i]) ? nan : sign | code);
        }
    }

private:
    const NumberFormat& m_format;
    std::vector<double> m_upTo;  // [code]: the largest magnitude that has this code
};

}  // namespace testing_support
