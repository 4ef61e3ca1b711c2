// LayerNorm forward and backward at every instruction-set level against FP64 references.
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

constexpr float kEpsilon = 1e-5F;

struct Problem {
    std::vector<float> x, gamma, beta, dy;
};

/// Rows with a mean ten times their spread, which a one-pass variance would get wrong.
Problem makeProblem(std::size_t d, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    Problem p;
    for (std::size_t i = 0; i < d; ++i) {
        p.x.push_back(10.0F + normal(random));
        p.gamma.push_back(1.0F + 0.3F * normal(random));
        p.beta.push_back(0.5F * normal(random));
        p.dy.push_back(normal(random));
    }
    return p;
}

Row wide(const std::vector<float>& values) {
    return Row(values.begin(), values.end());
}

Row normalise(const Row& x, const Row& gamma, const Row& beta, double epsilon = static_cast<double>(kEpsilon)) {
    const double d = static_cast<double>(x.size());
    double mean = 0;
    for (const double value : x) mean += value / d;
    double variance = 0;
    for (const double value : x) variance += (value - mean) * (value - mean) / d;
    const double rstd = 1 / std::sqrt(variance + epsilon);
    Row y;
    for (std::size_t i = 0; i < x.size(); ++i) y.push_back((x[i] - mean) * rstd * gamma[i] + beta[i]);
    return y;
}

/// Σ dy·y: what the gradients below are the derivatives of.
double objective(const Problem& p, const Row& x, const Row& gamma, const Row& beta) {
    const Row y = normalise(x, gamma, beta);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * static_cast<double>(p.dy[i]);
    return sum;
}

class LayerNorm : public testing_support::IsaTest {};
INSTANTIATE_FOR_ALL_LEVELS(LayerNorm);

TEST_P(LayerNorm, rowMatchesTheDoubleReference) {
    for (const std::size_t d : {1U, 2U, 7U, 16U, 31U, 64U, 100U, 256U, 769U}) {
        const Problem p = makeProblem(d, 5);
        std::vector<float> y(d + 16, 77.0F);
        float mean = 0;
        float rstd = 0;
        cpu::layerNormRow(p.x.data(), p.gamma.data(), p.beta.data(), y.data(), static_cast<std::int64_t>(d), kEpsilon,
                          mean, rstd, isa());
        const Row expected = normalise(wide(p.x), wide(p.gamma), wide(p.beta));
        for (std::size_t i = 0; i < d; ++i) {
            ASSERT_NEAR(y[i], expected[i], tolerance("layerNorm, per element")) << "d " << d << " i " << i;
        }
        for (std::size_t i = d; i < y.size(); ++i) ASSERT_EQ(y[i], 77.0F) << "wrote past the row";
        EXPECT_NEAR(mean, 10, 4);
        EXPECT_TRUE(d == 1 || rstd > 0.3F);
    }
}

TEST_P(LayerNorm, constantRowBecomesBeta) {
    const std::vector<float> x(37, 3.0F);
    const std::vector<float> gamma(37, 2.0F);
    const std::vector<float> beta(37, 0.25F);
    std::vector<float> y(37);
    float mean = 0;
    float rstd = 0;
    cpu::layerNormRow(x.data(), gamma.data(), beta.data(), y.data(), 37, kEpsilon, mean, rstd, isa());
    EXPECT_EQ(mean, 3.0F);
    EXPECT_NEAR(rstd, 1 / std::sqrt(1e-5), 1e-3);
    for (const float value : y) EXPECT_EQ(value, 0.25F);
}

TEST_P(LayerNorm, epsilonIsTheOneThatTheCallerGives) {
    const Problem p = makeProblem(33, 8);
    const Row expected = normalise(wide(p.x), wide(p.gamma), wide(p.beta), 0.5);
    std::vector<float> y(33);
    float mean = 0;
    float rstd = 0;
    cpu::layerNormRow(p.x.data(), p.gamma.data(), p.beta.data(), y.data(), 33, 0.5F, mean, rstd, isa());
    for (std::size_t i = 0; i < 33; ++i) ASSERT_NEAR(y[i], expected[i], tolerance("layerNorm, per element")) << i;
}

TEST_P(LayerNorm, withoutBetaIsAsWithZerosAndLeavesNoGradientForIt) {
    for (const std::size_t d : {1U, 7U, 15U, 16U, 17U, 33U}) {
        const Problem p = makeProblem(d, 9);
        const std::int64_t n = static_cast<std::int64_t>(d);
        const std::vector<float> zeros(d);
        std::vector<float> y[] = {std::vector<float>(d), std::vector<float>(d)};
        float mean[2] = {};
        float rstd[2] = {};
        cpu::layerNormRow(p.x.data(), p.gamma.data(), zeros.data(), y[0].data(), n, kEpsilon, mean[0], rstd[0], isa());
        cpu::layerNormRow(p.x.data(), p.gamma.data(), nullptr, y[1].data(), n, kEpsilon, mean[1], rstd[1], isa());
        EXPECT_EQ(y[0], y[1]) << d;
        EXPECT_EQ(mean[0], mean[1]);
        EXPECT_EQ(rstd[0], rstd[1]);

        std::vector<float> dx[] = {std::vector<float>(d), std::vector<float>(d)};
        std::vector<float> dgamma[] = {std::vector<float>(d), std::vector<float>(d)};
        std::vector<float> dbeta(d);
        cpu::layerNormRowBackward(p.dy.data(), p.x.data(), p.gamma.data(), mean[0], rstd[0], dx[0].data(),
                                  dgamma[0].data(), dbeta.data(), n, isa());
        cpu::layerNormRowBackward(p.dy.data(), p.x.data(), p.gamma.data(), mean[0], rstd[0], dx[1].data(),
                                  dgamma[1].data(), nullptr, n, isa());
        EXPECT_EQ(dx[0], dx[1]) << d;
        EXPECT_EQ(dgamma[0], dgamma[1]) << d;
        EXPECT_EQ(dbeta, p.dy) << d;
    }
}

TEST_P(LayerNorm, nanSpreadsOverTheRow) {
    Problem p = makeProblem(40, 6);
    p.x[33] = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> y(40);
    float mean = 0;
    float rstd = 0;
    cpu::layerNormRow(p.x.data(), p.gamma.data(), p.beta.data(), y.data(), 40, kEpsilon, mean, rstd, isa());
    for (const float value : y) EXPECT_TRUE(std::isnan(value));
}

TEST_P(LayerNorm, backwardMatchesCentralDifferencesAndAddsToItsTargets) {
    for (const std::size_t d : {2U, 7U, 33U, 100U}) {
        const Problem p = makeProblem(d, 7);
        std::vector<float> y(d), dx(d, 1.0F), dgamma(d, 2.0F), dbeta(d, 3.0F);
        float mean = 0;
        float rstd = 0;
        const std::int64_t n = static_cast<std::int64_t>(d);
        cpu::layerNormRow(p.x.data(), p.gamma.data(), p.beta.data(), y.data(), n, kEpsilon, mean, rstd, isa());
        cpu::layerNormRowBackward(p.dy.data(), p.x.data(), p.gamma.data(), mean, rstd, dx.data(), dgamma.data(),
                                  dbeta.data(), n, isa());
        const Row values[] = {wide(p.x), wide(p.gamma), wide(p.beta)};
        const std::vector<float>* gradients[] = {&dx, &dgamma, &dbeta};
        for (std::size_t which = 0; which < 3; ++which) {
            for (std::size_t i = 0; i < d; ++i) {
                Row moved[] = {values[0], values[1], values[2]};
                const double h = 1e-5;
                moved[which][i] = values[which][i] + h;
                const double above = objective(p, moved[0], moved[1], moved[2]);
                moved[which][i] = values[which][i] - h;
                const double below = objective(p, moved[0], moved[1], moved[2]);
                const double before = 1.0 + static_cast<double>(which);
                ASSERT_NEAR((*gradients[which])[i], before + (above - below) / (2 * h),
                            tolerance("layerNormBackward, per element"))
                    << "d " << d << " gradient " << which << " i " << i;
            }
        }
    }
}

}  // namespace
