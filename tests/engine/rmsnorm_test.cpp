// RMSNorm forward and backward at every instruction-set level against FP64 references.
#include "elementwise_tolerances.h"
#include "isa_levels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

namespace cpu = engine::cpu;
using testing_support::tolerance;

using Row = std::vector<double>;

constexpr float kEpsilon = 1e-3F;  // large enough to be seen in every row below
constexpr float kGuard = 77.0F;    // follows each output: a write past the end changes it

struct Problem {
    std::vector<float> x, gamma, dy;
};

Problem makeProblem(std::size_t d, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    Problem p;
    for (std::size_t i = 0; i < d; ++i) {
        p.x.push_back(0.5F + normal(random));
        p.gamma.push_back(1.0F + 0.3F * normal(random));
        p.dy.push_back(normal(random));
    }
    return p;
}

Row wide(const std::vector<float>& values) {
    return Row(values.begin(), values.end());
}

double rstdOf(const Row& x, double epsilon) {
    double squares = 0;
    for (const double value : x) squares += value * value;
    return 1 / std::sqrt(squares / static_cast<double>(x.size()) + epsilon);
}

Row normalise(const Row& x, const Row& gamma, double epsilon) {
    const double rstd = rstdOf(x, epsilon);
    Row y;
    for (std::size_t i = 0; i < x.size(); ++i) y.push_back(x[i] * rstd * gamma[i]);
    return y;
}

/// Σ dy·y: what the gradients below are the derivatives of.
double objective(const Problem& p, const Row& x, const Row& gamma) {
    const Row y = normalise(x, gamma, static_cast<double>(kEpsilon));
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * static_cast<double>(p.dy[i]);
    return sum;
}

class RmsNorm : public testing_support::IsaTest {
protected:
    std::vector<float> forward(const std::vector<float>& x, const std::vector<float>& gamma, float epsilon,
                               float& rstd) const {
        std::vector<float> y(x.size() + 16, kGuard);
        cpu::rmsNormRow(x.data(), gamma.data(), y.data(), static_cast<std::int64_t>(x.size()), epsilon, rstd, isa());
        for (std::size_t i = x.size(); i < y.size(); ++i) EXPECT_EQ(y[i], kGuard) << "wrote past the row";
        y.resize(x.size());
        return y;
    }
    void expectRow(const std::vector<float>& x, const std::vector<float>& gamma, float epsilon) const {
        float rstd = 0;
        const std::vector<float> y = forward(x, gamma, epsilon, rstd);
        const Row expected = normalise(wide(x), wide(gamma), static_cast<double>(epsilon));
        const double relative = tolerance("rmsNorm, relative");
        for (std::size_t i = 0; i < x.size(); ++i)
            ASSERT_NEAR(y[i], expected[i], relative * std::fabs(expected[i])) << "d " << x.size() << " i " << i;
        const double expectedRstd = rstdOf(wide(x), static_cast<double>(epsilon));
        ASSERT_NEAR(rstd, expectedRstd, relative * expectedRstd);
    }
};
INSTANTIATE_FOR_ALL_LEVELS(RmsNorm);

TEST_P(RmsNorm, rowMatchesTheDoubleReference) {
    for (const std::size_t d : {1U, 2U, 7U, 8U, 15U, 16U, 17U, 31U, 33U, 64U, 100U, 769U, 4096U}) {
        const Problem p = makeProblem(d, 5);
        expectRow(p.x, p.gamma, kEpsilon);
    }
}

TEST_P(RmsNorm, squaresBeyondTheRangeOfFp32DoNoHarm) {
    const Problem p = makeProblem(100, 8);
    for (const float factor : {1e30F, 1e-30F}) {
        std::vector<float> x = p.x;
        for (float& value : x) value *= factor;
        expectRow(x, p.gamma, 0.0F);
    }
}

TEST_P(RmsNorm, rowOfZerosStaysZero) {
    float rstd = 0;
    for (const float value : forward(std::vector<float>(37), std::vector<float>(37, 2.0F), 1e-5F, rstd))
        EXPECT_EQ(value, 0.0F);
    EXPECT_NEAR(rstd, 1 / std::sqrt(1e-5), 1e-4);
}

TEST_P(RmsNorm, nanSpreadsOverTheRow) {
    Problem p = makeProblem(40, 6);
    p.x[33] = std::numeric_limits<float>::quiet_NaN();
    float rstd = 0;
    for (const float value : forward(p.x, p.gamma, kEpsilon, rstd)) EXPECT_TRUE(std::isnan(value));
}

TEST_P(RmsNorm, backwardMatchesCentralDifferencesAndAddsToItsTargets) {
    for (const std::size_t d : {1U, 2U, 7U, 15U, 16U, 17U, 33U, 100U}) {
        const Problem p = makeProblem(d, 7);
        const std::int64_t n = static_cast<std::int64_t>(d);
        float rstd = 0;
        forward(p.x, p.gamma, kEpsilon, rstd);
        std::vector<float> gradients[] = {std::vector<float>(d + 16, 1.0F), std::vector<float>(d + 16, 2.0F)};
        cpu::rmsNormRowBackward(p.dy.data(), p.x.data(), p.gamma.data(), rstd, gradients[0].data(), gradients[1].data(),
                                n, isa());
        for (std::size_t which = 0; which < 2; ++which) {
            const double before = 1.0 + static_cast<double>(which);
            for (std::size_t i = 0; i < d; ++i) {
                Row moved[] = {wide(p.x), wide(p.gamma)};
                const double h = 1e-5;
                const double value = moved[which][i];
                moved[which][i] = value + h;
                const double above = objective(p, moved[0], moved[1]);
                moved[which][i] = value - h;
                const double below = objective(p, moved[0], moved[1]);
                ASSERT_NEAR(gradients[which][i], before + (above - below) / (2 * h),
                            tolerance("rmsNormBackward, per element"))
                    << "d " << d << " gradient " << which << " i " << i;
            }
            for (std::size_t i = d; i < d + 16; ++i) ASSERT_EQ(gradients[which][i], static_cast<float>(before));
        }
    }
}

}  // namespace
