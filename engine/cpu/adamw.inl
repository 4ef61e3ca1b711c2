// Body of the AdamW kernel. Included once per instruction set, inside its region.

void adamW(float* __restrict w, const float* __restrict g, float* __restrict m, float* __restrict v, std::int64_t n,
           const AdamWArgs& args) {
    const AdamWArgs a = args;  // a copy: the compiler need not fear that w aliases it
    const float restOfBeta1 = 1.0F - a.beta1;
    const float restOfBeta2 = 1.0F - a.beta2;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
        const float gradient = g[i] * a.gradScale;
        const float first = a.beta1 * m[i] + restOfBeta1 * gradient;
        const float second = a.beta2 * v[i] + restOfBeta2 * gradient * gradient;
        m[i] = first;
        v[i] = second;
        const float update = first * a.correction1 / (std::sqrt(second * a.correction2) + a.epsilon);
        w[i] -= a.lr * (update + a.weightDecay * w[i]);
    }
}
