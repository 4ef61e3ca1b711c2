// Delayed scaling against numbers worked out by hand from Transformer Engine's rules (te-facts 1.3 and 8).
#include "src/scaling.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using engine::AmaxAlgo;
using engine::DelayedScaling;
using engine::Fp8Format;
using engine::Fp8Recipe;
using engine::scaleFromAmax;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

DelayedScaling scaling(int length, AmaxAlgo algo, int margin = 0, Fp8Format format = Fp8Format::E4M3) {
    Fp8Recipe recipe;
    recipe.amaxHistoryLen = length;
    recipe.amaxAlgo = algo;
    recipe.margin = margin;
    return DelayedScaling(recipe, {format});
}

// Scales after each amax in turn.
std::vector<float> run(DelayedScaling& state, const std::vector<float>& amaxes) {
    std::vector<float> scales;
    for (float amax : amaxes) {
        state.record(0, amax);
        state.update(0);
        scales.push_back(state.scale(0));
    }
    return scales;
}

std::vector<float> historyOf(const DelayedScaling& state) {
    const auto history = state.history(0);
    return {history.begin(), history.end()};
}

TEST(ScaleFromAmax, isFormatMaxOverAmax) {
    EXPECT_EQ(scaleFromAmax(1.0F, 5.0F, 448.0F, 0), 448.0F);
    EXPECT_EQ(scaleFromAmax(1.0F, 5.0F, 57344.0F, 0), 57344.0F);
    EXPECT_EQ(scaleFromAmax(4.0F, 5.0F, 57344.0F, 0), 14336.0F);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(scaleFromAmax(3.0F, 5.0F, 448.0F, 0)), 0x43155555U);
    EXPECT_EQ(scaleFromAmax(448.0F, 5.0F, 448.0F, 0), 1.0F);
}

TEST(ScaleFromAmax, dividesByTwoToTheMargin) {
    EXPECT_EQ(scaleFromAmax(4.0F, 5.0F, 448.0F, 2), 28.0F);
}

TEST(ScaleFromAmax, keepsTheOldScaleForZeroInfinityAndNan) {
    for (float amax : {0.0F, kInf, kNan}) EXPECT_EQ(scaleFromAmax(amax, 5.0F, 448.0F, 0), 5.0F);
}

TEST(ScaleFromAmax, clampsToTheLargestFloat) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(scaleFromAmax(1e-38F, 5.0F, 448.0F, 0)), 0x7F7FFFFFU);
    EXPECT_LT(scaleFromAmax(1.3166e-36F, 5.0F, 448.0F, 0), std::numeric_limits<float>::max());
}

TEST(DelayedScaling, startsWithScaleOneAndAnEmptyHistory) {
    const DelayedScaling state = scaling(4, AmaxAlgo::Max);
    EXPECT_EQ(state.scale(0), 1.0F);
    EXPECT_EQ(historyOf(state), (std::vector<float>{0, 0, 0, 0}));
}

TEST(DelayedScaling, keepsTheMaximumOfTheWindow) {
    DelayedScaling state = scaling(4, AmaxAlgo::Max);
    EXPECT_EQ(run(state, {2, 8, 1, 1, 1}), (std::vector<float>{224, 56, 56, 56, 56}));
    EXPECT_EQ(historyOf(state), (std::vector<float>{0, 1, 1, 1})) << "the spike left, but still decided this update";
    EXPECT_EQ(run(state, {1}), (std::vector<float>{448}));
}

TEST(DelayedScaling, followsTheMostRecentValueWhenAsked) {
    DelayedScaling state = scaling(4, AmaxAlgo::MostRecent);
    EXPECT_EQ(run(state, {2, 8, 1, 1}), (std::vector<float>{224, 56, 448, 448}));
}

TEST(DelayedScaling, doesNotRollForAnAmaxOfZero) {
    DelayedScaling state = scaling(4, AmaxAlgo::Max);
    EXPECT_EQ(run(state, {3.5F, 0, 0, 1.75F}), (std::vector<float>{128, 128, 128, 128}));
    EXPECT_EQ(historyOf(state), (std::vector<float>{0, 0, 3.5F, 1.75F}));
}

TEST(DelayedScaling, holdsTheScaleWhileAnInfinityIsInTheWindow) {
    DelayedScaling state = scaling(3, AmaxAlgo::Max);
    EXPECT_EQ(run(state, {2, kInf, 3, 1.5F, 1.25F, 1}),
              (std::vector<float>{224, 224, 224, 224, 448.0F / 3.0F, 448.0F / 1.5F}));
}

TEST(DelayedScaling, leavesAnInfinityAtOnceWithMostRecent) {
    DelayedScaling state = scaling(3, AmaxAlgo::MostRecent);
    EXPECT_EQ(run(state, {2, kInf, 3, 1.5F, 1.25F, 1}),
              (std::vector<float>{224, 224, 448.0F / 3.0F, 448.0F / 1.5F, 448.0F / 1.25F, 448}));
}

TEST(DelayedScaling, keepsTheMaximumOfSeveralCastsBetweenUpdates) {
    DelayedScaling state = scaling(4, AmaxAlgo::Max);
    state.record(0, 2);
    state.record(0, 1);
    state.record(0, kNan);
    state.update(0);
    EXPECT_EQ(state.scale(0), 224.0F);
}

TEST(DelayedScaling, worksWithAHistoryOfOne) {
    for (AmaxAlgo algo : {AmaxAlgo::Max, AmaxAlgo::MostRecent}) {
        DelayedScaling state = scaling(1, algo);
        EXPECT_EQ(run(state, {2, 8, 1}), (std::vector<float>{224, 56, 448}));
        EXPECT_EQ(historyOf(state), (std::vector<float>{0}));
    }
}

TEST(DelayedScaling, usesTheRangeOfItsFormat) {
    DelayedScaling state = scaling(4, AmaxAlgo::Max, 1, Fp8Format::E5M2);
    EXPECT_EQ(run(state, {4}), (std::vector<float>{7168}));
}

}  // namespace
