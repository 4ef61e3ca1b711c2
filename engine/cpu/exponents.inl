// Body of the exponent count. Included once per instruction set, inside its region.

/// Exponent fields of a block, and the smallest of `smallestLess1` and its magnitudes less 1. Zero, less 1, wraps to
/// the largest number, and NaN lies above infinity: neither is ever the smallest.
AMAXSCOPE_INLINE std::uint32_t splitBlock(const float* __restrict x, std::uint8_t* __restrict fields, std::int64_t n,
                                          std::uint32_t smallestLess1) {
#pragma omp simd reduction(min : smallestLess1)
    for (std::int64_t i = 0; i < n; ++i) {
        const std::uint32_t magnitude = __builtin_bit_cast(std::uint32_t, x[i]) & 0x7FFFFFFFU;
        fields[i] = static_cast<std::uint8_t>(magnitude >> 23);
        const std::uint32_t less1 = magnitude - 1U;
        smallestLess1 = less1 < smallestLess1 ? less1 : smallestLess1;
    }
    return smallestLess1;
}

void countExponents(const float* x, std::int64_t n, std::uint32_t* counts, float& smallest) {
    // Neighbours mostly have the same exponent, and an increment has to wait for the one before it to be stored: so
    // neighbours count in tables of their own.
    std::uint32_t tables[kTables][256] = {};
    alignas(64) std::uint8_t fields[kBlock];
    std::uint32_t smallestLess1 = __builtin_bit_cast(std::uint32_t, smallest) - 1U;
    for (std::int64_t first = 0; first < n; first += kBlock) {
        const std::int64_t size = n - first < kBlock ? n - first : kBlock;
        smallestLess1 = splitBlock(x + first, fields, size, smallestLess1);
        std::int64_t i = 0;
        for (; i + kTables <= size; i += kTables) {
#pragma GCC unroll 8
            for (std::int64_t table = 0; table < kTables; ++table) ++tables[table][fields[i + table]];
        }
        for (; i < size; ++i) ++tables[0][fields[i]];
    }
    for (const auto& table : tables) {
#pragma omp simd
        for (std::int64_t i = 0; i < 256; ++i) counts[i] += table[i];
    }
    smallest = __builtin_bit_cast(float, smallestLess1 + 1U);
}
