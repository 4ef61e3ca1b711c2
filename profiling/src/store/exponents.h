// How exponent_hist.counts holds a histogram: unsigned 32-bit numbers, little-endian on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace profiling {

/// Replaces what `bytes` holds.
void encodeCounts(std::span<const std::uint32_t> counts, std::vector<unsigned char>& bytes);
/// bytes.size() must be a multiple of 4.
std::vector<std::uint32_t> decodeCounts(std::span<const unsigned char> bytes);

}  // namespace profiling
