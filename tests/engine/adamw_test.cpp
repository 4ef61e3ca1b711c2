// AdamW at every instruction-set level against an FP64 reference over several steps.
#include "elementwise_tolerances.h"
#include "isa_levels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace {

using engine::cpu::adamW;
using engine::cpu::AdamWArgs;
using testing_support::tolerance;

AdamWArgs argsOfStep(int t, float gradScale, float weightDecay) {
    const double beta1 = 0.9;
    const double beta2 = 0.95;
    return {.lr = 1e-2F,
            .beta1 = 0.9F,
            .beta2 = 0.95F,
            .epsilon = 1e-8F,
            .weightDecay = weightDecay,
            .correction1 = static_cast<float>(1 / (1 - std::pow(beta1, t))),
            .correction2 = static_cast<float>(1 / (1 - std::pow(beta2, t))),
            .gradScale = gradScale};
}

class AdamW : public testing_support::IsaTest {};
INSTANTIATE_FOR_ALL_LEVELS(AdamW);

TEST_P(AdamW, fiveStepsMatchTheDoubleReference) {
    for (const std::size_t n : {1U, 7U, 16U, 33U, 1001U}) {
        std::mt19937 random(11);
        std::normal_distribution<float> normal;
        std::vector<float> w(n), m(n, 0.0F), v(n, 0.0F), g(n);
        for (float& x : w) x = normal(random);
        std::vector<double> wide(w.begin(), w.end()), first(n, 0.0), second(n, 0.0);
        for (int t = 1; t <= 5; ++t) {
            for (float& x : g) x = normal(random);
            adamW(w.data(), g.data(), m.data(), v.data(), static_cast<std::int64_t>(n), argsOfStep(t, 0.5F, 0.1F),
                  isa());
            for (std::size_t i = 0; i < n; ++i) {
                const double gradient = 0.5 * static_cast<double>(g[i]);
                first[i] = 0.9 * first[i] + 0.1 * gradient;
                second[i] = 0.95 * second[i] + 0.05 * gradient * gradient;
                const double firstUnbiased = first[i] / (1 - std::pow(0.9, t));
                const double secondUnbiased = second[i] / (1 - std::pow(0.95, t));
                wide[i] -= 1e-2 * (firstUnbiased / (std::sqrt(secondUnbiased) + 1e-8) + 0.1 * wide[i]);
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double bound = tolerance("adamW, per max(1,|w|)") * std::max(1.0, std::fabs(wide[i]));
            ASSERT_NEAR(w[i], wide[i], bound) << "n " << n << " i " << i;
            ASSERT_NEAR(m[i], first[i], bound);
            ASSERT_NEAR(v[i], second[i], bound);
        }
    }
}

TEST_P(AdamW, weightDecayIsDecoupledFromTheGradient) {
    std::vector<float> w(20, 2.0F), g(20, 0.0F), m(20, 0.0F), v(20, 0.0F);
    adamW(w.data(), g.data(), m.data(), v.data(), 20, argsOfStep(1, 1.0F, 0.5F), isa());
    for (const float x : w) EXPECT_FLOAT_EQ(x, 2.0F - 1e-2F * 0.5F * 2.0F);
    for (const float x : v) EXPECT_EQ(x, 0.0F);
}

TEST_P(AdamW, firstStepMovesByTheLearningRateWhateverTheGradientsSize) {
    std::vector<float> w(18, 1.0F), g(18), m(18, 0.0F), v(18, 0.0F);
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = i % 2 == 0 ? 1e-3F : -1e3F;
    adamW(w.data(), g.data(), m.data(), v.data(), 18, argsOfStep(1, 1.0F, 0.0F), isa());
    for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(w[i], i % 2 == 0 ? 0.99 : 1.01, 1e-6);
}

TEST_P(AdamW, touchesNothingBeyondItsRange) {
    std::vector<float> w(40, 1.0F), g(40, 1.0F), m(40, 0.5F), v(40, 0.5F);
    adamW(w.data(), g.data(), m.data(), v.data(), 19, argsOfStep(3, 1.0F, 0.1F), isa());
    for (std::size_t i = 0; i < 40; ++i) {
        EXPECT_EQ(w[i] == 1.0F, i >= 19) << i;
        EXPECT_EQ(m[i] == 0.5F, i >= 19) << i;
        EXPECT_EQ(v[i] == 0.5F, i >= 19) << i;
    }
}

}  // namespace
