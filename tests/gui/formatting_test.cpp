// Numbers as text: rounding at the steps, signs, what is not a number.
#include "models/formatting.h"

#include <gtest/gtest.h>

#include <limits>

using namespace gui;

namespace {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
std::string text(const QString& string) {
    return string.toStdString();
}
}  // namespace

TEST(Formatting, siNumberKeepsThreeDigitsAndStepsUpAfterRounding) {
    EXPECT_EQ(text(siNumber(21400)), "21.4 k");
    EXPECT_EQ(text(siNumber(1.2e6)), "1.20 M");
    EXPECT_EQ(text(siNumber(999.4)), "999");
    EXPECT_EQ(text(siNumber(999.6)), "1.00 k");
    EXPECT_EQ(text(siNumber(12)), "12");
    EXPECT_EQ(text(siNumber(0)), "0");
    EXPECT_EQ(text(siNumber(-21400)), "−21.4 k");
    EXPECT_EQ(text(siNumber(0.041)), "0.0410");
}

TEST(Formatting, notANumberAndInfinityHaveSignsOfTheirOwn) {
    EXPECT_EQ(text(siNumber(kNan)), "–");
    EXPECT_EQ(text(significant(kInf)), "∞");
    EXPECT_EQ(text(percent(kNan)), "–");
    EXPECT_EQ(text(difference(1, 0)), "–");
    EXPECT_EQ(text(clockTime(kInf)), "–");
}

TEST(Formatting, significantUsesExponentsOnlyFarOut) {
    EXPECT_EQ(text(significant(9.314)), "9.31");
    EXPECT_EQ(text(significant(1234.5)), "1230");
    EXPECT_EQ(text(significant(0.00012)), "0.000120");
    EXPECT_EQ(text(significant(0.000012)), "1.20e-05");
}

TEST(Formatting, durationPicksTheUnit) {
    EXPECT_EQ(text(duration(812)), "812 ns");
    EXPECT_EQ(text(duration(23400000)), "23.4 ms");
    EXPECT_EQ(text(duration(1500000000)), "1.50 s");
    EXPECT_EQ(text(duration(125000000000)), "2 min 05 s");
    EXPECT_EQ(text(duration(3720000000000)), "1 h 02 min");
    EXPECT_EQ(text(clockTime(18)), "0:18");
    EXPECT_EQ(text(clockTime(3723)), "1:02:03");
}

TEST(Formatting, bytesStepByTwoToTheTen) {
    EXPECT_EQ(text(bytes(812)), "812 B");
    EXPECT_EQ(text(bytes(1536)), "1.50 KiB");
    EXPECT_EQ(text(bytes(1288490188.0)), "1.20 GiB");
}

TEST(Formatting, differencesAlwaysCarryTheirSign) {
    EXPECT_EQ(text(difference(42600, 21400)), "+99 %");
    EXPECT_EQ(text(difference(99.6, 100)), "−0.4 %");
    EXPECT_EQ(text(difference(100, 100)), "±0 %");
    EXPECT_EQ(text(percent(0.64)), "64 %");
    EXPECT_EQ(text(percent(0.0041)), "0.41 %");
}

TEST(Formatting, wholeNumbersAreGroupedInThrees) {
    EXPECT_EQ(text(grouped(1200000)), "1\u202F200\u202F000");
    EXPECT_EQ(text(grouped(-1000)), "−1\u202F000");
    EXPECT_EQ(text(grouped(100)), "100");
    EXPECT_EQ(text(fullNumber(21400.25)), "21\u202F400.25");
    EXPECT_EQ(text(log2Label(-4)), "2^−4");
}
