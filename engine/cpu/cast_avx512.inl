// AVX-512 casts. Included by cast.cpp inside its AVX-512 region. Works in blocks of 64 elements: four vectors in, one
// vector of codes out; the last block is loaded and stored under masks.

/// Part `part` (16 elements) of the mask of 64.
AMAXSCOPE_INLINE __mmask16 partOf(std::uint64_t mask, int part) {
    return static_cast<__mmask16>(mask >> (16 * part));
}

/// No initialisers: the constructor they bring would be compiled outside the instruction set's region.
struct CastSums {
    __m512 amax;
    __m512 blockError;  // FP32 sums of a few blocks, before they go to FP64
    __m512 blockSignal;
    __m512d error[2];
    __m512d signal[2];
};

AMAXSCOPE_INLINE void addLanes(__m512 x, __m512d* sums) {
    sums[0] = _mm512_add_pd(sums[0], _mm512_cvtps_pd(_mm512_castps512_ps256(x)));
    sums[1] = _mm512_add_pd(sums[1], _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)));
}

AMAXSCOPE_INLINE void addSquares(__m512 x, __m512d* sums) {
    const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
    const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
    sums[0] = _mm512_fmadd_pd(low, low, sums[0]);
    sums[1] = _mm512_fmadd_pd(high, high, sums[1]);
}

/// A lane holds at most 4 × kBlocksPerSum squares below 2^120 each: no overflow, and an error of a few units in the
/// last place of FP32.
constexpr std::int64_t kBlocksPerSum = 4;

AMAXSCOPE_INLINE void flushBlocks(CastSums& sums) {
    addLanes(sums.blockError, sums.error);
    addLanes(sums.blockSignal, sums.signal);
    sums.blockError = sums.blockSignal = _mm512_setzero_ps();
}

AMAXSCOPE_INLINE std::int64_t countBits(const __mmask16* masks) {
    const __mmask32 low = _mm512_kunpackw(masks[1], masks[0]);
    const __mmask32 high = _mm512_kunpackw(masks[3], masks[2]);
    return __builtin_popcountll(_mm512_kunpackd(high, low));
}

/// A block that holds infinities or NaN, or whose squares may leave the range of FP32: amax and sums under masks, the
/// sums in FP64.
AMAXSCOPE_INLINE void sumUnusualBlock(const __m512* x, const __m512* error, CastSums& sums, CastStats& stats) {
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
        const __m512 infinity = _mm512_castsi512_ps(_mm512_set1_epi32(0x7F800000));
        const __m512 magnitude = _mm512_abs_ps(x[part]);
        const __mmask16 finite = _mm512_cmp_ps_mask(magnitude, infinity, _CMP_LT_OQ);
        // max returns its second operand when the first is NaN, so NaN elements are passed over.
        sums.amax = _mm512_max_ps(magnitude, sums.amax);
        stats.nonFinite += 16 - __builtin_popcount(finite);
        addSquares(_mm512_maskz_mov_ps(finite, error[part]), sums.error);
        addSquares(_mm512_maskz_mov_ps(finite, x[part]), sums.signal);
    }
}

/// Elements of a block that a cast clips: above the largest value, infinities among them, NaN not.
template <Fp8Format format>
AMAXSCOPE_INLINE std::int64_t countAbove(const __m512* x, __m512 scale) {
    __mmask16 above[4];
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
        const __m512 product = _mm512_abs_ps(_mm512_mul_ps(x[part], scale));
        above[part] = _mm512_cmp_ps_mask(product, _mm512_set1_ps(CastBits<format>::kMax), _CMP_GT_OQ);
    }
    return countBits(above);
}

AMAXSCOPE_INLINE std::int64_t countZeros(const __m512* x) {
    __mmask16 zero[4];
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
        const __m512i bits = _mm512_castps_si512(_mm512_abs_ps(x[part]));
        zero[part] = _mm512_testn_epi32_mask(bits, bits);
    }
    return countBits(zero);
}

/// Amax, counts and sums of one block. Most blocks clip nothing and hold no zero: one test each tells, and only the
/// others are counted. Absent elements of a tail are zeros: they add nothing but zeros with zero codes, and
/// castFormat takes the zeros off again.
template <Fp8Format format>
AMAXSCOPE_INLINE void countBlock(const __m512* x, const __m512* error, __m512i largest, __m512i smallest, __m512i codes,
                                 __m512 scale, CastSums& sums, CastStats& stats) {
    // Rounding keeps order, so the largest product is that of the largest element; NaN is larger still.
    const __m512 largestProduct = _mm512_mul_ps(_mm512_castsi512_ps(largest), _mm512_abs_ps(scale));
    if (_mm512_cmp_ps_mask(largestProduct, _mm512_set1_ps(CastBits<format>::kMax), _CMP_NLE_UQ) != 0) {
        stats.saturated += countAbove<format>(x, scale);
    }
    // A zero always gets a zero code, so zero codes less zeros are the underflows.
    stats.underflowed += __builtin_popcountll(_mm512_testn_epi8_mask(codes, _mm512_set1_epi8(0x7F)));
    if (_mm512_testn_epi32_mask(smallest, smallest) != 0) {
        const std::int64_t zeros = countZeros(x);
        stats.zeros += zeros;
        stats.underflowed -= zeros;
    }

    // Squares of 2^60 and more may overflow FP32; those below 2^-40 lose digits, which matters when all are so small.
    const __m512i tooLarge = _mm512_set1_epi32((127 + 60) << 23);
    const __m512i tooSmall = _mm512_set1_epi32((127 - 40) << 23);
    const bool unusual =
        _mm512_cmpge_epu32_mask(largest, tooLarge) != 0 || _mm512_cmplt_epu32_mask(largest, tooSmall) == 0xFFFF;
    if (unusual) return sumUnusualBlock(x, error, sums, stats);
    sums.amax = _mm512_max_ps(_mm512_castsi512_ps(largest), sums.amax);
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
        sums.blockError = _mm512_fmadd_ps(error[part], error[part], sums.blockError);
        sums.blockSignal = _mm512_fmadd_ps(x[part], x[part], sums.blockSignal);
    }
}

template <Fp8Format format, bool counting, bool tail>
AMAXSCOPE_INLINE void castBlock(const float* source, std::uint8_t* q, std::uint64_t present, __m512 scale,
                                __m512 scaleInverse, CastSums& sums, CastStats& stats) {
    __m512 x[4];
    __m512 error[4];
    __m512i codes[4];
    __m512i largest = _mm512_setzero_si512();
    __m512i smallest = _mm512_set1_epi32(-1);
#pragma GCC unroll 4
    for (int part = 0; part < 4; ++part) {
        x[part] = tail ? _mm512_maskz_loadu_ps(partOf(present, part), source + 16 * part)
                       : _mm512_loadu_ps(source + 16 * part);
        const __m512 absolute = _mm512_abs_ps(x[part]);
        __m512 magnitude;
        codes[part] = quantise16<CastBits<format>>(_mm512_mul_ps(x[part], scale), magnitude);
        if (counting) {
            largest = _mm512_max_epu32(largest, _mm512_castps_si512(absolute));
            smallest = _mm512_min_epu32(smallest, _mm512_castps_si512(absolute));
            // Both terms without their common sign. The rounding form of the product is not merged into the
            // subtraction.
            error[part] =
                _mm512_sub_ps(absolute, _mm512_mul_round_ps(magnitude, scaleInverse, _MM_FROUND_CUR_DIRECTION));
        } else {
            // max returns its second operand when the first is NaN, so NaN elements are passed over.
            sums.amax = _mm512_max_ps(absolute, sums.amax);
        }
    }
    const __m512i packed = packBytes(codes);
    if (tail) {
        _mm512_mask_storeu_epi8(q, present, packed);
    } else {
        _mm512_storeu_si512(q, packed);
    }
    if (counting) countBlock<format>(x, error, largest, smallest, packed, scale, sums, stats);
}

double sumOf(const __m512d* halves) {
    alignas(64) double lanes[8];
    _mm512_store_pd(lanes, _mm512_add_pd(halves[0], halves[1]));
    double sum = 0;
    for (const double lane : lanes) sum += lane;
    return sum;
}

template <Fp8Format format, bool counting>
void castFormat(const float* x, std::uint8_t* q, std::int64_t n, float scale, CastStats& stats) {
    const __m512 scales = _mm512_set1_ps(scale);
    const __m512 inverses = _mm512_set1_ps(std::fabs(1.0F / scale));
    const __m512d none = _mm512_setzero_pd();
    const __m512 zero = _mm512_setzero_ps();
    CastSums sums = {zero, zero, zero, {none, none}, {none, none}};
    CastStats counts;
    std::int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
        castBlock<format, counting, false>(x + i, q + i, ~std::uint64_t{0}, scales, inverses, sums, counts);
        if (counting && (i / 64) % kBlocksPerSum == kBlocksPerSum - 1) flushBlocks(sums);
    }
    if (i < n) {
        const std::uint64_t present = (std::uint64_t{1} << (n - i)) - 1;
        castBlock<format, counting, true>(x + i, q + i, present, scales, inverses, sums, counts);
        if (counting) counts.zeros -= 64 - (n - i);
    }
    alignas(64) float lanes[16];
    _mm512_store_ps(lanes, sums.amax);
    for (const float lane : lanes) counts.amax = lane > counts.amax ? lane : counts.amax;
    if (counting) {
        flushBlocks(sums);
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
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(q + i), bf16Of16(_mm512_loadu_ps(x + i)));
    }
    if (i < n) {
        const __mmask16 present = static_cast<__mmask16>((1U << (n - i)) - 1U);
        _mm256_mask_storeu_epi16(q + i, present, bf16Of16(_mm512_maskz_loadu_ps(present, x + i)));
    }
}
