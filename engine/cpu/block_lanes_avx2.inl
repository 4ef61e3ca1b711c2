// The vector operations of block_lanes_avx512.inl on 8 lanes. Included inside an AVX2 region, after quantise_avx2.inl.
// A mask is a vector of all-one and all-zero lanes.

using Lanes = __m256;
using Words = __m256i;
using Mask = __m256;
constexpr std::int64_t kLanes = 8;
constexpr std::int64_t kChunk = 4 * kLanes;

AMAXSCOPE_INLINE Lanes lanesOf(float value) {
    return _mm256_set1_ps(value);
}
AMAXSCOPE_INLINE Words wordsOf(std::int32_t value) {
    return _mm256_set1_epi32(value);
}
AMAXSCOPE_INLINE Words asWords(Lanes x) {
    return _mm256_castps_si256(x);
}
AMAXSCOPE_INLINE Lanes asLanes(Words x) {
    return _mm256_castsi256_ps(x);
}

AMAXSCOPE_INLINE Words firstLanes(std::int64_t n) {
    const int limited = static_cast<int>(n >= kLanes ? kLanes : n <= 0 ? 0 : n);
    return _mm256_cmpgt_epi32(wordsOf(limited), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
AMAXSCOPE_INLINE Lanes load(const float* source) {
    return _mm256_loadu_ps(source);
}
AMAXSCOPE_INLINE Lanes loadFirst(const float* source, std::int64_t n) {
    return _mm256_maskload_ps(source, firstLanes(n));
}
AMAXSCOPE_INLINE void store(float* target, Lanes x) {
    _mm256_storeu_ps(target, x);
}
AMAXSCOPE_INLINE void storeFirst(float* target, Lanes x, std::int64_t n) {
    _mm256_maskstore_ps(target, firstLanes(n), x);
}

AMAXSCOPE_INLINE Lanes magnitudeOf(Lanes x) {
    return _mm256_andnot_ps(lanesOf(-0.0F), x);
}
AMAXSCOPE_INLINE Lanes larger(Lanes a, Lanes b) {
    return _mm256_max_ps(a, b);
}
AMAXSCOPE_INLINE Lanes smaller(Lanes a, Lanes b) {
    return _mm256_min_ps(a, b);
}
AMAXSCOPE_INLINE Lanes product(Lanes a, Lanes b) {
    Lanes result = _mm256_mul_ps(a, b);
    // Keeps the compiler from merging it into an addition.
    __asm__("" : "+x"(result));
    return result;
}

AMAXSCOPE_INLINE Words sum(Words a, Words b) {
    return _mm256_add_epi32(a, b);
}
AMAXSCOPE_INLINE Words difference(Words a, Words b) {
    return _mm256_sub_epi32(a, b);
}
AMAXSCOPE_INLINE Words bitAnd(Words a, Words b) {
    return _mm256_and_si256(a, b);
}
AMAXSCOPE_INLINE Words smaller(Words a, Words b) {
    return _mm256_min_epi32(a, b);
}
AMAXSCOPE_INLINE Words larger(Words a, Words b) {
    return _mm256_max_epi32(a, b);
}
template <int bits>
AMAXSCOPE_INLINE Words shiftLeft(Words x) {
    return _mm256_slli_epi32(x, bits);
}
template <int bits>
AMAXSCOPE_INLINE Words shiftRight(Words x) {
    return _mm256_srli_epi32(x, bits);
}

AMAXSCOPE_INLINE Mask less(Lanes a, Lanes b) {
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}
AMAXSCOPE_INLINE Mask equal(Lanes a, Lanes b) {
    return _mm256_cmp_ps(a, b, _CMP_EQ_OQ);
}
AMAXSCOPE_INLINE Mask less(Words a, Words b) {
    return asLanes(_mm256_cmpgt_epi32(b, a));
}
AMAXSCOPE_INLINE Mask both(Mask a, Mask b) {
    return _mm256_and_ps(a, b);
}
AMAXSCOPE_INLINE Mask either(Mask a, Mask b) {
    return _mm256_or_ps(a, b);
}
AMAXSCOPE_INLINE Mask butNot(Mask a, Mask b) {
    return _mm256_andnot_ps(b, a);
}
AMAXSCOPE_INLINE Lanes select(Mask mask, Lanes a, Lanes b) {
    return _mm256_blendv_ps(b, a, mask);
}
AMAXSCOPE_INLINE Words select(Mask mask, Words a, Words b) {
    return _mm256_blendv_epi8(b, a, asWords(mask));
}
AMAXSCOPE_INLINE std::int64_t countOf(Mask mask) {
    return __builtin_popcount(static_cast<unsigned>(_mm256_movemask_ps(mask)));
}

// ---------------------------------------------------------------- reductions

AMAXSCOPE_INLINE float largestOf(Lanes x) {
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

struct Sums {
    __m256d half[2];
};
AMAXSCOPE_INLINE void clear(Sums& sums) {
    sums.half[0] = sums.half[1] = _mm256_setzero_pd();
}
AMAXSCOPE_INLINE void addSquares(Mask mask, Lanes x, Sums& sums) {
    const Lanes masked = _mm256_and_ps(mask, x);
    const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(masked));
    const __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(masked, 1));
    sums.half[0] = _mm256_fmadd_pd(low, low, sums.half[0]);
    sums.half[1] = _mm256_fmadd_pd(high, high, sums.half[1]);
}
AMAXSCOPE_INLINE double totalOf(const Sums& sums) {
    const __m256d four = _mm256_add_pd(sums.half[0], sums.half[1]);
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

/// Stores the largest lane of each of four vectors side by side.
AMAXSCOPE_INLINE void storeMaxima(float* target, const Lanes* x) {
    const Lanes a = larger(_mm256_permute2f128_ps(x[0], x[1], 0x20), _mm256_permute2f128_ps(x[0], x[1], 0x31));
    const Lanes b = larger(_mm256_permute2f128_ps(x[2], x[3], 0x20), _mm256_permute2f128_ps(x[2], x[3], 0x31));
    const Lanes pairs = larger(_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xEE));
    const Lanes maxima = larger(pairs, _mm256_permute_ps(pairs, 0xB1));  // 0 0 2 2 1 1 3 3
    const Words order = _mm256_setr_epi32(0, 4, 2, 6, 0, 4, 2, 6);
    _mm_storeu_ps(target, _mm256_castps256_ps128(_mm256_permutevar8x32_ps(maxima, order)));
}

// ---------------------------------------------------------------- codes

template <typename Bits>
AMAXSCOPE_INLINE Words quantise(Lanes y, Lanes& roundedMagnitude) {
    return quantise8<Bits>(y, roundedMagnitude);
}

AMAXSCOPE_INLINE Words quantiseStochastic(Lanes y, Lanes uniform, Lanes& roundedMagnitude) {
    using Bits = E2M1Bits;
    const Words bits = asWords(y);
    const Words magnitude = bitAnd(bits, wordsOf(0x7FFFFFFF));
    const Words nan = _mm256_cmpgt_epi32(magnitude, wordsOf(0x7F800000));
    const Words clamped = smaller(magnitude, wordsOf(Bits::kMaxBits));
    const Words smallest = wordsOf(Bits::kMinNormalBits);
    const Words exponent = larger(bitAnd(clamped, wordsOf(0x7F800000)), smallest);
    const Words magic = sum(exponent, wordsOf((23 - Bits::kMantissa) << 23));
    // To nearest, then one step back where that went up.
    const Lanes nearest = _mm256_add_ps(asLanes(clamped), asLanes(magic));
    const Mask above = less(asLanes(clamped), _mm256_sub_ps(nearest, asLanes(magic)));
    const Words cut = sum(asWords(nearest), asWords(above));
    const Lanes below = _mm256_sub_ps(asLanes(cut), asLanes(magic));
    const Lanes step = asLanes(difference(exponent, wordsOf(Bits::kMantissa << 23)));
    const Mask up = less(product(uniform, step), _mm256_sub_ps(asLanes(clamped), below));
    roundedMagnitude = _mm256_add_ps(below, _mm256_and_ps(up, step));
    const Words binade = _mm256_srli_epi32(difference(exponent, smallest), 23 - Bits::kMantissa);
    const Words code = difference(sum(difference(cut, magic), binade), asWords(up));
    const Words sign = bitAnd(_mm256_srli_epi32(bits, Bits::kSignShift), wordsOf(Bits::kSign));
    return _mm256_blendv_epi8(_mm256_or_si256(code, sign), wordsOf(Bits::kNan), nan);
}

/// The low 64 bits of products of 64 bits.
AMAXSCOPE_INLINE __m256i product64(__m256i a, __m256i b) {
    const __m256i crossed =
        _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), b), _mm256_mul_epu32(a, _mm256_srli_epi64(b, 32)));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(crossed, 32));
}
AMAXSCOPE_INLINE __m256i mixed(__m256i x) {
    x = _mm256_add_epi64(x, _mm256_set1_epi64x(static_cast<std::int64_t>(0x9E3779B97F4A7C15ULL)));
    x = product64(_mm256_xor_si256(x, _mm256_srli_epi64(x, 30)),
                  _mm256_set1_epi64x(static_cast<std::int64_t>(0xBF58476D1CE4E5B9ULL)));
    x = product64(_mm256_xor_si256(x, _mm256_srli_epi64(x, 27)),
                  _mm256_set1_epi64x(static_cast<std::int64_t>(0x94D049BB133111EBULL)));
    return _mm256_xor_si256(x, _mm256_srli_epi64(x, 31));
}
AMAXSCOPE_INLINE Lanes uniforms(std::uint64_t noise, std::int64_t pair) {
    const __m256i counters = _mm256_add_epi64(_mm256_set1_epi64x(pair), _mm256_setr_epi64x(0, 1, 2, 3));
    const __m256i bits = mixed(_mm256_xor_si256(counters, _mm256_set1_epi64x(static_cast<std::int64_t>(noise))));
    return product(_mm256_cvtepi32_ps(shiftRight<8>(bits)), lanesOf(0x1p-24F));
}

AMAXSCOPE_INLINE void storeBytes(std::uint8_t* target, const Words* codes, std::int64_t count) {
    const __m256i packed = packBytes(codes);
    if (count >= kChunk) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), packed);
    alignas(32) std::uint8_t bytes[kChunk];
    _mm256_store_si256(reinterpret_cast<__m256i*>(bytes), packed);
    __builtin_memcpy(target, bytes, static_cast<std::size_t>(count));
}
AMAXSCOPE_INLINE void storeNibbles(std::uint8_t* target, const Words* codes, std::int64_t count) {
    const __m256i pairs = _mm256_maddubs_epi16(packBytes(codes), _mm256_set1_epi16(0x1001));
    const __m128i packed = _mm_packus_epi16(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    if (count >= kChunk) return _mm_storeu_si128(reinterpret_cast<__m128i*>(target), packed);
    alignas(16) std::uint8_t bytes[kChunk / 2];
    _mm_store_si128(reinterpret_cast<__m128i*>(bytes), packed);
    __builtin_memcpy(target, bytes, static_cast<std::size_t>(count / 2));
}
