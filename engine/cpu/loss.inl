// Body of the cross-entropy kernel. Included once per instruction set, inside its region, after exp.inl.

/// NaN elements are passed over; the sum of exponentials brings them back. One maximum per lane, since compilers refuse
/// to reorder a single one.
float largestOf(const float* x, std::int64_t n) {
    constexpr std::int64_t kLanes = 16;
    float lanes[kLanes];
    for (float& lane : lanes) lane = -std::numeric_limits<float>::infinity();
    std::int64_t first = 0;
    for (; first + kLanes <= n; first += kLanes) {
#pragma omp simd
        for (std::int64_t i = 0; i < kLanes; ++i) lanes[i] = x[first + i] > lanes[i] ? x[first + i] : lanes[i];
    }
    for (; first < n; ++first) lanes[0] = x[first] > lanes[0] ? x[first] : lanes[0];
    float largest = lanes[0];
    for (const float lane : lanes) largest = lane > largest ? lane : largest;
    return largest;
}

double crossEntropyRow(float* logits, std::int64_t vocab, int target, float gradScale) {
    const float targetLogit = logits[target];
    const float largest = largestOf(logits, vocab);

    // FP32 within a block, FP64 over blocks: vector speed without the error of one long FP32 sum. Exponentials and
    // their sum are separate loops, because g++ vectorises only those for AVX2.
    float spare[kBlock];
    double sum = 0;
    for (std::int64_t first = 0; first < vocab; first += kBlock) {
        const std::int64_t n = vocab - first < kBlock ? vocab - first : kBlock;
        const float* from = logits + first;
        float* to = gradScale != 0.0F ? logits + first : spare;
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i) to[i] = expApprox(from[i] - largest);
        float blockSum = 0;
#pragma omp simd reduction(+ : blockSum)
        for (std::int64_t i = 0; i < n; ++i) blockSum += to[i];
        sum += static_cast<double>(blockSum);
    }
    if (gradScale != 0.0F) {
        const float factor = static_cast<float>(static_cast<double>(gradScale) / sum);
#pragma omp simd
        for (std::int64_t i = 0; i < vocab; ++i) logits[i] *= factor;
        logits[target] -= gradScale;
    }
    return std::log(sum) + (static_cast<double>(largest) - static_cast<double>(targetLogit));
}
