// Bodies of the element-wise kernels. Included once per instruction set, inside its region.

/// 1/(1 + e^−z), from e^−|z|, which cannot overflow.
AMAXSCOPE_INLINE float sigmoid(float z) {
    const float e = expApprox(-__builtin_fabsf(z));
    return (z < 0.0F ? e : 1.0F) / (1.0F + e);
}

void gelu(const float* __restrict x, float* __restrict y, std::int64_t n) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
        // 0.5·(1 + tanh u) is the sigmoid of 2u.
        const float twoU = 2.0F * kGeluA * (x[i] + kGeluB * x[i] * x[i] * x[i]);
        y[i] = x[i] * sigmoid(twoU);
    }
}

void geluBackward(const float* __restrict x, const float* __restrict dy, float* __restrict dx, std::int64_t n) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
        // Beyond ±√kGeluFlat the slope is 0 or 1; the limit keeps ∞·0 out of the products.
        const float zz = x[i] * x[i] > kGeluFlat ? kGeluFlat : x[i] * x[i];
        const float twoU = 2.0F * kGeluA * x[i] * (1.0F + kGeluB * zz);
        const float slope = 2.0F * kGeluA * (1.0F + 3.0F * kGeluB * zz);
        // sigmoid' = e/(1 + e)² keeps its accuracy where 1 − sigmoid would cancel.
        const float e = expApprox(-__builtin_fabsf(twoU));
        const float inverse = 1.0F / (1.0F + e);
        const float s = (twoU < 0.0F ? e : 1.0F) * inverse;
        dx[i] = dy[i] * (s + x[i] * slope * (e * inverse * inverse));
    }
}

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
