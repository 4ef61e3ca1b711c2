// What reaches the plots: no lost peaks, gaps where there is nothing to draw, finite limits whatever comes in.
#include "models/plot_series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace gui;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Series seriesOf(std::vector<double> values) {
    Series series;
    for (std::size_t i = 0; i < values.size(); ++i) series.add(static_cast<double>(i), values[i]);
    return series;
}

}  // namespace

TEST(PlotSeries, decimationKeepsTheOnePeakAmongManyPoints) {
    Series series = seriesOf(std::vector<double>(100000, 1.0));
    series.y[54321] = 99;
    series.y[54322] = -99;
    const Series thin = decimate(series, 0, 99999, 300);
    EXPECT_LT(thin.size(), 2000U);
    EXPECT_EQ(*std::max_element(thin.y.begin(), thin.y.end()), 99);
    EXPECT_EQ(*std::min_element(thin.y.begin(), thin.y.end()), -99);
    EXPECT_TRUE(std::is_sorted(thin.x.begin(), thin.x.end()));
}

TEST(PlotSeries, decimationKeepsGaps) {
    Series series = seriesOf(std::vector<double>(10000, 2.0));
    series.y[5000] = kNan;
    const Series thin = decimate(series, 0, 9999, 100);
    EXPECT_EQ(std::count_if(thin.y.begin(), thin.y.end(), [](double v) { return std::isnan(v); }), 1);
}

TEST(PlotSeries, decimationStartsAndEndsOnePointOutsideTheWindow) {
    const Series thin = decimate(seriesOf({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), 3.5, 6.5, 100);
    EXPECT_EQ(thin.x, (std::vector<double>{3, 4, 5, 6, 7}));
}

TEST(PlotSeries, logAxisHasGapsAtNanAndZeroAndFiniteLimitsAndALonePoint) {
    const Log2Series log2 = toLog2(seriesOf({12, 19, kNan, 5, 0, 3}));
    EXPECT_TRUE(std::isnan(log2.line.y[2]));
    EXPECT_TRUE(std::isnan(log2.line.y[4]));
    const Limits limits = finiteLimits(log2.line);
    ASSERT_TRUE(limits.valid);
    EXPECT_DOUBLE_EQ(limits.low, std::log2(3.0));
    EXPECT_DOUBLE_EQ(limits.high, std::log2(19.0));
    const Series lone = lonePoints(log2.line);
    EXPECT_EQ(lone.x, (std::vector<double>{3, 5}));  // the 5 and the 3 stand between gaps
    EXPECT_EQ(log2.zerosAt, (std::vector<double>{4}));
    EXPECT_EQ(log2.nansAt, (std::vector<double>{2}));
}

TEST(PlotSeries, infiniteValuesBecomeMarksAndDoNotMoveTheLimits) {
    const Log2Series log2 = toLog2(seriesOf({2, kInf, 4}));
    EXPECT_EQ(log2.infinitesAt, (std::vector<double>{1}));
    const Limits limits = finiteLimits(log2.line);
    EXPECT_DOUBLE_EQ(limits.low, 1);
    EXPECT_DOUBLE_EQ(limits.high, 2);
}

TEST(PlotSeries, limitsOfNothingFiniteAreInvalid) {
    EXPECT_FALSE(finiteLimits(seriesOf({kNan, kInf})).valid);
    EXPECT_FALSE(finiteLimits({}).valid);
}

TEST(PlotSeries, smoothingKeepsAConstantALineAndGaps) {
    const Series flat = smoothed(seriesOf({3, 3, kNan, 3, 3}), 0.9);
    EXPECT_NEAR(flat.y[4], 3, 1e-12);
    EXPECT_TRUE(std::isnan(flat.y[2]));
    Series ramp;
    for (int i = 0; i <= 200; ++i) ramp.add(i, 5 - 0.01 * i);
    EXPECT_NEAR(smoothed(ramp, 0.9).y[100], 4, 1e-6);  // not late
}

TEST(PlotSeries, nearestIndexTakesTheCloserNeighbour) {
    const Series series{{0, 10, 20}, {1, 2, 3}};
    EXPECT_EQ(nearestIndex(series, 14), 1U);
    EXPECT_EQ(nearestIndex(series, 16), 2U);
    EXPECT_EQ(nearestIndex(series, -5), 0U);
    EXPECT_EQ(nearestIndex(series, 99), 2U);
}

TEST(PlotSeries, paretoFrontHoldsOnlyUnbeatenPoints) {
    // Greater x and lesser y are better; the second point is beaten by the third.
    EXPECT_EQ(paretoFront({1, 2, 3, kNan}, {0.0, 0.5, 0.4, 0.0}), (std::vector<std::size_t>{0, 2}));
}
