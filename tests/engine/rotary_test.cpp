// Rotary positions at every instruction-set level against complex multiplication in double.
#include "elementwise_tolerances.h"
#include "isa_levels.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

namespace cpu = engine::cpu;
using testing_support::tolerance;

constexpr double kTheta = 10000.0;

struct Shape {
    std::int64_t tokens, seqLen, heads, headDim, rest;  // `rest`: what follows the heads in a row

    std::int64_t stride() const { return heads * headDim + rest; }
    std::size_t size() const { return static_cast<std::size_t>(tokens * stride()); }
    std::size_t index(std::int64_t token, std::int64_t head, std::int64_t element) const {
        return static_cast<std::size_t>(token * stride() + head * headDim + element);
    }
};

// Halves of 1, 7, 8, 15, 16, 17, 32, 33 and 64; several sequences, one token, rows with and without a rest.
constexpr std::array kShapes{Shape{6, 3, 2, 2, 0},  Shape{10, 5, 3, 14, 7}, Shape{4, 4, 1, 16, 0},
                             Shape{8, 4, 2, 30, 5}, Shape{9, 3, 2, 32, 32}, Shape{2, 1, 2, 34, 1},
                             Shape{1, 1, 1, 64, 0}, Shape{14, 7, 2, 66, 3}, Shape{40, 20, 3, 128, 128}};

std::vector<float> normals(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(n);
    for (float& value : values) value = normal(random);
    return values;
}

std::vector<float> table(const Shape& s, double theta = kTheta) {
    std::vector<float> values(static_cast<std::size_t>(s.seqLen * s.headDim));
    cpu::rotaryTable(values.data(), s.seqLen, s.headDim, theta);
    return values;
}

/// The pair (element i, element i + headDim/2) as a complex number.
std::complex<double> pairOf(const Shape& s, const std::vector<float>& x, std::int64_t token, std::int64_t head,
                            std::int64_t i) {
    return {static_cast<double>(x[s.index(token, head, i)]),
            static_cast<double>(x[s.index(token, head, i + s.headDim / 2)])};
}

template <typename Body>
void forEachPair(const Shape& s, const Body& body) {
    for (std::int64_t token = 0; token < s.tokens; ++token)
        for (std::int64_t head = 0; head < s.heads; ++head)
            for (std::int64_t i = 0; i < s.headDim / 2; ++i) body(token, head, i);
}

class Rotary : public testing_support::IsaTest {
protected:
    void rotate(const Shape& s, std::vector<float>& x, const std::vector<float>& cosSin, bool inverse = false) const {
        rotate(s, x, cosSin, inverse, 0, s.tokens);
    }
    void rotate(const Shape& s, std::vector<float>& x, const std::vector<float>& cosSin, bool inverse,
                std::int64_t first, std::int64_t last) const {
        cpu::rotateHeads(x.data(), first, last, {s.seqLen, s.stride(), s.heads, s.headDim, cosSin.data(), inverse},
                         isa());
    }
};
INSTANTIATE_FOR_ALL_LEVELS(Rotary);

TEST(RotaryTable, holdsCosinesThenSinesOfEachPosition) {
    // headDim 4, theta 100: frequencies 1 and 100^(−1/2) = 0.1. Cosines and sines from a table of values.
    std::vector<float> values(3 * 4);
    cpu::rotaryTable(values.data(), 3, 4, 100.0);
    const std::vector<float> expected{1.0F,          1.0F,         0.0F,         0.0F,           //
                                      0.540302306F,  0.995004165F, 0.841470985F, 0.0998334166F,  //
                                      -0.416146837F, 0.980066578F, 0.909297427F, 0.198669331F};
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_FLOAT_EQ(values[i], expected[i]) << i;
}

TEST(RotaryTable, isExactToHalfAnUlpFarOut) {
    // The last of 131072 positions: an angle formed in FP32 would be off by 0.004.
    const Shape s{1, 131072, 1, 8, 0};
    const std::vector<float> values = table(s, 500000.0);
    for (std::int64_t i = 0; i < 4; ++i) {
        const double angle = 131071.0 / std::pow(std::pow(500000.0, 0.25), static_cast<double>(i));
        const std::size_t at = static_cast<std::size_t>(131071 * 8 + i);
        EXPECT_NEAR(values[at], std::cos(angle), 1e-7) << i;
        EXPECT_NEAR(values[at + 4], std::sin(angle), 1e-7) << i;
    }
}

TEST(RotaryTable, aHeadOfOddSizeIsAMistakeOfTheCaller) {
    std::vector<float> values(64);
    EXPECT_THROW(cpu::rotaryTable(values.data(), 2, 5, kTheta), std::logic_error);
    EXPECT_THROW(cpu::rotaryTable(values.data(), 2, 0, kTheta), std::logic_error);
    EXPECT_THROW(cpu::rotateHeads(values.data(), 0, 2, {2, 5, 1, 5, values.data(), false}, cpu::Isa::Ref),
                 std::logic_error);
}

TEST_P(Rotary, turnsEachPairByItsAngleAndTouchesNothingElse) {
    for (const Shape& s : kShapes) {
        const std::vector<float> before = normals(s.size(), 50);
        for (const bool inverse : {false, true}) {
            std::vector<float> x = before;
            rotate(s, x, table(s), inverse);
            forEachPair(s, [&](std::int64_t token, std::int64_t head, std::int64_t i) {
                const double position = static_cast<double>(token % s.seqLen);
                const double angle =
                    position * std::pow(kTheta, -2.0 * static_cast<double>(i) / static_cast<double>(s.headDim));
                const std::complex<double> from = pairOf(s, before, token, head, i);
                const std::complex<double> expected = from * std::polar(1.0, inverse ? -angle : angle);
                ASSERT_LE(std::abs(pairOf(s, x, token, head, i) - expected),
                          tolerance("rotary, per length of the pair") * std::abs(from))
                    << "headDim " << s.headDim << " token " << token << " i " << i;
            });
            for (std::int64_t token = 0; token < s.tokens; ++token)
                for (std::int64_t i = 0; i < s.rest; ++i)
                    ASSERT_EQ(x[s.index(token, s.heads, i)], before[s.index(token, s.heads, i)]) << s.headDim;
        }
    }
}

TEST_P(Rotary, positionZeroChangesNoValue) {
    const Shape s{4, 1, 2, 34, 3};
    const std::vector<float> before = normals(s.size(), 51);
    std::vector<float> x = before;
    rotate(s, x, table(s));
    EXPECT_EQ(x, before);
}

TEST_P(Rotary, productsOfQueriesAndKeysDependOnTheDistanceOnly) {
    // The same q at positions 3 and 13, the same k at 1 and 11.
    const Shape s{20, 20, 1, 64, 0};
    const std::vector<float> q = normals(64, 52);
    const std::vector<float> k = normals(64, 53);
    const auto at = [&](const std::vector<float>& vector, std::int64_t position) {
        std::vector<float> x(s.size());
        std::copy(vector.begin(), vector.end(), x.begin() + static_cast<std::ptrdiff_t>(s.index(position, 0, 0)));
        rotate(s, x, table(s));
        const auto first = x.begin() + static_cast<std::ptrdiff_t>(s.index(position, 0, 0));
        return std::vector<float>(first, first + 64);
    };
    const auto product = [](const std::vector<float>& a, const std::vector<float>& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
        return sum;
    };
    // 64 products of about one, each to a few 1e-7.
    EXPECT_NEAR(product(at(q, 3), at(k, 1)), product(at(q, 13), at(k, 11)), 1e-5);
    EXPECT_GT(std::fabs(product(at(q, 3), at(k, 1)) - product(at(q, 4), at(k, 1))), 1e-2) << "a test of nothing";
}

TEST_P(Rotary, theInverseIsTheGradient) {
    // Objective Σ dy·rotate(x): linear in x, so that a difference quotient of any step is exact but for roundings.
    const Shape s{6, 3, 2, 14, 2};
    const std::vector<float> dy = normals(s.size(), 54);
    std::vector<float> dx = dy;
    rotate(s, dx, table(s), true);
    const auto objective = [&](std::int64_t token, std::int64_t head, std::int64_t i, std::complex<double> pair) {
        const double position = static_cast<double>(token % s.seqLen);
        const double angle =
            position * std::pow(kTheta, -2.0 * static_cast<double>(i) / static_cast<double>(s.headDim));
        const std::complex<double> turned = pair * std::polar(1.0, angle);
        const std::complex<double> gradient = pairOf(s, dy, token, head, i);
        return turned.real() * gradient.real() + turned.imag() * gradient.imag();
    };
    forEachPair(s, [&](std::int64_t token, std::int64_t head, std::int64_t i) {
        const std::complex<double> at(0.3, -0.7);
        const double h = 1e-3;
        const std::complex<double> got = pairOf(s, dx, token, head, i);
        ASSERT_NEAR(got.real(), (objective(token, head, i, at + h) - objective(token, head, i, at - h)) / (2 * h),
                    2e-6);
        const std::complex<double> up(0, h);
        ASSERT_NEAR(got.imag(), (objective(token, head, i, at + up) - objective(token, head, i, at - up)) / (2 * h),
                    2e-6);
    });
}

TEST_P(Rotary, partsOfTheTokensGiveTheBitsOfTheWhole) {
    // Parts that begin and end inside a sequence, as a thread pool cuts them.
    for (const Shape& s : kShapes) {
        std::vector<float> whole = normals(s.size(), 55);
        std::vector<float> parts = whole;
        rotate(s, whole, table(s));
        const std::int64_t cut = s.tokens * 2 / 5;
        rotate(s, parts, table(s), false, 0, cut);
        rotate(s, parts, table(s), false, cut, cut);
        rotate(s, parts, table(s), false, cut, s.tokens);
        EXPECT_EQ(whole, parts) << s.headDim;
    }
}

TEST_P(Rotary, nanStaysInItsPair) {
    const Shape s{3, 3, 1, 34, 0};
    std::vector<float> x = normals(s.size(), 56);
    x[s.index(2, 0, 5)] = std::numeric_limits<float>::quiet_NaN();
    rotate(s, x, table(s));
    for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_EQ(std::isnan(x[i]), i == s.index(2, 0, 5) || i == s.index(2, 0, 22)) << i;
}

}  // namespace
