// The vector operations that block_cast.inl, block_unpack.inl and hadamard.inl are written in, on 16 lanes. Included
// inside an AVX-512 region, after quantise_avx512.inl. Their twins are in block_lanes_avx2.inl.

using Lanes = __m512;
using Words = __m512i;
using Mask = __mmask16;
constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kChunk = 4 * kLanes;  // columns that are worked on together

AMAXSCOPE_INLINE Lanes lanesOf(float value) {
    return _mm512_set1_ps(value);
}
AMAXSCOPE_INLINE Words wordsOf(std::int32_t value) {
    return _mm512_set1_epi32(value);
}
AMAXSCOPE_INLINE Words asWords(Lanes x) {
    return _mm512_castps_si512(x);
}
AMAXSCOPE_INLINE Lanes asLanes(Words x) {
    return _mm512_castsi512_ps(x);
}

/// The first n lanes; n may be negative or too large.
AMAXSCOPE_INLINE Mask firstLanes(std::int64_t n) {
    return static_cast<Mask>(n >= kLanes ? 0xFFFF : n <= 0 ? 0 : (1 << n) - 1);
}
AMAXSCOPE_INLINE Lanes load(const float* source) {
    return _mm512_loadu_ps(source);
}
/// Lanes from n on are zero and not read.
AMAXSCOPE_INLINE Lanes loadFirst(const float* source, std::int64_t n) {
    return _mm512_maskz_loadu_ps(firstLanes(n), source);
}
AMAXSCOPE_INLINE void store(float* target, Lanes x) {
    _mm512_storeu_ps(target, x);
}
AMAXSCOPE_INLINE void storeFirst(float* target, Lanes x, std::int64_t n) {
    _mm512_mask_storeu_ps(target, firstLanes(n), x);
}

AMAXSCOPE_INLINE Lanes magnitudeOf(Lanes x) {
    return _mm512_abs_ps(x);
}
/// b where a is NaN.
AMAXSCOPE_INLINE Lanes larger(Lanes a, Lanes b) {
    return _mm512_max_ps(a, b);
}
AMAXSCOPE_INLINE Lanes smaller(Lanes a, Lanes b) {
    return _mm512_min_ps(a, b);
}
/// a·b, never merged into an addition that follows.
AMAXSCOPE_INLINE Lanes product(Lanes a, Lanes b) {
    return _mm512_mul_round_ps(a, b, _MM_FROUND_CUR_DIRECTION);
}

AMAXSCOPE_INLINE Words sum(Words a, Words b) {
    return _mm512_add_epi32(a, b);
}
AMAXSCOPE_INLINE Words difference(Words a, Words b) {
    return _mm512_sub_epi32(a, b);
}
AMAXSCOPE_INLINE Words bitAnd(Words a, Words b) {
    return _mm512_and_si512(a, b);
}
AMAXSCOPE_INLINE Words smaller(Words a, Words b) {
    return _mm512_min_epi32(a, b);
}
AMAXSCOPE_INLINE Words larger(Words a, Words b) {
    return _mm512_max_epi32(a, b);
}
template <int bits>
AMAXSCOPE_INLINE Words shiftLeft(Words x) {
    return _mm512_slli_epi32(x, bits);
}
template <int bits>
AMAXSCOPE_INLINE Words shiftRight(Words x) {
    return _mm512_srli_epi32(x, bits);
}

AMAXSCOPE_INLINE Mask less(Lanes a, Lanes b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
AMAXSCOPE_INLINE Mask equal(Lanes a, Lanes b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
AMAXSCOPE_INLINE Mask less(Words a, Words b) {
    return _mm512_cmplt_epi32_mask(a, b);
}
AMAXSCOPE_INLINE Mask both(Mask a, Mask b) {
    return static_cast<Mask>(a & b);
}
AMAXSCOPE_INLINE Mask either(Mask a, Mask b) {
    return static_cast<Mask>(a | b);
}
AMAXSCOPE_INLINE Mask butNot(Mask a, Mask b) {
    return static_cast<Mask>(a & ~b);
}
AMAXSCOPE_INLINE Lanes select(Mask mask, Lanes a, Lanes b) {
    return _mm512_mask_blend_ps(mask, b, a);
}
AMAXSCOPE_INLINE Words select(Mask mask, Words a, Words b) {
    return _mm512_mask_blend_epi32(mask, b, a);
}
AMAXSCOPE_INLINE std::int64_t countOf(Mask mask) {
    return __builtin_popcount(mask);
}

// ---------------------------------------------------------------- reductions

AMAXSCOPE_INLINE float largestOf(Lanes x) {
    return _mm512_reduce_max_ps(x);
}

/// FP64 sums. No initialisers: the constructor they bring would be compiled outside the instruction set's region.
struct Sums {
    __m512d half[2];
};
AMAXSCOPE_INLINE void clear(Sums& sums) {
    sums.half[0] = sums.half[1] = _mm512_setzero_pd();
}
/// Adds the squares of the lanes in `mask`.
AMAXSCOPE_INLINE void addSquares(Mask mask, Lanes x, Sums& sums) {
    const Lanes masked = _mm512_maskz_mov_ps(mask, x);
    const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(masked));
    const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(masked, 1));
    sums.half[0] = _mm512_fmadd_pd(low, low, sums.half[0]);
    sums.half[1] = _mm512_fmadd_pd(high, high, sums.half[1]);
}
AMAXSCOPE_INLINE double totalOf(const Sums& sums) {
    return _mm512_reduce_add_pd(_mm512_add_pd(sums.half[0], sums.half[1]));
}

/// Stores the largest lane of each of four vectors side by side.
AMAXSCOPE_INLINE void storeMaxima(float* target, const Lanes* x) {
    const Lanes a = larger(_mm512_shuffle_f32x4(x[0], x[1], 0x44), _mm512_shuffle_f32x4(x[0], x[1], 0xEE));
    const Lanes b = larger(_mm512_shuffle_f32x4(x[2], x[3], 0x44), _mm512_shuffle_f32x4(x[2], x[3], 0xEE));
    // Vector i is in quarter i from here on.
    const Lanes quarters = larger(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD));
    const Lanes pairs = larger(quarters, _mm512_permute_ps(quarters, 0x4E));
    const Lanes maxima = larger(pairs, _mm512_permute_ps(pairs, 0xB1));
    const Words firsts = _mm512_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
    _mm_storeu_ps(target, _mm512_castps512_ps128(_mm512_permutexvar_ps(firsts, maxima)));
}

// ---------------------------------------------------------------- codes

template <typename Bits>
AMAXSCOPE_INLINE Words quantise(Lanes y, Lanes& roundedMagnitude) {
    return quantise16<Bits>(y, roundedMagnitude);
}

/// E2M1 codes of y: the magnitude below, or the one above where uniform < its share of the step between them.
AMAXSCOPE_INLINE Words quantiseStochastic(Lanes y, Lanes uniform, Lanes& roundedMagnitude) {
    using Bits = E2M1Bits;
    const Words bits = asWords(y);
    const Mask nan = _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q);
    const Words clamped = _mm512_min_epu32(bitAnd(bits, wordsOf(0x7FFFFFFF)), wordsOf(Bits::kMaxBits));
    const Words smallest = wordsOf(Bits::kMinNormalBits);
    const Words exponent = larger(bitAnd(clamped, wordsOf(0x7F800000)), smallest);
    const Words magic = sum(exponent, wordsOf((23 - Bits::kMantissa) << 23));
    const Lanes cut = _mm512_add_round_ps(asLanes(clamped), asLanes(magic), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const Lanes below = _mm512_sub_ps(cut, asLanes(magic));
    const Lanes step = asLanes(difference(exponent, wordsOf(Bits::kMantissa << 23)));
    const Mask up = less(product(uniform, step), _mm512_sub_ps(asLanes(clamped), below));
    roundedMagnitude = _mm512_mask_add_ps(below, up, below, step);
    const Words binade = _mm512_srli_epi32(difference(exponent, smallest), 23 - Bits::kMantissa);
    const Words codeBelow = sum(difference(asWords(cut), magic), binade);
    const Words code = _mm512_mask_add_epi32(codeBelow, up, codeBelow, wordsOf(1));
    const Words sign = bitAnd(_mm512_srli_epi32(bits, Bits::kSignShift), wordsOf(Bits::kSign));
    return _mm512_mask_mov_epi32(_mm512_or_si512(code, sign), nan, wordsOf(Bits::kNan));
}

/// mixBits() of src/random.h.
AMAXSCOPE_INLINE __m512i mixed(__m512i x) {
    x = _mm512_add_epi64(x, _mm512_set1_epi64(static_cast<std::int64_t>(0x9E3779B97F4A7C15ULL)));
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 30)),
                           _mm512_set1_epi64(static_cast<std::int64_t>(0xBF58476D1CE4E5B9ULL)));
    x = _mm512_mullo_epi64(_mm512_xor_si512(x, _mm512_srli_epi64(x, 27)),
                           _mm512_set1_epi64(static_cast<std::int64_t>(0x94D049BB133111EBULL)));
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 31));
}
/// Uniform in [0, 1), for elements 2·pair and on.
AMAXSCOPE_INLINE Lanes uniforms(std::uint64_t noise, std::int64_t pair) {
    const __m512i counters = _mm512_add_epi64(_mm512_set1_epi64(pair), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
    const __m512i bits = mixed(_mm512_xor_si512(counters, _mm512_set1_epi64(static_cast<std::int64_t>(noise))));
    return product(_mm512_cvtepi32_ps(shiftRight<8>(bits)), lanesOf(0x1p-24F));
}

/// Stores the first `count` ≤ kChunk codes, one a byte.
AMAXSCOPE_INLINE void storeBytes(std::uint8_t* target, const Words* codes, std::int64_t count) {
    const __m512i packed = packBytes(codes);
    if (count >= kChunk) return _mm512_storeu_si512(target, packed);
    _mm512_mask_storeu_epi8(target, (std::uint64_t{1} << count) - 1, packed);
}
/// The same, two a byte; `count` is even.
AMAXSCOPE_INLINE void storeNibbles(std::uint8_t* target, const Words* codes, std::int64_t count) {
    const __m512i pairs = _mm512_maddubs_epi16(packBytes(codes), _mm512_set1_epi16(0x1001));  // even + 16·odd
    const __m256i packed = _mm512_cvtepi16_epi8(pairs);
    if (count >= kChunk) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), packed);
    _mm256_mask_storeu_epi8(target, static_cast<__mmask32>((std::uint64_t{1} << (count / 2)) - 1), packed);
}
