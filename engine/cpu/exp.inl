// A selection and e^x without branches, so that the loops that call them vectorise. Included once per instruction set,
// inside its region.

/// condition ? a : b by masks. g++ threads the plain form's paths through all that follows and blends every step again.
AMAXSCOPE_INLINE float select(bool condition, float a, float b) {
    const std::uint32_t all = 0U - static_cast<std::uint32_t>(condition);
    return __builtin_bit_cast(
        float, (__builtin_bit_cast(std::uint32_t, a) & all) | (__builtin_bit_cast(std::uint32_t, b) & ~all));
}

/// Relative error below 4e-7 down to the smallest normal result; below x = −87.68 the result is 0, above x = 88 it
/// stays e^88, NaN stays NaN. Splits x = n·ln2 + r with |r| ≤ ln2/2 and multiplies the polynomial in r by 2^n.
AMAXSCOPE_INLINE float expApprox(float x) {
    constexpr float kSmallest = -88.0F;  // n = −127 there: the exponent field becomes 0 and with it the result
    constexpr float kRoundToInteger = 12582912.0F;  // 1.5·2^23: adding it leaves the nearest integer in the low bits
    const float notTooSmall = select(x < kSmallest, kSmallest, x);
    const float limited = select(notTooSmall > 88.0F, 88.0F, notTooSmall);
    const float shifted = limited * 1.44269504F + kRoundToInteger;
    const float n = shifted - kRoundToInteger;
    // ln2 in two parts: n times the first is exact.
    const float r = (limited - n * 0.693359375F) + n * 2.12194440e-4F;
    float p = 1.3888889e-3F;
    p = p * r + 8.3333333e-3F;
    p = p * r + 4.1666667e-2F;
    p = p * r + 1.6666667e-1F;
    p = p * r + 0.5F;
    p = (p * r) * r + r;
    p = p + 1.0F;
    // The low bits of `shifted` hold n; moved into the exponent field with the bias they make 2^n.
    const std::uint32_t exponent = (__builtin_bit_cast(std::uint32_t, shifted) + 127U) << 23;
    return p * __builtin_bit_cast(float, exponent);
}
