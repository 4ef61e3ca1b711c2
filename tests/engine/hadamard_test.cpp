// The 16-point Hadamard transform: each of its columns by hand, orthonormality, and every instruction-set level against
// Ref bit for bit.
#include "cpu/block_cast.h"
#include "isa_levels.h"

#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace {

using engine::cpu::hadamard16Rows;
using engine::cpu::Isa;

constexpr int kSize = 16;
// Transformer Engine's wgrad sign vector (pytorch/tensor/nvfp4_tensor.py).
constexpr double kSigns[kSize] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};

class Hadamard : public testing_support::IsaTest {
protected:
    /// The matrix that the kernel multiplies by, from the images of the unit vectors.
    std::vector<float> matrix() const {
        std::vector<float> x(kSize * kSize, 0.0F);
        for (std::size_t i = 0; i < kSize; ++i) x[i * kSize + i] = 1;
        hadamard16Rows(x.data(), x.data(), kSize, kSize, isa());
        return x;
    }
};
INSTANTIATE_FOR_ALL_LEVELS(Hadamard);

TEST_P(Hadamard, matrixIsSylvestersWithTheSignsOfItsColumnsOverFour) {
    const std::vector<float> m = matrix();
    // First column, sign +: all 1/4. Fourth, sign −: rows 0 and 3 of each four are −1/4, 1 and 2 are +1/4.
    for (std::size_t i = 0; i < kSize; ++i) {
        EXPECT_EQ(m[i * kSize], 0.25F);
        EXPECT_EQ(m[i * kSize + 3], i % 4 == 0 || i % 4 == 3 ? -0.25F : 0.25F);
        for (std::size_t j = 0; j < kSize; ++j) {
            const double sylvester = std::popcount(i & j) % 2 == 0 ? 1 : -1;
            EXPECT_EQ(static_cast<double>(m[i * kSize + j]), sylvester * kSigns[j] / 4) << i << ',' << j;
        }
    }
    // Six signs are +, ten −: a column of ones has the first value (6 − 10)/4.
    std::vector<float> ones(kSize, 1.0F);
    hadamard16Rows(ones.data(), ones.data(), kSize, 1, isa());
    EXPECT_EQ(ones[0], -1.0F);
}

TEST_P(Hadamard, rowsAreOrthonormal) {
    const std::vector<float> m = matrix();
    for (std::size_t i = 0; i < kSize; ++i)
        for (std::size_t j = 0; j < kSize; ++j) {
            double product = 0;
            for (std::size_t k = 0; k < kSize; ++k) {
                product += static_cast<double>(m[i * kSize + k]) * static_cast<double>(m[j * kSize + k]);
            }
            EXPECT_EQ(product, i == j ? 1 : 0);
        }
}

TEST_P(Hadamard, sixteenRowsAtATimeAreTransformedAndProductsAlongThemKept) {
    constexpr std::size_t kRows = 48;
    constexpr std::size_t kCols = 37;
    std::mt19937 random(4);
    std::normal_distribution<float> normal(0, 3);
    std::vector<float> x(kRows * kCols);
    for (float& value : x) value = normal(random);
    std::vector<float> y(x.size());
    hadamard16Rows(x.data(), y.data(), kRows, kCols, isa());
    const std::vector<float> m = matrix();
    for (std::size_t r = 0; r < kRows; ++r)
        for (std::size_t c = 0; c < kCols; ++c) {
            double expected = 0;
            double size = 0;
            for (std::size_t k = 0; k < kSize; ++k) {
                const auto term = static_cast<double>(m[r % kSize * kSize + k]) *
                                  static_cast<double>(x[(r / kSize * kSize + k) * kCols + c]);
                expected += term;
                size += std::fabs(term);
            }
            // Four rounds of additions, each to half a unit in the last place.
            ASSERT_NEAR(static_cast<double>(y[r * kCols + c]), expected, 4 * 0x1p-24 * size);
        }
    // What wgrad relies on: transforming both operands does not change the sum over the rows.
    double before = 0;
    double after = 0;
    for (std::size_t r = 0; r < kRows; ++r) {
        before += static_cast<double>(x[r * kCols]) * static_cast<double>(x[r * kCols + 1]);
        after += static_cast<double>(y[r * kCols]) * static_cast<double>(y[r * kCols + 1]);
    }
    EXPECT_NEAR(after, before, 48 * 9 * 0x1p-20);
}

TEST_P(Hadamard, bitsAreThoseOfRefAtEveryWidthAndInPlace) {
    std::mt19937 random(5);
    std::normal_distribution<float> normal(0, 1);
    for (const std::int64_t cols : {1, 7, 8, 9, 16, 17, 33, 100}) {
        std::vector<float> x(static_cast<std::size_t>(32 * cols));
        for (float& value : x) value = std::ldexp(normal(random), static_cast<int>(random() % 40) - 20);
        x[0] = -0.0F;
        std::vector<float> expected(x.size());
        hadamard16Rows(x.data(), expected.data(), 32, cols, Isa::Ref);
        std::vector<float> actual(x.size() + 1, 7.0F);
        hadamard16Rows(x.data(), actual.data(), 32, cols, isa());
        EXPECT_EQ(actual.back(), 7.0F);
        actual.pop_back();
        EXPECT_EQ(actual, expected);
        hadamard16Rows(x.data(), x.data(), 32, cols, isa());
        EXPECT_EQ(x, expected);
    }
}

TEST(HadamardUse, takesSixteenRowsAtATime) {
    float x[20] = {};
    EXPECT_THROW(hadamard16Rows(x, x, 20, 1, Isa::Ref), std::logic_error);
    EXPECT_NO_THROW(hadamard16Rows(x, x, 0, 1, Isa::Ref));
}

}  // namespace
