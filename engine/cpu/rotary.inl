// Body of the rotation. Included once per instruction set, inside its region.

/// a and b are the halves of one head; sign −1 turns back.
AMAXSCOPE_INLINE void rotateHead(float* __restrict a, float* __restrict b, const float* __restrict cosines,
                                 const float* __restrict sines, std::int64_t half, float sign) {
#pragma omp simd
    for (std::int64_t i = 0; i < half; ++i) {
        const float first = a[i];
        const float second = b[i];
        const float sine = sign * sines[i];
        a[i] = first * cosines[i] - second * sine;
        b[i] = second * cosines[i] + first * sine;
    }
}

void rotateHeads(float* x, std::int64_t firstToken, std::int64_t lastToken, const RotaryArgs& args) {
    const std::int64_t half = args.headDim / 2;
    const float sign = args.inverse ? -1.0F : 1.0F;
    for (std::int64_t token = firstToken; token < lastToken; ++token) {
        const float* cosines = args.table + token % args.seqLen * args.headDim;
        float* row = x + token * args.rowStride;
        for (std::int64_t head = 0; head < args.heads; ++head) {
            float* a = row + head * args.headDim;
            rotateHead(a, a + half, cosines, cosines + half, half, sign);
        }
    }
}
