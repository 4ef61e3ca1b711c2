// The derived numbers against values worked out by hand.
#include "profiling/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace profiling;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

SnapshotRow snapshotOf(double amax, double scale) {
    return {0, amax, scale, 5, 25, 0, 0, 100, 0.25, 25.0};
}

}  // namespace

TEST(Metrics, formatsHaveTheirLimits) {
    EXPECT_EQ(formatMax("E4M3"), 448.0);
    EXPECT_EQ(formatMax("E5M2"), 57344.0);
    EXPECT_EQ(formatMinNormal("E4M3"), 0.015625);
    EXPECT_EQ(formatMinNormal("E5M2"), 0x1p-14);
    EXPECT_EQ(formatMinSubnormal("E4M3"), 0x1p-9);
    EXPECT_EQ(formatMinSubnormal("E5M2"), 0x1p-16);
    // The values of E2M1 are 0, 0.5, 1, 1.5, 2, 3, 4 and 6.
    EXPECT_EQ(formatMax("E2M1"), 6.0);
    EXPECT_EQ(formatMinNormal("E2M1"), 1.0);
    EXPECT_EQ(formatMinSubnormal("E2M1"), 0.5);
    for (const char* wide : {"BF16", "FP32"}) {
        EXPECT_TRUE(std::isnan(formatMax(wide)));
        EXPECT_TRUE(std::isnan(formatMinNormal(wide)));
        EXPECT_TRUE(std::isnan(formatMinSubnormal(wide)));
    }
    EXPECT_THROW(formatMax("E3M4"), Error);
}

TEST(Metrics, headroomIsInBitsAndNegativeWhenSaturated) {
    EXPECT_DOUBLE_EQ(headroomBits(snapshotOf(7.0, 16.0), "E4M3"), 2.0);
    EXPECT_DOUBLE_EQ(headroomBits(snapshotOf(896.0, 1.0), "E4M3"), -1.0);
    EXPECT_DOUBLE_EQ(headroomBits(snapshotOf(28672.0, 1.0), "E5M2"), 1.0);
    EXPECT_EQ(headroomBits(snapshotOf(0.0, 1.0), "E4M3"), kInfinity);
    EXPECT_EQ(headroomBits(snapshotOf(kInfinity, 1.0), "E4M3"), -kInfinity);
    EXPECT_TRUE(std::isnan(headroomBits(snapshotOf(kNaN, 1.0), "E4M3")));
}

TEST(Metrics, headroomOfBlockRecipesIsThatOfTheBlockWithTheLargestAmax) {
    // MXFP8: amax 447 gives 2^0 and amax 449 gives 2^1 as the block's factor (te-facts 8), so scales 1 and 1/2.
    EXPECT_DOUBLE_EQ(headroomBits(snapshotOf(447.0, 1.0), "E4M3"), std::log2(448.0 / 447.0));
    EXPECT_DOUBLE_EQ(headroomBits(snapshotOf(449.0, 0.5), "E4M3"), std::log2(896.0 / 449.0));
    EXPECT_DOUBLE_EQ(headroomBits(snapshotOf(3.0, 2.0), "E2M1"), 0.0);
    EXPECT_DOUBLE_EQ(headroomBits(snapshotOf(3.0, 1.0), "E2M1"), 1.0);
    EXPECT_DOUBLE_EQ(staleFactor(snapshotOf(449.0, 0.5), "E4M3", 0), 449.0 / 896.0);
}

TEST(Metrics, aTensorThatWasNotCastHasOnlyItsRange) {
    SnapshotRow snapshot = snapshotOf(4.0, kNaN);
    snapshot.smallest = 0.25;
    EXPECT_FALSE(isCast(snapshot));
    EXPECT_TRUE(isCast(snapshotOf(4.0, 1.0)));
    // A tensor of an FP8 run that the guard took out of FP8 keeps its format.
    for (const char* format : {"FP32", "BF16", "E4M3"}) {
        EXPECT_TRUE(std::isnan(headroomBits(snapshot, format))) << format;
        EXPECT_TRUE(std::isnan(staleFactor(snapshot, format, 0))) << format;
    }
    snapshot.amax = 0;
    EXPECT_TRUE(std::isnan(headroomBits(snapshot, "FP32")));
    EXPECT_TRUE(std::isnan(headroomBits(snapshot, "E4M3")));
    snapshot.amax = 4;
    EXPECT_TRUE(std::isnan(saturatedShare(snapshot)));
    EXPECT_TRUE(std::isnan(underflowedShare(snapshot)));
    EXPECT_TRUE(std::isnan(sqnrDb(snapshot)));
    EXPECT_DOUBLE_EQ(dynamicRangeBits(snapshot), 4.0);
}

TEST(Metrics, dynamicRangeIsInBitsBetweenTheLargestAndTheSmallestElement) {
    SnapshotRow snapshot = snapshotOf(448.0, 1.0);
    EXPECT_TRUE(std::isnan(dynamicRangeBits(snapshot))) << "not looked for";
    snapshot.smallest = 0x1p-149;
    EXPECT_DOUBLE_EQ(dynamicRangeBits(snapshot), std::log2(448.0) + 149);
    snapshot.smallest = 448.0;
    EXPECT_DOUBLE_EQ(dynamicRangeBits(snapshot), 0.0);
    snapshot.amax = kInfinity;
    EXPECT_EQ(dynamicRangeBits(snapshot), kInfinity);
    snapshot.amax = kNaN;
    EXPECT_TRUE(std::isnan(dynamicRangeBits(snapshot)));
}

TEST(Metrics, sharesAreOfAllElements) {
    EXPECT_DOUBLE_EQ(saturatedShare(snapshotOf(1, 1)), 0.05);
    EXPECT_DOUBLE_EQ(underflowedShare(snapshotOf(1, 1)), 0.25);
}

TEST(Metrics, sqnrIsInDecibels) {
    SnapshotRow snapshot = snapshotOf(1, 1);
    EXPECT_DOUBLE_EQ(sqnrDb(snapshot), 20.0);
    snapshot.sqError = 0;
    EXPECT_EQ(sqnrDb(snapshot), kInfinity);
    snapshot.sqSignal = 0;
    EXPECT_TRUE(std::isnan(sqnrDb(snapshot)));
}

TEST(Metrics, staleFactorComparesTheUsedScaleWithTheFreshOne) {
    EXPECT_DOUBLE_EQ(staleFactor(snapshotOf(7.0, 64.0), "E4M3", 0), 1.0);
    EXPECT_DOUBLE_EQ(staleFactor(snapshotOf(7.0, 128.0), "E4M3", 0), 2.0);
    EXPECT_DOUBLE_EQ(staleFactor(snapshotOf(7.0, 64.0), "E4M3", 2), 4.0);
    EXPECT_TRUE(std::isnan(staleFactor(snapshotOf(0.0, 64.0), "E4M3", 0)));
    EXPECT_TRUE(std::isnan(staleFactor(snapshotOf(kInfinity, 64.0), "E4M3", 0)));
}

TEST(Metrics, tokensPerSecondUsesTheWholeStep) {
    StepRow step{};
    step.tokens = 1024;
    step.durationNs = 50'000'000;
    EXPECT_DOUBLE_EQ(tokensPerSecond(step), 20480.0);
    step.durationNs = 0;
    EXPECT_EQ(tokensPerSecond(step), 0.0);
}

TEST(Metrics, spreadInterpolatesBetweenOrderStatisticsAndIgnoresNaN) {
    const std::vector<double> values{4, kNaN, 1, 3, 2};
    const Spread result = spread(values);
    EXPECT_EQ(result.count, 4U);
    EXPECT_EQ(result.min, 1);
    EXPECT_DOUBLE_EQ(result.q1, 1.75);
    EXPECT_DOUBLE_EQ(result.median, 2.5);
    EXPECT_DOUBLE_EQ(result.q3, 3.25);
    EXPECT_EQ(result.max, 4);
    const Spread none = spread(std::vector<double>{kNaN});
    EXPECT_EQ(none.count, 0U);
    EXPECT_EQ(none.median, 0);
}
