// Exponential, sums and scaling at every instruction-set level against FP64 references.
#include "elementwise_tolerances.h"
#include "isa_levels.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

namespace cpu = engine::cpu;
using testing_support::tolerance;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A grid over [low, high] whose length is no multiple of a vector.
std::vector<float> grid(double low, double high, int n) {
    std::vector<float> values;
    for (int i = 0; i < n; ++i) values.push_back(static_cast<float>(low + (high - low) * i / (n - 1)));
    return values;
}

std::int64_t sizeOf(const std::vector<float>& values) {
    return static_cast<std::int64_t>(values.size());
}

class Pointwise : public testing_support::IsaTest {
protected:
    std::vector<float> exp(const std::vector<float>& x) const {
        std::vector<float> y(x.size());
        cpu::expOf(x.data(), y.data(), sizeOf(x), isa());
        return y;
    }
};
INSTANTIATE_FOR_ALL_LEVELS(Pointwise);

TEST_P(Pointwise, exponentialIsAccurateDownToTheSmallestNormal) {
    std::vector<float> x = grid(-87.33, 10, 200003);
    const std::vector<float> nearZero = grid(-1e-3, 0, 1001);
    x.insert(x.end(), nearZero.begin(), nearZero.end());
    const std::vector<float> y = exp(x);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = std::exp(static_cast<double>(x[i]));
        worst = std::max(worst, std::fabs(static_cast<double>(y[i]) / exact - 1));
    }
    EXPECT_LT(worst, tolerance("exp, relative"));
    RecordProperty("worst", std::to_string(worst));
}

TEST_P(Pointwise, exponentialOfSpecialValues) {
    const std::vector<float> y = exp({-kInfinity, 0.0F, -0.0F, kNan, -kNan, -1000.0F, -FLT_MAX, -103.0F});
    EXPECT_EQ(y[0], 0.0F);
    EXPECT_EQ(y[1], 1.0F);
    EXPECT_EQ(y[2], 1.0F);
    EXPECT_TRUE(std::isnan(y[3]));
    EXPECT_TRUE(std::isnan(y[4]));
    EXPECT_EQ(y[5], 0.0F);
    EXPECT_EQ(y[6], 0.0F);
    EXPECT_LE(y[7], FLT_MIN) << "may be subnormal or zero";
}

TEST_P(Pointwise, addAndScaleAreExactAndStayInsideTheirRange) {
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    for (const std::size_t n : {0U, 1U, 7U, 16U, 31U, 32U, 101U}) {
        std::vector<float> y(n + 20);
        std::vector<float> x(n + 20);
        for (float& value : y) value = normal(random);
        for (float& value : x) value = normal(random);
        const std::vector<float> before = y;
        cpu::addTo(y.data(), x.data(), static_cast<std::int64_t>(n), isa());
        for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], i < n ? before[i] + x[i] : before[i]);
        y = before;
        cpu::scaleBy(y.data(), 0.3F, static_cast<std::int64_t>(n), isa());
        for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], i < n ? before[i] * 0.3F : before[i]);
    }
}

TEST_P(Pointwise, sumOfSquaresIsFormedInDoublePrecision) {
    std::mt19937 random(4);
    std::normal_distribution<float> normal(0, 1e-4F);
    for (const std::size_t n : {0U, 1U, 9U, 100003U}) {
        std::vector<float> x(n);
        for (float& value : x) value = normal(random);
        long double exact = 0;
        for (const float value : x) exact += static_cast<long double>(value) * static_cast<long double>(value);
        const double expected = static_cast<double>(exact);
        EXPECT_NEAR(cpu::sumOfSquares(x.data(), sizeOf(x), isa()), expected,
                    tolerance("sumOfSquares, relative") * expected);
    }
    const std::vector<float> huge(3, 1e30F);
    EXPECT_NEAR(cpu::sumOfSquares(huge.data(), 3, isa()), 3e60, 1e54) << "beyond the range of FP32";
}

}  // namespace
