// The exponent count at every instruction-set level against libm's frexp and hand-made rows.
#include "dense_sample.h"
#include "isa_levels.h"

#include <gtest/gtest.h>

#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace {

namespace cpu = engine::cpu;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kSubnormal = 0x1p-149F;

using Counts = std::array<std::uint32_t, 256>;

struct Observed {
    Counts counts{};
    float smallest = kInfinity;
};

/// By libm: frexp gives x = m·2^e with m in [1/2, 1), so that the field is e − 1 + 127.
std::size_t fieldOf(float x) {
    if (!std::isfinite(x)) return 255;
    if (std::fabs(x) < FLT_MIN) return 0;
    int exponent = 0;
    std::frexp(x, &exponent);
    return static_cast<std::size_t>(exponent + 126);
}

Observed expectedOf(const std::vector<float>& x) {
    Observed result;
    for (const float value : x) {
        ++result.counts[fieldOf(value)];
        if (value != 0 && !std::isnan(value)) result.smallest = std::min(result.smallest, std::fabs(value));
    }
    return result;
}

class Exponents : public testing_support::IsaTest {
protected:
    void add(Observed& observed, const std::vector<float>& x) const {
        cpu::countExponents(x.data(), static_cast<std::int64_t>(x.size()), observed.counts.data(), observed.smallest,
                            isa());
    }
    Observed observe(const std::vector<float>& x) const {
        Observed result;
        add(result, x);
        return result;
    }
};
INSTANTIATE_FOR_ALL_LEVELS(Exponents);

TEST_P(Exponents, countsByTheExponentField) {
    const Observed got = observe({1.0F, -1.5F, 1.9999999F, 2.0F, 0.5F, 0.0F, -0.0F, kSubnormal, -FLT_MIN, FLT_MAX,
                                  kInfinity, -kInfinity, kNan, -kNan});
    Counts expected{};
    expected[127] = 3;  // [1, 2)
    expected[128] = 1;  // 2
    expected[126] = 1;  // 0.5
    expected[0] = 3;    // ±0, a subnormal
    expected[1] = 1;    // the smallest normal
    expected[254] = 1;  // the largest
    expected[255] = 4;
    EXPECT_EQ(got.counts, expected);
    EXPECT_EQ(got.smallest, kSubnormal);
}

TEST_P(Exponents, agreesWithFrexpOnEveryUpperHalfOfAFloat) {
    const std::vector<float> sample = testing_support::denseSample();
    const Observed expected = expectedOf(sample);
    for (const std::uint32_t count : expected.counts) ASSERT_GT(count, 0U) << "the sample leaves a field out";
    const Observed got = observe(sample);
    EXPECT_EQ(got.counts, expected.counts);
    EXPECT_EQ(got.smallest, expected.smallest);
}

TEST_P(Exponents, everyLengthCountsEveryElementOnceAndNoOther) {
    for (const std::size_t n :
         {0U, 1U, 7U, 8U, 9U, 15U, 16U, 17U, 31U, 33U, 63U, 64U, 65U, 1023U, 1024U, 1025U, 3001U}) {
        std::vector<float> x(n);
        for (std::size_t i = 0; i < n; ++i)
            x[i] = std::ldexp(i % 3 == 0 ? 1.25F : -1.0F, static_cast<int>(i % 90) - 40);
        const Observed expected = expectedOf(x);
        Observed got;
        cpu::countExponents(x.data(), static_cast<std::int64_t>(n), got.counts.data(), got.smallest, isa());
        EXPECT_EQ(got.counts, expected.counts) << n;
        EXPECT_EQ(got.smallest, expected.smallest) << n;
        EXPECT_EQ(std::accumulate(got.counts.begin(), got.counts.end(), std::size_t{0}), n);
    }
}

TEST_P(Exponents, aRowOfOneValueIsCountedInFull) {
    for (const float value : {0.0F, 3.0F, kNan, kInfinity}) {
        const std::vector<float> x(100003, value);
        const Observed got = observe(x);
        EXPECT_EQ(got.counts[fieldOf(value)], 100003U) << value;
        EXPECT_EQ(got.smallest, value == 3.0F ? 3.0F : kInfinity) << value;
    }
}

TEST_P(Exponents, callsAddUpAndTheSmallestIsKept) {
    Observed got = observe({4.0F, -0.25F, 0.0F});
    EXPECT_EQ(got.smallest, 0.25F);
    add(got, {8.0F, kNan, 0.0F, 0.5F});
    EXPECT_EQ(got.smallest, 0.25F);
    EXPECT_EQ(got.counts[0], 2U);
    EXPECT_EQ(got.counts[255], 1U);
    add(got, {-kSubnormal});
    EXPECT_EQ(got.smallest, kSubnormal);
    EXPECT_EQ(got.counts[0], 3U);
    add(got, {});
    EXPECT_EQ(got.smallest, kSubnormal);
}

TEST_P(Exponents, theSmallestIsFoundAtEveryPlace) {
    for (std::size_t place = 0; place < 70; ++place) {
        std::vector<float> x(70, 1.0F);
        x[place] = -0x1p-130F;
        ASSERT_EQ(observe(x).smallest, 0x1p-130F) << place;
    }
}

}  // namespace
