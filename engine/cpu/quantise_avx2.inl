// AVX2 rounding to narrow formats, lane by lane. Included inside an AVX2 region, after quantise.h.

/// Magnitude codes of |y| with the sign, as 32-bit lanes, and the value the magnitudes stand for; see
/// quantise16 in quantise_avx512.inl for how the rounding works.
template <typename Bits>
AMAXSCOPE_INLINE __m256i quantise8(__m256 y, __m256& roundedMagnitude) {
    const __m256i bits = _mm256_castps_si256(y);
    const __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7FFFFFFF));
    const __m256i nan = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7F800000));
    const __m256i clamped = _mm256_min_epi32(magnitude, _mm256_set1_epi32(Bits::kMaxBits));
    const __m256i smallest = _mm256_set1_epi32(Bits::kMinNormalBits);
    const __m256i exponent = _mm256_max_epi32(_mm256_and_si256(clamped, _mm256_set1_epi32(0x7F800000)), smallest);
    const __m256i magic = _mm256_add_epi32(exponent, _mm256_set1_epi32((23 - Bits::kMantissa) << 23));
    const __m256 sum = _mm256_add_ps(_mm256_castsi256_ps(clamped), _mm256_castsi256_ps(magic));
    roundedMagnitude = _mm256_sub_ps(sum, _mm256_castsi256_ps(magic));
    const __m256i mantissa = _mm256_sub_epi32(_mm256_castps_si256(sum), magic);
    const __m256i binade = _mm256_srli_epi32(_mm256_sub_epi32(exponent, smallest), 23 - Bits::kMantissa);
    const __m256i sign = _mm256_and_si256(_mm256_srli_epi32(bits, Bits::kSignShift), _mm256_set1_epi32(Bits::kSign));
    const __m256i code = _mm256_or_si256(_mm256_add_epi32(mantissa, binade), sign);
    return _mm256_blendv_epi8(code, _mm256_set1_epi32(Bits::kNan), nan);
}

/// The low bytes of 4 × 8 lanes, in order.
AMAXSCOPE_INLINE __m256i packBytes(const __m256i* lanes) {
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i low = _mm256_packus_epi32(lanes[0], lanes[1]);
    const __m256i high = _mm256_packus_epi32(lanes[2], lanes[3]);
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
}

/// BF16 codes of 8 elements, as 32-bit lanes.
AMAXSCOPE_INLINE __m256i bf16Of8(__m256 x) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i lastKeptBit = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), lastKeptBit);
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    return _mm256_blendv_epi8(_mm256_srli_epi32(rounded, 16), _mm256_set1_epi32(0x7FFF), nan);
}
