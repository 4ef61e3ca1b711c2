// Counter-based random numbers: a value depends on its key and index alone, so that data and initial weights need no
// state in a checkpoint and no order of evaluation.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace engine {

/// SplitMix64's finaliser: 64 well-mixed bits from 64.
constexpr std::uint64_t mixBits(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

constexpr std::uint64_t randomBits(std::uint64_t key, std::uint64_t index) {
    return mixBits(mixBits(key) ^ index);
}

/// Uniform in [0, bound) by the high half of a 128-bit product.
constexpr std::uint64_t randomBelow(std::uint64_t key, std::uint64_t index, std::uint64_t bound) {
    const std::uint64_t bits = randomBits(key, index);
    const std::uint64_t low = bits & 0xFFFFFFFFULL;
    const std::uint64_t high = bits >> 32;
    if (bound <= 0xFFFFFFFFULL) return (high * bound + ((low * bound) >> 32)) >> 32;
    return bits % bound;
}

/// Standard normal by Box–Muller over two uniforms of one index.
inline float randomNormal(std::uint64_t key, std::uint64_t index) {
    const double u = (static_cast<double>(randomBits(key, 2 * index) >> 11) + 0.5) * 0x1p-53;
    const double v = static_cast<double>(randomBits(key, 2 * index + 1) >> 11) * 0x1p-53;
    return static_cast<float>(std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v));
}

}  // namespace engine
