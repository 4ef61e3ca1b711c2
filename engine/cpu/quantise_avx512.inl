// AVX-512 rounding to narrow formats, lane by lane. Included inside an AVX-512 region, after quantise.h.

/// Magnitude codes of |y| as 32-bit lanes, and the value they stand for. |y| + 2^(e+23−M) rounds |y| to M mantissa
/// bits, to nearest even, by the FP adder itself; e is never below the smallest normal, which yields subnormals.
template <typename Bits>
AMAXSCOPE_INLINE __m512i quantise16(__m512 y, __m512& roundedMagnitude) {
    const __m512i bits = _mm512_castps_si512(y);
    const __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi32(0x7FFFFFFF));
    const __mmask16 nan = _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q);
    const __m512i clamped = _mm512_min_epu32(magnitude, _mm512_set1_epi32(Bits::kMaxBits));
    const __m512i smallest = _mm512_set1_epi32(Bits::kMinNormalBits);
    const __m512i exponent = _mm512_max_epu32(_mm512_and_si512(clamped, _mm512_set1_epi32(0x7F800000)), smallest);
    const __m512i magic = _mm512_add_epi32(exponent, _mm512_set1_epi32((23 - Bits::kMantissa) << 23));
    const __m512 sum = _mm512_add_ps(_mm512_castsi512_ps(clamped), _mm512_castsi512_ps(magic));
    roundedMagnitude = _mm512_sub_ps(sum, _mm512_castsi512_ps(magic));
    const __m512i mantissa = _mm512_sub_epi32(_mm512_castps_si512(sum), magic);
    const __m512i binade = _mm512_srli_epi32(_mm512_sub_epi32(exponent, smallest), 23 - Bits::kMantissa);
    const __m512i code = _mm512_add_epi32(mantissa, binade);
    const __m512i sign = _mm512_srli_epi32(bits, Bits::kSignShift);
    const __m512i withSign =
        _mm512_ternarylogic_epi32(code, sign, _mm512_set1_epi32(Bits::kSign), 0xF8);  // code | (sign & kSign)
    return _mm512_mask_mov_epi32(withSign, nan, _mm512_set1_epi32(Bits::kNan));
}

/// The low bytes of 4 × 16 lanes, in order.
AMAXSCOPE_INLINE __m512i packBytes(const __m512i* lanes) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i low = _mm512_packus_epi32(lanes[0], lanes[1]);
    const __m512i high = _mm512_packus_epi32(lanes[2], lanes[3]);
    return _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high));
}

AMAXSCOPE_INLINE __m256i bf16Of16(__m512 x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i lastKeptBit = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF)), lastKeptBit);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i high = _mm512_mask_mov_epi32(_mm512_srli_epi32(rounded, 16), nan, _mm512_set1_epi32(0x7FFF));
    return _mm512_cvtepi32_epi16(high);
}
