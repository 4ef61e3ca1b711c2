// Bodies of the LayerNorm kernels. Included once per instruction set, inside its region.

void layerNormRow(const float* __restrict x, const float* __restrict gamma, const float* __restrict beta,
                  float* __restrict y, std::int64_t d, float epsilon, float& mean, float& rstd) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < d; ++i) sum += x[i];
    const float rowMean = sum / static_cast<float>(d);

    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t i = 0; i < d; ++i) {
        const float centred = x[i] - rowMean;
        squares += centred * centred;
    }
    const float rowRstd = 1.0F / std::sqrt(squares / static_cast<float>(d) + epsilon);

    mean = rowMean;
    rstd = rowRstd;
    if (beta == nullptr) {
#pragma omp simd
        for (std::int64_t i = 0; i < d; ++i) y[i] = (x[i] - rowMean) * rowRstd * gamma[i];
        return;
    }
#pragma omp simd
    for (std::int64_t i = 0; i < d; ++i) y[i] = (x[i] - rowMean) * rowRstd * gamma[i] + beta[i];
}

void layerNormRowBackward(const float* __restrict dy, const float* __restrict x, const float* __restrict gamma,
                          float mean, float rstd, float* __restrict dx, float* __restrict dgamma,
                          float* __restrict dbeta, std::int64_t d) {
    float sum = 0;
    float dot = 0;
#pragma omp simd reduction(+ : sum, dot)
    for (std::int64_t i = 0; i < d; ++i) {
        const float normalised = (x[i] - mean) * rstd;
        const float weighted = dy[i] * gamma[i];
        sum += weighted;
        dot += weighted * normalised;
        dgamma[i] += dy[i] * normalised;
    }
    if (dbeta != nullptr) {
#pragma omp simd
        for (std::int64_t i = 0; i < d; ++i) dbeta[i] += dy[i];
    }
    const float meanOfSum = sum / static_cast<float>(d);
    const float meanOfDot = dot / static_cast<float>(d);

#pragma omp simd
    for (std::int64_t i = 0; i < d; ++i) {
        const float normalised = (x[i] - mean) * rstd;
        dx[i] += rstd * (dy[i] * gamma[i] - meanOfSum - normalised * meanOfDot);
    }
}
