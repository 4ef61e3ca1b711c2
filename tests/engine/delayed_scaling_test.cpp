// Delayed scaling against numbers worked out by hand from Transformer Engine's rules (te-facts 1.3 and 8).
#include "src/recipes/delayed.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using engine::AmaxAlgo;
using engine::DelayedScaling;
using engine::Fp8Recipe;
using engine::scaleFromAmax;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

DelayedScaling scaling(int length, AmaxAlgo algo, int margin = 0, float formatMax = 448.0F) {
    Fp8Recipe recipe;
    recipe.amaxHistoryLen = length;
    recipe.amaxAlgo = algo;
    recipe.margin = margin;
    return DelayedScaling(recipe, {formatMax});
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
    DelayedScaling state = scaling(4, AmaxAlgo::Max, 1, 57344.0F);
    EXPECT_EQ(run(state, {4}), (std::vector<float>{7168}));
}

// cases.md D09: a window of 2 grown to 4 keeps its rows and is padded with zeros at the end, as Transformer Engine's
// adjust_amax_history_length does.
TEST(DelayedScaling, growsItsWindowWithZerosAtTheEnd) {
    DelayedScaling narrow = scaling(2, AmaxAlgo::Max);
    run(narrow, {3});
    ASSERT_EQ(historyOf(narrow), (std::vector<float>{0, 3}));
    DelayedScaling wide = scaling(4, AmaxAlgo::Max);
    wide.restore(narrow.state());
    EXPECT_EQ(historyOf(wide), (std::vector<float>{0, 3, 0, 0}));
    EXPECT_EQ(wide.scale(0), 448.0F / 3.0F) << "the scale itself is taken over";
    EXPECT_EQ(run(wide, {1.5F, 0.75F, 0.75F}),
              (std::vector<float>{448.0F / 3.0F, 448.0F / 1.5F, 448.0F / 1.5F}));
}

// By the same rule shrinking keeps the first rows: the live one and the oldest.
TEST(DelayedScaling, shrinksItsWindowToItsFirstRows) {
    DelayedScaling wide = scaling(4, AmaxAlgo::Max);
    run(wide, {7, 5, 2});
    ASSERT_EQ(historyOf(wide), (std::vector<float>{0, 7, 5, 2}));
    DelayedScaling narrow = scaling(2, AmaxAlgo::Max);
    narrow.restore(wide.state());
    EXPECT_EQ(historyOf(narrow), (std::vector<float>{0, 7}));
    EXPECT_EQ(run(narrow, {1, 1}), (std::vector<float>{64, 448}));
}

TEST(DelayedScaling, keepsTheSlotsApartWhenResized) {
    Fp8Recipe recipe;
    recipe.amaxHistoryLen = 2;
    DelayedScaling narrow(recipe, {448.0F, 57344.0F});
    narrow.record(0, 2);
    narrow.record(1, 8);
    narrow.update(0);
    narrow.update(1);
    recipe.amaxHistoryLen = 3;
    DelayedScaling wide(recipe, {448.0F, 57344.0F});
    wide.restore(narrow.state());
    EXPECT_EQ(wide.scale(0), 224.0F);
    EXPECT_EQ(wide.scale(1), 7168.0F);
    EXPECT_EQ(std::vector<float>(wide.history(1).begin(), wide.history(1).end()), (std::vector<float>{0, 8, 0}));
}

}  // namespace
