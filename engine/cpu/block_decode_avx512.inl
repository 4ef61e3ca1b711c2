// Codes to values, and values to memory, for block_unpack.inl. Included inside an AVX-512 region, after
// block_lanes_avx512.inl. The twin is block_decode_avx2.inl.

/// Bytes of the BF16 values of 64 codes. Lives as long as a kernel, so that the tables stay in registers.
template <Type type>
struct Decoder {
    Fp8Table table;

    AMAXSCOPE_INLINE Decoder() : table(type) {}
    AMAXSCOPE_INLINE __m512i read(const std::uint8_t* codes, std::int64_t count) const {
        if (count >= kChunk) return _mm512_loadu_si512(codes);
        return _mm512_maskz_loadu_epi8((std::uint64_t{1} << count) - 1, codes);
    }
    AMAXSCOPE_INLINE __m512i low(__m512i codes) const { return table.low(codes); }
    AMAXSCOPE_INLINE __m512i high(__m512i codes) const { return table.high(codes); }
};

/// Two codes a byte; sixteen values fit one shuffle. The bytes are those of 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their
/// negatives, last first.
template <>
struct Decoder<Type::E2M1> {
    AMAXSCOPE_INLINE Decoder() {}
    AMAXSCOPE_INLINE __m512i read(const std::uint8_t* codes, std::int64_t count) const {
        const __m256i pairs =
            count >= kChunk
                ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes))
                : _mm256_maskz_loadu_epi8(static_cast<__mmask32>((std::uint64_t{1} << (count / 2)) - 1), codes);
        const __m512i words = _mm512_cvtepu8_epi16(pairs);
        return _mm512_and_si512(_mm512_or_si512(words, _mm512_slli_epi16(words, 4)), _mm512_set1_epi8(0xF));
    }
    AMAXSCOPE_INLINE __m512i low(__m512i codes) const {
        const __m128i bytes = _mm_set1_epi64x(static_cast<std::int64_t>(0xC080'4000'C080'0000ULL));
        return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(bytes), codes);
    }
    AMAXSCOPE_INLINE __m512i high(__m512i codes) const {
        const __m128i bytes = _mm_set_epi64x(static_cast<std::int64_t>(0xC0C0'C0C0'BFBF'BF80ULL),
                                             static_cast<std::int64_t>(0x4040'4040'3F3F'3F00ULL));
        return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(bytes), codes);
    }
};

/// Values of kChunk codes; those from `count` on are zero.
template <Type type>
AMAXSCOPE_INLINE void decodeChunk(const Decoder<type>& decoder, const std::uint8_t* codes, std::int64_t count,
                                  Lanes* values) {
    // So ordered, the interleaving below leaves neighbours side by side.
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i ordered = _mm512_permutexvar_epi32(order, decoder.read(codes, count));
    const __m512i low = decoder.low(ordered);
    const __m512i high = decoder.high(ordered);
    const __m512i zero = _mm512_setzero_si512();
    const __m512i first = _mm512_unpacklo_epi8(low, high);
    const __m512i second = _mm512_unpackhi_epi8(low, high);
    values[0] = asLanes(_mm512_unpacklo_epi16(zero, first));
    values[1] = asLanes(_mm512_unpackhi_epi16(zero, first));
    values[2] = asLanes(_mm512_unpacklo_epi16(zero, second));
    values[3] = asLanes(_mm512_unpackhi_epi16(zero, second));
}

/// table[code] for the first n ≤ kLanes codes, 0 elsewhere.
AMAXSCOPE_INLINE Lanes lookUp(const float* table, const std::uint8_t* codes, std::int64_t n) {
    const Mask lanes = firstLanes(n);
    const Words indices = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(lanes, codes));
    return _mm512_mask_i32gather_ps(lanesOf(0), lanes, indices, table, 4);
}

/// Stores the upper halves of the first `count` lanes: BF16, where the value is exact in it.
AMAXSCOPE_INLINE void storeUpperHalves(std::uint16_t* target, const Lanes* values, std::int64_t count) {
    const __m512i upper =
        _mm512_setr_epi32(0x030001, 0x070005, 0x0B0009, 0x0F000D, 0x130011, 0x170015, 0x1B0019, 0x1F001D, 0x230021,
                          0x270025, 0x2B0029, 0x2F002D, 0x330031, 0x370035, 0x3B0039, 0x3F003D);
    const __m512i first = _mm512_permutex2var_epi16(asWords(values[0]), upper, asWords(values[1]));
    const __m512i second = _mm512_permutex2var_epi16(asWords(values[2]), upper, asWords(values[3]));
    if (count >= kChunk) {
        _mm512_storeu_si512(target, first);
        _mm512_storeu_si512(target + 2 * kLanes, second);
    } else {
        const std::uint64_t lanes = (std::uint64_t{1} << count) - 1;
        _mm512_mask_storeu_epi16(target, static_cast<__mmask32>(lanes), first);
        _mm512_mask_storeu_epi16(target + 2 * kLanes, static_cast<__mmask32>(lanes >> 32), second);
    }
}
