// Body of the Hadamard transform, in the vector operations of block_lanes_*.inl. Included once per instruction set,
// inside its region. Sixteen rows of kLanes columns at a time, four rounds of sums and differences.

AMAXSCOPE_INLINE void transform16(Lanes* v) {
#pragma GCC unroll 16
    for (int i = 0; i < kHadamardSize; ++i) v[i] = product(v[i], lanesOf(kHadamardSigns[i]));
#pragma GCC unroll 4
    for (int half = 1; half < kHadamardSize; half *= 2)
#pragma GCC unroll 8
        for (int pair = 0; pair < kHadamardSize / 2; ++pair) {
            const int i = pair / half * 2 * half + pair % half;
            const Lanes first = v[i];
            const Lanes second = v[i + half];
            v[i] = first + second;
            v[i + half] = first - second;
        }
#pragma GCC unroll 16
    for (int i = 0; i < kHadamardSize; ++i) v[i] = product(v[i], lanesOf(kHadamardNorm));
}

void hadamard16Rows(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
    for (std::int64_t row = 0; row < rows; row += kHadamardSize)
        for (std::int64_t col = 0; col < cols; col += kLanes) {
            const float* source = x + row * cols + col;
            float* target = y + row * cols + col;
            const std::int64_t width = cols - col;
            Lanes v[kHadamardSize];
            if (width >= kLanes) {
#pragma GCC unroll 16
                for (int i = 0; i < kHadamardSize; ++i) v[i] = load(source + i * cols);
                transform16(v);
#pragma GCC unroll 16
                for (int i = 0; i < kHadamardSize; ++i) store(target + i * cols, v[i]);
            } else {
                for (int i = 0; i < kHadamardSize; ++i) v[i] = loadFirst(source + i * cols, width);
                transform16(v);
                for (int i = 0; i < kHadamardSize; ++i) storeFirst(target + i * cols, v[i], width);
            }
        }
}
