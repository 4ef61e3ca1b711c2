// Bodies of the RMSNorm kernels. Included once per instruction set, inside its region.

void rmsNormRow(const float* __restrict x, const float* __restrict gamma, float* __restrict y, std::int64_t d,
                float epsilon, float& rstd) {
    double squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t i = 0; i < d; ++i) squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    const double meanSquare = squares / static_cast<double>(d);
    const float rowRstd = static_cast<float>(1.0 / std::sqrt(meanSquare + static_cast<double>(epsilon)));

#pragma omp simd
    for (std::int64_t i = 0; i < d; ++i) y[i] = x[i] * rowRstd * gamma[i];
    rstd = rowRstd;
}

void rmsNormRowBackward(const float* __restrict dy, const float* __restrict x, const float* __restrict gamma,
                        float rstd, float* __restrict dx, float* __restrict dgamma, std::int64_t d) {
    double dot = 0;
#pragma omp simd reduction(+ : dot)
    for (std::int64_t i = 0; i < d; ++i) {
        const float normalised = x[i] * rstd;
        dot += static_cast<double>(dy[i] * gamma[i]) * static_cast<double>(normalised);
        dgamma[i] += dy[i] * normalised;
    }
    const float meanOfDot = static_cast<float>(dot / static_cast<double>(d));

#pragma omp simd
    for (std::int64_t i = 0; i < d; ++i) dx[i] += rstd * (dy[i] * gamma[i] - x[i] * rstd * meanOfDot);
}
