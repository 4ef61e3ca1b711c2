// The casts to FP8 and BF16 at every instruction-set level against the scalar conversions, with all they count.
#include "dense_sample.h"
#include "elementwise_tolerances.h"
#include "isa_levels.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using engine::Fp8Format;
using engine::cpu::CastStats;
using testing_support::tolerance;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr Fp8Format kFormats[] = {Fp8Format::E4M3, Fp8Format::E5M2};

/// What the definitions in observer.h say, computed anew here.
CastStats expectedStats(const std::vector<float>& x, float scale, Fp8Format format) {
    CastStats expected;
    const float scaleInverse = 1.0F / scale;
    for (const float value : x) {
        const float scaled = value * scale;
        const std::uint8_t code = engine::encodeFp8(scaled, format);
        ++expected.count;
        if (!std::isnan(value)) expected.amax = std::max(expected.amax, std::fabs(value));
        if (std::fabs(scaled) > engine::fp8Limits(format).max) ++expected.saturated;
        if (value == 0) ++expected.zeros;
        if (!std::isfinite(value)) {
            ++expected.nonFinite;
            continue;
        }
        if (value != 0 && (code == 0x00 || code == 0x80)) ++expected.underflowed;
        const float seen = engine::decodeFp8(code, format) * scaleInverse;
        const double difference = static_cast<double>(value) - static_cast<double>(seen);
        expected.sqError += difference * difference;
        expected.sqSignal += static_cast<double>(value) * static_cast<double>(value);
    }
    return expected;
}

void expectSameStats(const CastStats& actual, const CastStats& expected) {
    EXPECT_EQ(actual.amax, expected.amax);
    EXPECT_EQ(actual.saturated, expected.saturated);
    EXPECT_EQ(actual.underflowed, expected.underflowed);
    EXPECT_EQ(actual.zeros, expected.zeros);
    EXPECT_EQ(actual.nonFinite, expected.nonFinite);
    EXPECT_EQ(actual.count, expected.count);
    EXPECT_NEAR(actual.sqError, expected.sqError, tolerance("castSums, relative") * expected.sqError);
    EXPECT_NEAR(actual.sqSignal, expected.sqSignal, tolerance("castSums, relative") * expected.sqSignal);
}

class Cast : public testing_support::IsaTest {
protected:
    std::vector<std::uint8_t> cast(const std::vector<float>& x, float scale, Fp8Format format, bool counting,
                                   CastStats& stats) const {
        std::vector<std::uint8_t> codes(x.size());
        engine::cpu::castFp8(x.data(), codes.data(), static_cast<std::int64_t>(x.size()), scale, format, counting,
                             stats, isa());
        return codes;
    }
};
INSTANTIATE_FOR_ALL_LEVELS(Cast);

TEST_P(Cast, denseSampleHasTheOraclesBytesAndCountsAtEveryScale) {
    const std::vector<float> sample = testing_support::denseSample();
    for (const Fp8Format format : kFormats) {
        for (const float scale : {1.0F, 0.37F, 1024.0F, FLT_MAX, 1e-30F}) {
            SCOPED_TRACE(std::string(engine::formatName(format)) + " scale " + std::to_string(scale));
            for (const bool counting : {false, true}) {
                CastStats stats;
                const std::vector<std::uint8_t> codes = cast(sample, scale, format, counting, stats);
                for (std::size_t i = 0; i < sample.size(); ++i) {
                    ASSERT_EQ(codes[i], engine::encodeFp8(sample[i] * scale, format)) << sample[i];
                }
                if (counting) {
                    expectSameStats(stats, expectedStats(sample, scale, format));
                } else {
                    EXPECT_EQ(stats.amax, kInfinity);
                    EXPECT_EQ(stats.count + stats.saturated + stats.zeros + stats.nonFinite + stats.underflowed, 0);
                }
            }
        }
    }
}

TEST_P(Cast, everyLengthAndOffsetIsCastExactlyAndNothingBeyondIt) {
    std::mt19937 random(2);
    std::normal_distribution<float> normal(0, 200);
    std::vector<float> source(400);
    for (float& x : source) x = normal(random);
    for (std::size_t i = 0; i < source.size(); i += 7) source[i] = i % 2 == 0 ? 0.0F : 1e-9F;
    for (const std::size_t n : {0U, 1U, 2U, 15U, 16U, 17U, 31U, 32U, 33U, 63U, 64U, 65U, 127U, 191U, 257U, 389U}) {
        for (const std::size_t offset : {0U, 1U, 5U}) {
            const std::vector<float> x(source.begin() + static_cast<std::ptrdiff_t>(offset),
                                       source.begin() + static_cast<std::ptrdiff_t>(offset + n));
            std::vector<std::uint8_t> codes(n + offset + 64, 0xAA);
            CastStats stats;
            engine::cpu::castFp8(source.data() + offset, codes.data() + offset, static_cast<std::int64_t>(n), 1.5F,
                                 Fp8Format::E4M3, true, stats, isa());
            for (std::size_t i = 0; i < codes.size(); ++i) {
                const bool inside = i >= offset && i < offset + n;
                const int expected = inside ? engine::encodeFp8(x[i - offset] * 1.5F, Fp8Format::E4M3) : 0xAA;
                ASSERT_EQ(codes[i], expected) << "n " << n << " offset " << offset << " i " << i;
            }
            SCOPED_TRACE(n);
            expectSameStats(stats, expectedStats(x, 1.5F, Fp8Format::E4M3));
        }
    }
}

TEST_P(Cast, amaxPassesNanOverAndKeepsInfinity) {
    for (const bool counting : {false, true}) {
        CastStats stats;
        cast({1.0F, kNan, -3.0F, -kNan, 2.0F}, 1.0F, Fp8Format::E4M3, counting, stats);
        EXPECT_EQ(stats.amax, 3.0F);
        cast({1.0F, -kInfinity, kNan}, 1.0F, Fp8Format::E4M3, counting, stats);
        EXPECT_EQ(stats.amax, kInfinity);
        CastStats onlyNan;
        cast(std::vector<float>(70, kNan), 1.0F, Fp8Format::E4M3, counting, onlyNan);
        EXPECT_EQ(onlyNan.amax, 0.0F);
    }
}

TEST_P(Cast, saturationIsStrictlyAboveTheMaximumAndNanIsNone) {
    CastStats stats;
    cast({448.0F, 448.00003F, -449.0F, kInfinity, kNan, 1.0F}, 1.0F, Fp8Format::E4M3, true, stats);
    EXPECT_EQ(stats.saturated, 3);
    EXPECT_EQ(stats.nonFinite, 2);
    EXPECT_EQ(stats.count, 6);
    CastStats scaled;
    cast({112.0F, 112.00001F}, 4.0F, Fp8Format::E4M3, true, scaled);
    EXPECT_EQ(scaled.saturated, 1) << "counted on the scaled value";
}

// NVIDIA/TransformerEngine#2754: gradients at scale 1 underflow far more often in E4M3 than in E5M2.
TEST_P(Cast, smallGradientsUnderflowFiveTimesInE4M3AndTwiceInE5M2) {
    const std::vector<float> gradients = {1e-2F, 1e-3F, 1e-4F, 1e-5F, 1e-6F, 1e-7F, 0.0F, 5e-5F};
    CastStats e4m3;
    cast(gradients, 1.0F, Fp8Format::E4M3, true, e4m3);
    EXPECT_EQ(e4m3.underflowed, 5);
    EXPECT_EQ(e4m3.zeros, 1);
    CastStats e5m2;
    cast(gradients, 1.0F, Fp8Format::E5M2, true, e5m2);
    EXPECT_EQ(e5m2.underflowed, 2);
    EXPECT_EQ(e5m2.zeros, 1);
}

TEST_P(Cast, allZeroTensorGivesZeroBytesAndNoUnderflow) {
    std::vector<float> zeros(77, 0.0F);
    zeros[3] = -0.0F;
    CastStats stats;
    const std::vector<std::uint8_t> codes = cast(zeros, 448.0F, Fp8Format::E4M3, true, stats);
    for (std::size_t i = 0; i < codes.size(); ++i) EXPECT_EQ(codes[i], i == 3 ? 0x80 : 0x00);
    EXPECT_EQ(stats.zeros, 77);
    EXPECT_EQ(stats.underflowed, 0);
    EXPECT_EQ(stats.amax, 0.0F);
    EXPECT_EQ(stats.sqError, 0.0);
}

TEST_P(Cast, statsOfTwoCallsAddUpAndRepeatBitForBit) {
    const std::vector<float> first = {1.0F, 500.0F, 0.0F};
    const std::vector<float> second = {1e-6F, -3.0F, kNan, 0.3F};
    CastStats both;
    cast(first, 1.0F, Fp8Format::E4M3, true, both);
    cast(second, 1.0F, Fp8Format::E4M3, true, both);
    CastStats sum = expectedStats(first, 1.0F, Fp8Format::E4M3);
    sum.add(expectedStats(second, 1.0F, Fp8Format::E4M3));
    expectSameStats(both, sum);
    CastStats again;
    cast(first, 1.0F, Fp8Format::E4M3, true, again);
    cast(second, 1.0F, Fp8Format::E4M3, true, again);
    EXPECT_EQ(again.sqError, both.sqError);
    EXPECT_EQ(again.sqSignal, both.sqSignal);
}

TEST_P(Cast, errorUsesTheReciprocalOfTheScale) {
    CastStats stats;
    // 0.7 at scale 640 is exactly 448; back through the FP32 reciprocal it is 448 · (1/640).
    cast({0.7F}, 640.0F, Fp8Format::E4M3, true, stats);
    const double difference = static_cast<double>(0.7F) - static_cast<double>(448.0F * (1.0F / 640.0F));
    const double expected = difference * difference;
    EXPECT_NEAR(stats.sqError, expected, tolerance("castSums, relative") * expected);
    CastStats clipped;
    cast({1000.0F, -1000.0F}, 1.0F, Fp8Format::E4M3, true, clipped);
    EXPECT_EQ(clipped.sqError, 2.0 * 552.0 * 552.0);
    EXPECT_EQ(clipped.sqSignal, 2e6);
}

TEST_P(Cast, bf16HasTheOraclesBytesAtEveryLengthAndNothingBeyondIt) {
    const std::vector<float> sample = testing_support::denseSample();
    std::vector<std::uint16_t> codes(sample.size());
    engine::cpu::castBf16(sample.data(), codes.data(), static_cast<std::int64_t>(sample.size()), isa());
    for (std::size_t i = 0; i < sample.size(); ++i) ASSERT_EQ(codes[i], engine::encodeBf16(sample[i])) << sample[i];
    for (const std::size_t n : {0U, 1U, 7U, 8U, 15U, 16U, 17U, 33U, 97U}) {
        std::vector<std::uint16_t> guarded(n + 32, 0xABCD);
        engine::cpu::castBf16(sample.data() + 1, guarded.data(), static_cast<std::int64_t>(n), isa());
        for (std::size_t i = 0; i < guarded.size(); ++i) {
            ASSERT_EQ(guarded[i], i < n ? engine::encodeBf16(sample[i + 1]) : 0xABCD) << "n " << n << " i " << i;
        }
    }
}

}  // namespace
