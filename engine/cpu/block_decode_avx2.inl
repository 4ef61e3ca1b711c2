// Codes to values, and values to memory, for block_unpack.inl. Included inside an AVX2 region, after
// block_lanes_avx2.inl.

template <Type type>
struct Decoder {
    const float* table;

    AMAXSCOPE_INLINE Decoder() : table(blockValues(type)) {}
};

AMAXSCOPE_INLINE Lanes lookUp8(const float* table, __m128i codes) {
    return _mm256_i32gather_ps(table, _mm256_cvtepu8_epi32(codes), 4);
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
    for (int i = 0; i < 4; ++i) {
        values[i] = lookUp8(decoder.table, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(source + i * kLanes)));
    }
}

AMAXSCOPE_INLINE Lanes lookUp(const float* table, const std::uint8_t* codes, std::int64_t n) {
    alignas(8) std::uint8_t bytes[kLanes] = {};
    if (n > 0) __builtin_memcpy(bytes, codes, static_cast<std::size_t>(n < kLanes ? n : kLanes));
    const Lanes values = lookUp8(table, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
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
