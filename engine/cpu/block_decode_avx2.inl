// Codes to values, and values to memory, for block_unpack.inl. Included inside an AVX2 region, after
// block_lanes_avx2.inl.

/// Values of codes, one a lane, put together from their bits: a gather would be slower.
template <Type type>
struct Decoder {
    static constexpr Fp8Format kFormat = type == Type::E4M3 ? Fp8Format::E4M3 : Fp8Format::E5M2;
    static constexpr Fp8Limits kLimits = fp8Limits(kFormat);
    static constexpr int kFirstSpecial = type == Type::E4M3 ? 0x7F : 0x7C;  // of E5M2: infinity, then NaN

    AMAXSCOPE_INLINE Lanes operator()(Words codes) const {
        const Words magnitude = bitAnd(codes, wordsOf(0x7F));
        const Words normal =
            sum(_mm256_slli_epi32(magnitude, 23 - kLimits.mantissaBits), wordsOf((127 - kLimits.exponentBias) << 23));
        const Lanes subnormal = product(_mm256_cvtepi32_ps(magnitude), lanesOf(kLimits.minSubnormal));
        const Mask isSmall = less(magnitude, wordsOf(1 << kLimits.mantissaBits));
        const Words finite = select(isSmall, asWords(subnormal), normal);
        const Mask isInfinite = less(magnitude, wordsOf(type == Type::E5M2 ? kFirstSpecial + 1 : 0));
        const Words special = select(isInfinite, wordsOf(0x7F800000), wordsOf(0x7FC00000));
        const Words value = select(less(wordsOf(kFirstSpecial - 1), magnitude), special, finite);
        return asLanes(_mm256_or_si256(value, shiftLeft<24>(_mm256_andnot_si256(wordsOf(0x7F), codes))));
    }
};

template <>
struct Decoder<Type::E2M1> {
    AMAXSCOPE_INLINE Lanes operator()(Words codes) const {
        const Lanes magnitudes = _mm256_setr_ps(0, 0.5F, 1, 1.5F, 2, 3, 4, 6);
        const Words sign = shiftLeft<28>(bitAnd(codes, wordsOf(8)));
        return _mm256_or_ps(_mm256_permutevar8x32_ps(magnitudes, codes), asLanes(sign));
    }
};

/// Eight bytes as lanes.
AMAXSCOPE_INLINE Words widened(const std::uint8_t* bytes) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
}

template <Type type>
AMAXSCOPE_INLINE void decodeChunk(const Decoder<type>& decoder, const std::uint8_t* codes, std::int64_t count,
                                  Lanes* values) {
    alignas(32) std::uint8_t bytes[kChunk];
    const std::uint8_t* source = codes;
    if constexpr (type == Type::E2M1) {
        __m128i pairs;
        if (count >= kChunk) {
            pairs = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
        } else {
            _mm_store_si128(reinterpret_cast<__m128i*>(bytes), _mm_setzero_si128());
            __builtin_memcpy(bytes, codes, static_cast<std::size_t>(count / 2));
            pairs = _mm_load_si128(reinterpret_cast<const __m128i*>(bytes));
        }
        const __m256i words = _mm256_cvtepu8_epi16(pairs);
        const __m256i apart =
            _mm256_and_si256(_mm256_or_si256(words, _mm256_slli_epi16(words, 4)), _mm256_set1_epi8(0xF));
        _mm256_store_si256(reinterpret_cast<__m256i*>(bytes), apart);
        source = bytes;
    } else if (count < kChunk) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(bytes), _mm256_setzero_si256());
        __builtin_memcpy(bytes, codes, static_cast<std::size_t>(count));
        source = bytes;
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) values[i] = decoder(widened(source + i * kLanes));
}

AMAXSCOPE_INLINE Lanes lookUp(const float* table, const std::uint8_t* codes, std::int64_t n) {
    alignas(8) std::uint8_t bytes[kLanes] = {};
    if (n > 0) __builtin_memcpy(bytes, codes, static_cast<std::size_t>(n < kLanes ? n : kLanes));
    const Lanes values = _mm256_i32gather_ps(table, widened(bytes), 4);
    return _mm256_and_ps(asLanes(firstLanes(n)), values);
}

AMAXSCOPE_INLINE void storeUpperHalves(std::uint16_t* target, const Lanes* values, std::int64_t count) {
    alignas(32) std::uint16_t halves[kChunk];
    std::uint16_t* to = count >= kChunk ? target : halves;
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
        const __m256i mixed =
            _mm256_packus_epi32(shiftRight<16>(asWords(values[2 * i])), shiftRight<16>(asWords(values[2 * i + 1])));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 2 * i * kLanes), _mm256_permute4x64_epi64(mixed, 0xD8));
    }
    if (count < kChunk) __builtin_memcpy(target, halves, static_cast<std::size_t>(count) * sizeof(std::uint16_t));
}
