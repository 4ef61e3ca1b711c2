// AVX2 casts. Included by cast.cpp inside its AVX2 region. The last elements go through a zero-filled block of 32.

AMAXSCOPE_INLINE __m256 absolute(__m256 x) {
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x);
}

/// No initialisers: the constructor they bring would be compiled outside the instruction set's region.
struct CastSums {
    __m256 amax;
    __m256d error[2];
    __m256d signal[2];
};

AMAXSCOPE_INLINE void addSquares(__m256 x, __m256d* sums) {
    const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(x));
    const __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
    sums[0] = _mm256_fmadd_pd(low, low, sums[0]);
    sums[1] = _mm256_fmadd_pd(high, high, sums[1]);
}

AMAXSCOPE_INLINE int countLanes(__m256 mask) {
    return __builtin_popcount(static_cast<unsigned>(_mm256_movemask_ps(mask)));
}

/// Casts 32 elements.
template <Fp8Format format, bool counting>
AMAXSCOPE_INLINE void castBlock(const float* source, std::uint8_t* q, __m256 scale, __m256 scaleInverse, CastSums& sums,
                                CastStats& stats) {
    __m256i codes[4];
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
        const __m256 x = _mm256_loadu_ps(source + 8 * part);
        const __m256 y = _mm256_mul_ps(x, scale);
        // max returns its second operand when the first is NaN, so NaN elements are passed over.
        sums.amax = _mm256_max_ps(absolute(x), sums.amax);
        __m256 magnitude;
        codes[part] = quantise8<CastBits<format>>(y, magnitude);
        if (!counting) continue;

        const __m256 infinity = _mm256_castsi256_ps(_mm256_set1_epi32(0x7F800000));
        const __m256 finite = _mm256_cmp_ps(absolute(x), infinity, _CMP_LT_OQ);
        const __m256 zero = _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_EQ_OQ);
        const __m256 zeroCode = _mm256_and_ps(_mm256_cmp_ps(magnitude, _mm256_setzero_ps(), _CMP_EQ_OQ), finite);
        stats.saturated += countLanes(_mm256_cmp_ps(absolute(y), _mm256_set1_ps(CastBits<format>::kMax), _CMP_GT_OQ));
        stats.nonFinite += 8 - countLanes(finite);
        stats.zeros += countLanes(zero);
        stats.underflowed += countLanes(_mm256_andnot_ps(zero, zeroCode));
        __m256 value = _mm256_mul_ps(magnitude, scaleInverse);
        // Keeps the compiler from merging product and subtraction into one rounding.
        __asm__("" : "+x"(value));
        addSquares(_mm256_and_ps(finite, _mm256_sub_ps(absolute(x), value)), sums.error);
        addSquares(_mm256_and_ps(finite, x), sums.signal);
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(q), packBytes(codes));
}

double sumOf(const __m256d* halves) {
    alignas(32) double lanes[4];
    _mm256_store_pd(lanes, _mm256_add_pd(halves[0], halves[1]));
    return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

template <Fp8Format format, bool counting>
void castFormat(const float* x, std::uint8_t* q, std::int64_t n, float scale, CastStats& stats) {
    const __m256 scales = _mm256_set1_ps(scale);
    const __m256 inverses = _mm256_set1_ps(std::fabs(1.0F / scale));
    const __m256d none = _mm256_setzero_pd();
    CastSums sums = {_mm256_setzero_ps(), {none, none}, {none, none}};
    CastStats counts;
    std::int64_t i = 0;
    for (; i + 32 <= n; i += 32) castBlock<format, counting>(x + i, q + i, scales, inverses, sums, counts);
    if (i < n) {
        float padded[32] = {};
        std::uint8_t codes[32];
        const std::size_t rest = static_cast<std::size_t>(n - i);
        std::memcpy(padded, x + i, rest * sizeof(float));
        castBlock<format, counting>(padded, codes, scales, inverses, sums, counts);
        std::memcpy(q + i, codes, rest);
        if (counting) counts.zeros -= static_cast<std::int64_t>(32 - rest);
    }
    alignas(32) float lanes[8];
    _mm256_store_ps(lanes, sums.amax);
    for (const float lane : lanes) counts.amax = lane > counts.amax ? lane : counts.amax;
    if (counting) {
        counts.count = n;
        counts.sqError = sumOf(sums.error);
        counts.sqSignal = sumOf(sums.signal);
    }
    stats.add(counts);
}

void castFp8(const float* x, std::uint8_t* q, std::int64_t n, float scale, Fp8Format format, bool counting,
             CastStats& stats) {
    if (format == Fp8Format::E4M3) {
        if (counting) return castFormat<Fp8Format::E4M3, true>(x, q, n, scale, stats);
        return castFormat<Fp8Format::E4M3, false>(x, q, n, scale, stats);
    }
    if (counting) return castFormat<Fp8Format::E5M2, true>(x, q, n, scale, stats);
    castFormat<Fp8Format::E5M2, false>(x, q, n, scale, stats);
}

void castBf16(const float* x, std::uint16_t* q, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m256i mixed = _mm256_packus_epi32(bf16Of8(_mm256_loadu_ps(x + i)), bf16Of8(_mm256_loadu_ps(x + i + 8)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(q + i), _mm256_permute4x64_epi64(mixed, 0xD8));
    }
    for (; i < n; ++i) q[i] = encodeBf16(x[i]);
}
