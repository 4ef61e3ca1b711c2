// Bodies of the activation kernels. Included once per instruction set, inside its region, after exp.inl.
//
// Each activation is a type with its value and its slope; inputs far out are limited to where the value has reached its
// limit, so that no ∞·0 arises. Comparisons are written so that NaN fails them and passes through.

AMAXSCOPE_INLINE float atLeast(float x, float low) {
    return select(x < low, low, x);
}
AMAXSCOPE_INLINE float atMost(float x, float high) {
    return select(x > high, high, x);
}

/// σ(z) from e = e^−|z|, which cannot overflow; σ'(z) = e/(1 + e)² keeps its accuracy where 1 − σ would cancel.
struct Sigmoid {
    float value;
    float slope;
};
AMAXSCOPE_INLINE Sigmoid sigmoid(float z) {
    const float e = expApprox(-__builtin_fabsf(z));
    const float inverse = 1.0F / (1.0F + e);
    return {(z < 0.0F ? e : 1.0F) * inverse, e * inverse * inverse};
}

/// 0.5·(1 + tanh u) is the sigmoid of 2u.
struct Gelu {
    static AMAXSCOPE_INLINE float value(float x) {
        const float from = atLeast(x, -kGeluFlat);
        const float twoU = 2.0F * kGeluA * (from + kGeluB * from * from * from);
        const float e = expApprox(-__builtin_fabsf(twoU));
        return from * ((twoU < 0.0F ? e : 1.0F) / (1.0F + e));
    }
    static AMAXSCOPE_INLINE float slope(float x, float& value) {
        const float notTooLow = atLeast(x, -kGeluFlat);
        const float from = atMost(notTooLow, kGeluFlat);
        const float squared = from * from;
        const Sigmoid s = sigmoid(2.0F * kGeluA * from * (1.0F + kGeluB * squared));
        value = notTooLow * s.value;
        return s.value + from * (2.0F * kGeluA * (1.0F + 3.0F * kGeluB * squared)) * s.slope;
    }
};

struct Relu {
    static AMAXSCOPE_INLINE float value(float x) { return x < 0.0F ? 0.0F : x; }
    static AMAXSCOPE_INLINE float slope(float x, float& value) {
        value = Relu::value(x);
        const float flatOrNan = x <= 0.0F ? 0.0F : x;
        return x > 0.0F ? 1.0F : flatOrNan;
    }
};

struct Silu {
    static AMAXSCOPE_INLINE float value(float x) {
        const float from = atLeast(x, -kSiluFlat);
        const float e = expApprox(-__builtin_fabsf(from));
        return from * ((from < 0.0F ? e : 1.0F) / (1.0F + e));
    }
    static AMAXSCOPE_INLINE float slope(float x, float& value) {
        const float notTooLow = atLeast(x, -kSiluFlat);
        const float from = atMost(notTooLow, kSiluFlat);
        const Sigmoid s = sigmoid(from);
        value = notTooLow * s.value;
        return s.value + from * s.slope;
    }
};

template <typename Act>
void activateWith(const float* __restrict x, float* __restrict y, std::int64_t n) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = Act::value(x[i]);
}

template <typename Act>
void activateGatedWith(const float* __restrict x, float* __restrict y, std::int64_t n) {
    const float* __restrict gate = x + n;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = Act::value(x[i]) * gate[i];
}

/// dx may be dy.
template <typename Act>
void activateBackwardWith(const float* __restrict x, const float* dy, float* dx, std::int64_t n) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
        float value;
        dx[i] = dy[i] * Act::slope(x[i], value);
    }
}

template <typename Act>
void activateGatedBackwardWith(const float* __restrict x, const float* __restrict dy, float* __restrict dx,
                               std::int64_t n) {
    const float* __restrict gate = x + n;
    float* __restrict dGate = dx + n;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
        float value;
        // Slope first: dy·gate may be beyond FP32 where the slope is 0.
        dx[i] = dy[i] * Act::slope(x[i], value) * gate[i];
        dGate[i] = dy[i] * value;
    }
}

void activate(Activation kind, const float* x, float* y, std::int64_t n) {
    switch (kind) {
        case Activation::Gelu:
            return activateWith<Gelu>(x, y, n);
        case Activation::Relu:
            return activateWith<Relu>(x, y, n);
        case Activation::Silu:
            return activateWith<Silu>(x, y, n);
        case Activation::GeGlu:
            return activateGatedWith<Gelu>(x, y, n);
        case Activation::ReGlu:
            return activateGatedWith<Relu>(x, y, n);
        case Activation::SwiGlu:
            return activateGatedWith<Silu>(x, y, n);
    }
}

void activateBackward(Activation kind, const float* x, const float* dy, float* dx, std::int64_t n) {
    switch (kind) {
        case Activation::Gelu:
            return activateBackwardWith<Gelu>(x, dy, dx, n);
        case Activation::Relu:
            return activateBackwardWith<Relu>(x, dy, dx, n);
        case Activation::Silu:
            return activateBackwardWith<Silu>(x, dy, dx, n);
        case Activation::GeGlu:
            return activateGatedBackwardWith<Gelu>(x, dy, dx, n);
        case Activation::ReGlu:
            return activateGatedBackwardWith<Relu>(x, dy, dx, n);
        case Activation::SwiGlu:
            return activateGatedBackwardWith<Silu>(x, dy, dx, n);
    }
}
