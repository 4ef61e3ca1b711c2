// Fixed sequences of floats that reach every rounding decision of a conversion: some 400,000 for FP8, FP4, E8M0 and
// BF16, and some 600,000 more for half precision.
#pragma once

#include "engine/formats.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace testing_support {

/// `value` moved by `ulps` patterns, with both signs.
inline void addNeighbours(std::vector<float>& sample, float value) {
    const std::int64_t bits = std::bit_cast<std::uint32_t>(value);
    for (std::int64_t ulps = -2; ulps <= 2; ++ulps) {
        if (bits + ulps < 0) continue;
        const float moved = std::bit_cast<float>(static_cast<std::uint32_t>(bits + ulps));
        sample.push_back(moved);
        sample.push_back(-moved);
    }
}

/// Every FP8 value of both formats and every midpoint between neighbours, ±0, ±1, ±2 ulp; every upper half of a float
/// with six lower halves, which holds all specials: ±0, subnormals, infinities and NaNs of both signs.
inline std::vector<float> denseSample() {
    std::vector<float> sample;
    for (const engine::Fp8Format format : {engine::Fp8Format::E4M3, engine::Fp8Format::E5M2}) {
        const int codes = format == engine::Fp8Format::E4M3 ? 0x7F : 0x7C;
        for (int code = 0; code < codes; ++code) {
            const float value = engine::decodeFp8(static_cast<std::uint8_t>(code), format);
            const bool last = code + 1 == codes;
            const float step = last ? value - engine::decodeFp8(static_cast<std::uint8_t>(code - 1), format)
                                    : engine::decodeFp8(static_cast<std::uint8_t>(code + 1), format) - value;
            addNeighbours(sample, value);
            addNeighbours(sample, value + step / 2);
        }
    }
    for (std::uint32_t upper = 0; upper < 0x10000U; ++upper) {
        for (const std::uint32_t lower : {0U, 1U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
            sample.push_back(std::bit_cast<float>((upper << 16) | lower));
        }
    }
    return sample;
}

/// denseSample() and every half-precision value and midpoint, ±0, ±1, ±2 ulp, which lie between its points.
inline std::vector<float> denseSampleWithHalves() {
    std::vector<float> sample = denseSample();
    for (int code = 0; code < 0x7C00; ++code) {
        const float value = engine::decodeF16(static_cast<std::uint16_t>(code));
        const float next = code == 0x7BFF ? 65536.0F : engine::decodeF16(static_cast<std::uint16_t>(code + 1));
        addNeighbours(sample, value);
        addNeighbours(sample, value + (next - value) / 2);
    }
    return sample;
}

/// FNV-1a over the bytes of each code, low byte first.
template <typename Code>
std::uint64_t digest(const std::vector<Code>& codes) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const Code code : codes) {
        for (std::size_t byte = 0; byte < sizeof(Code); ++byte) {
            hash ^= (static_cast<std::uint64_t>(code) >> (8 * byte)) & 0xFFU;
            hash *= 1099511628211ULL;
        }
    }
    return hash;
}

}  // namespace testing_support
