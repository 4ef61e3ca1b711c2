// Bodies of the element-wise kernels. Included once per instruction set, inside its region.

void addTo(float* __restrict y, const float* __restrict x, std::int64_t n) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] += x[i];
}

void scaleBy(float* y, float factor, std::int64_t n) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] *= factor;
}

double sumOfSquares(const float* x, std::int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    return sum;
}

void expOf(const float* x, float* y, std::int64_t n) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = expApprox(x[i]);
}
