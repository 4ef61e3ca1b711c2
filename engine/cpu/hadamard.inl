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
}

void hadamard16Rows(const float* x, float* y, std::int64_t rows, std::int64_t cols) {
    for (std::int64_t row = 0; row < rows; row += kHadamardSize)
        for (std::int64_t col = 0; col < cols; col += kLanes) {
            const std::int64_t place = row * cols + col;
            Lanes v[kHadamardSize];
#pragma GCC unroll 16
            for (int i = 0; i < kHadamardSize; ++i) v[i] = loadFirst(x + place + i * cols, cols - col);
            transform16(v);
#pragma GCC unroll 16
            for (int i = 0; i < kHadamardSize; ++i)
                storeFirst(y + place + i * cols, product(v[i], lanesOf(kHadamardNorm)), cols - col);
        }
}
