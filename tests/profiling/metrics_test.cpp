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
