// Cross-entropy with its gradient at every instruction-set level against an FP64 reference.
#include "elementwise_tolerances.h"
#include "isa_levels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace {

using engine::cpu::crossEntropyRow;
using testing_support::tolerance;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> makeLogits(std::size_t n, float spread, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, spread);
    std::vector<float> logits(n);
    for (float& x : logits) x = normal(random);
    return logits;
}

std::vector<double> softmaxOf(const std::vector<float>& logits) {
    double largest = -std::numeric_limits<double>::infinity();
    for (const float x : logits) largest = std::max(largest, static_cast<double>(x));
    std::vector<double> result;
    for (const float x : logits) result.push_back(std::exp(static_cast<double>(x) - largest));
    const double sum = std::accumulate(result.begin(), result.end(), 0.0);
    for (double& value : result) value /= sum;
    return result;
}

class Loss : public testing_support::IsaTest {
protected:
    double run(std::vector<float>& logits, int target, float gradScale) const {
        return crossEntropyRow(logits.data(), static_cast<std::int64_t>(logits.size()), target, gradScale, isa());
    }
};
INSTANTIATE_FOR_ALL_LEVELS(Loss);

TEST_P(Loss, lossAndGradientMatchTheDoubleReference) {
    for (const std::size_t vocab : {1U, 2U, 15U, 16U, 33U, 256U, 1025U, 50257U}) {
        for (const float spread : {1.0F, 20.0F}) {
            std::vector<float> logits = makeLogits(vocab, spread, 8);
            const std::vector<double> p = softmaxOf(logits);
            const std::size_t target = vocab / 3;
            const double expected = -std::log(p[target]);
            const double loss = run(logits, static_cast<int>(target), 1.0F);
            SCOPED_TRACE("vocab " + std::to_string(vocab) + " spread " + std::to_string(spread));
            EXPECT_NEAR(loss, expected, tolerance("loss, relative") * std::max(1.0, expected));
            for (std::size_t i = 0; i < vocab; ++i) {
                const double gradient = p[i] - (i == target ? 1.0 : 0.0);
                ASSERT_NEAR(logits[i], gradient, tolerance("lossGradient, absolute")) << i;
            }
        }
    }
}

TEST_P(Loss, gradientIsScaled) {
    std::vector<float> once = makeLogits(50, 1, 9);
    std::vector<float> scaled = once;
    run(once, 7, 1.0F);
    run(scaled, 7, 0.125F);
    for (std::size_t i = 0; i < once.size(); ++i) {
        EXPECT_NEAR(scaled[i], 0.125F * once[i], tolerance("lossGradient, absolute") * 0.125);
    }
}

TEST_P(Loss, gradScaleZeroLeavesTheRowAloneAndGivesTheSameLoss) {
    const std::vector<float> before = makeLogits(1500, 3, 10);
    std::vector<float> row = before;
    const double validation = run(row, 1499, 0.0F);
    EXPECT_EQ(row, before);
    EXPECT_DOUBLE_EQ(validation, run(row, 1499, 1.0F));
}

TEST_P(Loss, hugeLogitsDoNotOverflow) {
    std::vector<float> logits(40, -1e4F);
    logits[3] = 1e4F;
    std::vector<float> wrong = logits;
    EXPECT_NEAR(run(logits, 3, 1.0F), 0.0, 1e-12);
    EXPECT_NEAR(run(wrong, 4, 1.0F), 2e4, 1e-2);
    EXPECT_EQ(wrong[3], 1.0F);
    EXPECT_EQ(wrong[4], -1.0F);
}

TEST_P(Loss, minusInfinityIsAnImpossibleTokenAndNanIsNotHidden) {
    std::vector<float> logits(20, 0.0F);
    logits[5] = -kInfinity;
    EXPECT_NEAR(run(logits, 0, 1.0F), std::log(19.0), tolerance("loss, relative") * 3);
    EXPECT_EQ(logits[5], 0.0F);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity}) {
        for (const std::size_t place : {0U, 17U, 35U}) {
            std::vector<float> row(36, 0.0F);
            row[place] = bad;
            EXPECT_FALSE(std::isfinite(run(row, 2, 1.0F))) << bad << " at " << place;
        }
    }
}

}  // namespace
