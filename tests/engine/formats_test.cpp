// The scalar conversions: tables of known bytes, every code, an independent nearest-value search, NVIDIA's headers.
#include "engine/formats.h"

#include "dense_sample.h"
#include "nvidia_reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace {

using engine::decodeFp8;
using engine::encodeFp8;
using engine::Fp8Format;
using engine::Overflow;
using testing_support::denseSample;
using testing_support::digest;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct KnownCast {
    float x;
    int e4m3;
    int e5m2;
};

TEST(Formats, knownValuesGiveKnownBytes) {
    const KnownCast table[] = {
        {1.0F, 0x38, 0x3C},     {0.1F, 0x1D, 0x2E},      {0.3952F, 0x2D, 0x36},   {17.0F, 0x58, 0x4C},
        {18.0F, 0x59, 0x4C},    {19.0F, 0x5A, 0x4D},     {1.0625F, 0x38, 0x3C},   {1.1875F, 0x3A, 0x3D},
        {448.0F, 0x7E, 0x5F},   {464.0F, 0x7E, 0x5F},    {465.0F, 0x7E, 0x5F},    {480.0F, 0x7E, 0x60},
        {1e9F, 0x7E, 0x7B},     {kInfinity, 0x7E, 0x7B}, {57344.0F, 0x7E, 0x7B},  {61440.0F, 0x7E, 0x7B},
        {65536.0F, 0x7E, 0x7B}, {0.0F, 0x00, 0x00},      {-0.0F, 0x80, 0x80},     {kNan, 0x7F, 0x7F},
        {-kNan, 0x7F, 0x7F},    {-1000.0F, 0xFE, 0xE4},  {-kInfinity, 0xFE, 0xFB}};
    for (const KnownCast& row : table) {
        EXPECT_EQ(encodeFp8(row.x, Fp8Format::E4M3), row.e4m3) << row.x;
        EXPECT_EQ(encodeFp8(row.x, Fp8Format::E5M2), row.e5m2) << row.x;
    }
}

TEST(Formats, knownValuesDecodeToTheirRoundedForm) {
    const struct {
        float x, e4m3, e5m2;
    } rows[] = {{1.0F, 1.0F, 1.0F},          {0.1F, 0.1015625F, 0.09375F}, {0.3952F, 0.40625F, 0.375F},
                {17.0F, 16.0F, 16.0F},       {18.0F, 18.0F, 16.0F},        {19.0F, 20.0F, 20.0F},
                {1.0625F, 1.0F, 1.0F},       {1.1875F, 1.25F, 1.25F},      {480.0F, 448.0F, 512.0F},
                {1e9F, 448.0F, 57344.0F},    {4.25F, 4.0F, 4.0F},          {4.75F, 5.0F, 5.0F},
                {-4.25F, -4.0F, -4.0F},      {1.8131605F, 1.875F, 1.75F},  {kInfinity, 448.0F, 57344.0F},
                {65536.0F, 448.0F, 57344.0F}};
    for (const auto& row : rows) {
        EXPECT_EQ(decodeFp8(encodeFp8(row.x, Fp8Format::E4M3), Fp8Format::E4M3), row.e4m3) << row.x;
        EXPECT_EQ(decodeFp8(encodeFp8(row.x, Fp8Format::E5M2), Fp8Format::E5M2), row.e5m2) << row.x;
    }
}

TEST(Formats, smallestNormalAndSubnormalValuesAndHalfOfThem) {
    const struct {
        Fp8Format format;
        float minNormal, minSubnormal;
        int normalCode, threeHalvesCode;
    } rows[] = {{Fp8Format::E4M3, 0x1p-6F, 0x1p-9F, 0x08, 0x02}, {Fp8Format::E5M2, 0x1p-14F, 0x1p-16F, 0x04, 0x02}};
    for (const auto& row : rows) {
        EXPECT_EQ(encodeFp8(row.minNormal, row.format), row.normalCode);
        EXPECT_EQ(encodeFp8(row.minSubnormal, row.format), 0x01);
        EXPECT_EQ(encodeFp8(row.minSubnormal / 2, row.format), 0x00);
        EXPECT_EQ(encodeFp8(std::nextafter(row.minSubnormal / 2, 1.0F), row.format), 0x01);
        EXPECT_EQ(encodeFp8(-row.minSubnormal / 2, row.format), 0x80) << "underflow keeps the sign";
        EXPECT_EQ(encodeFp8(1.5F * row.minSubnormal, row.format), row.threeHalvesCode) << "tie to even";
    }
    EXPECT_EQ(encodeFp8(3 * 0x1p-10F, Fp8Format::E5M2), 0x1A);
}

// jax-ml/ml_dtypes#221, microsoft/onnxruntime#16938: bits below the rounding bit were ignored, or ties went up.
TEST(Formats, roundsToNearestWithTiesToEven) {
    EXPECT_EQ(encodeFp8(4.25F, Fp8Format::E4M3), 0x48);
    EXPECT_EQ(encodeFp8(4.75F, Fp8Format::E4M3), 0x4A);
    EXPECT_EQ(encodeFp8(-4.25F, Fp8Format::E4M3), 0xC8);
    EXPECT_EQ(encodeFp8(1.8131605F, Fp8Format::E4M3), 0x3F);
}

// JuliaMath/Float8s.jl#22, openvinotoolkit/openvino#30057: subnormals rounded twice or decoded with a fixed exponent.
TEST(Formats, subnormalsRoundOnceAndDecodeEvenly) {
    for (const float x : {0.000104143F, 0.000186678F, 0.000538887F, 0.000785412F, 0.00083075F}) {
        EXPECT_EQ(encodeFp8(x, Fp8Format::E4M3), 0x00) << x;
    }
    for (const float x : {0.00103349F, 0.00112769F}) EXPECT_EQ(encodeFp8(x, Fp8Format::E4M3), 0x01) << x;
    for (int n = 1; n <= 8; ++n) {
        EXPECT_EQ(decodeFp8(static_cast<std::uint8_t>(n), Fp8Format::E4M3), static_cast<float>(n) * 0x1p-9F);
    }
}

// jax-ml/ml_dtypes#401, triton-lang/triton#2583: FP64 went through FP32 and met a false tie.
TEST(Formats, doublesAreRoundedOnceNotThroughFloat) {
    EXPECT_EQ(encodeFp8(-431.99999999999994, Fp8Format::E4M3), 0xFD);
    EXPECT_EQ(encodeFp8(432.0, Fp8Format::E4M3), 0x7E);
    EXPECT_EQ(encodeFp8(432.00000000000006, Fp8Format::E4M3), 0x7E);
    EXPECT_EQ(encodeFp8(std::nextafter(0x1p-10, 1.0), Fp8Format::E4M3), 0x01);
    EXPECT_EQ(encodeFp8(1e300, Fp8Format::E5M2, Overflow::Propagate), 0x7C);
    EXPECT_EQ(encodeFp8(-5e-324, Fp8Format::E5M2), 0x80);
}

// jax-ml/ml_dtypes#260, pytorch/pytorch#178817: both overflow policies, and where each begins.
TEST(Formats, overflowSaturatesOrPropagatesAsAsked) {
    const struct {
        float x;
        int saturated, propagated;
    } rows[] = {{448, 0x7E, 0x7E},       {464, 0x7E, 0x7E},        {465, 0x7E, 0x7F},
                {1000, 0x7E, 0x7F},      {-1000, 0xFE, 0xFF},      {3e10F, 0x7E, 0x7F},
                {kInfinity, 0x7E, 0x7F}, {-kInfinity, 0xFE, 0xFF}, {kNan, 0x7F, 0x7F}};
    for (const auto& row : rows) {
        EXPECT_EQ(encodeFp8(row.x, Fp8Format::E4M3, Overflow::Saturate), row.saturated) << row.x;
        EXPECT_EQ(encodeFp8(row.x, Fp8Format::E4M3, Overflow::Propagate), row.propagated) << row.x;
    }
    EXPECT_EQ(encodeFp8(61439.996F, Fp8Format::E5M2, Overflow::Propagate), 0x7B);
    EXPECT_EQ(encodeFp8(61440.0F, Fp8Format::E5M2, Overflow::Propagate), 0x7C);
    EXPECT_EQ(encodeFp8(-kInfinity, Fp8Format::E5M2, Overflow::Propagate), 0xFC);
    EXPECT_EQ(encodeFp8(kNan, Fp8Format::E5M2, Overflow::Propagate), 0x7F);
}

// intel/intel-xpu-backend-for-triton#7771: one tool decoded the NaN codes to ±480, another to 0.
TEST(Formats, specialCodesDecodeToNanInfinityAndSignedZero) {
    for (const int code : {0x7F, 0xFF}) {
        EXPECT_TRUE(std::isnan(decodeFp8(static_cast<std::uint8_t>(code), Fp8Format::E4M3)));
    }
    for (const int code : {0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF}) {
        EXPECT_TRUE(std::isnan(decodeFp8(static_cast<std::uint8_t>(code), Fp8Format::E5M2)));
    }
    EXPECT_EQ(decodeFp8(0x7C, Fp8Format::E5M2), kInfinity);
    EXPECT_EQ(decodeFp8(0xFC, Fp8Format::E5M2), -kInfinity);
    for (const Fp8Format format : {Fp8Format::E4M3, Fp8Format::E5M2}) {
        EXPECT_EQ(decodeFp8(0x80, format), 0.0F);
        EXPECT_TRUE(std::signbit(decodeFp8(0x80, format)));
    }
}

TEST(Formats, everyFiniteCodeSurvivesDecodeAndEncode) {
    const struct {
        Fp8Format format;
        int finiteCodes;
    } rows[] = {{Fp8Format::E4M3, 254}, {Fp8Format::E5M2, 248}};
    for (const auto& row : rows) {
        int finite = 0;
        for (int code = 0; code < 256; ++code) {
            const float value = decodeFp8(static_cast<std::uint8_t>(code), row.format);
            if (!std::isfinite(value)) continue;
            ++finite;
            EXPECT_EQ(encodeFp8(value, row.format), code);
            EXPECT_EQ(encodeFp8(static_cast<double>(value), row.format), code);
        }
        EXPECT_EQ(finite, row.finiteCodes);
    }
}

// Azure/MS-AMP#131: at the FP32 limit of the scale, tiny values still keep their relative size.
TEST(Formats, tinyValueTimesLargestScaleKeepsItsSize) {
    EXPECT_EQ(encodeFp8(1e-38F * std::numeric_limits<float>::max(), Fp8Format::E4M3), 0x46);
}

/// Searches all finite codes for the nearest value, ties to the even code: no bit tricks in common with the encoder.
int nearestCode(double x, Fp8Format format) {
    int best = 0;
    double bestDistance = std::numeric_limits<double>::infinity();
    for (int code = 0; code < 128; ++code) {
        const float value = decodeFp8(static_cast<std::uint8_t>(code), format);
        if (!std::isfinite(value)) continue;
        const double distance = std::fabs(static_cast<double>(value) - std::fabs(x));
        if (distance < bestDistance || (distance == bestDistance && code % 2 == 0)) {
            best = code;
            bestDistance = distance;
        }
    }
    return std::signbit(x) ? best | 0x80 : best;
}

TEST(Formats, encodingIsTheNearestOfAllFiniteValues) {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> exponent(-22, 18);
    for (const Fp8Format format : {Fp8Format::E4M3, Fp8Format::E5M2}) {
        for (int i = 0; i < 20000; ++i) {
            const double x = (i % 2 == 0 ? 1 : -1) * std::exp2(exponent(random));
            ASSERT_EQ(encodeFp8(x, format), nearestCode(x, format)) << x;
            const float narrow = static_cast<float>(x);
            ASSERT_EQ(encodeFp8(narrow, format), nearestCode(static_cast<double>(narrow), format)) << narrow;
        }
    }
}

TEST(Formats, bf16RoundsToEvenKeepsInfinityAndMakesOneNan) {
    EXPECT_EQ(engine::encodeBf16(1.0F), 0x3F80);
    EXPECT_EQ(engine::encodeBf16(0x1.01p0F), 0x3F80) << "tie to even, down";
    EXPECT_EQ(engine::encodeBf16(0x1.03p0F), 0x3F82) << "tie to even, up";
    EXPECT_EQ(engine::encodeBf16(0x1.010002p0F), 0x3F81);
    EXPECT_EQ(engine::encodeBf16(std::numeric_limits<float>::max()), 0x7F80) << "rounds up to infinity";
    EXPECT_EQ(engine::encodeBf16(-kInfinity), 0xFF80);
    EXPECT_EQ(engine::encodeBf16(kNan), 0x7FFF);
    EXPECT_EQ(engine::encodeBf16(-kNan), 0x7FFF);
    EXPECT_EQ(engine::encodeBf16(-0.0F), 0x8000);
    for (std::uint32_t code = 0; code < 0x10000U; ++code) {
        const float value = engine::decodeBf16(static_cast<std::uint16_t>(code));
        if (!std::isnan(value)) {
            ASSERT_EQ(engine::encodeBf16(value), code);
        }
    }
}

std::vector<std::uint8_t> encodeAll(const std::vector<float>& sample, Fp8Format format, Overflow overflow) {
    std::vector<std::uint8_t> codes;
    for (const float x : sample) codes.push_back(encodeFp8(x, format, overflow));
    return codes;
}

// The digests were made on 2026-12-01 from the output of cuda_fp8.h and cuda_bf16.h (CUDA 13, host code) over
// denseSample(), by the test NvidiaHeaders.haveTheCommittedDigests below. Make them again only when denseSample()
// changes.
constexpr std::uint64_t kDigestE4M3 = 0x2717AB5B96935261ULL;
constexpr std::uint64_t kDigestE4M3Propagate = 0xB752C30A04EB993BULL;
constexpr std::uint64_t kDigestE5M2 = 0x1BFA7A35E133A543ULL;
constexpr std::uint64_t kDigestE5M2Propagate = 0x051834645AEF1351ULL;
constexpr std::uint64_t kDigestBf16 = 0xA00E499B81062DA1ULL;

TEST(Formats, denseSampleHasTheDigestsOfNvidiasConversions) {
    const std::vector<float> sample = denseSample();
    EXPECT_EQ(digest(encodeAll(sample, Fp8Format::E4M3, Overflow::Saturate)), kDigestE4M3);
    EXPECT_EQ(digest(encodeAll(sample, Fp8Format::E4M3, Overflow::Propagate)), kDigestE4M3Propagate);
    EXPECT_EQ(digest(encodeAll(sample, Fp8Format::E5M2, Overflow::Saturate)), kDigestE5M2);
    EXPECT_EQ(digest(encodeAll(sample, Fp8Format::E5M2, Overflow::Propagate)), kDigestE5M2Propagate);
    std::vector<std::uint16_t> codes;
    for (const float x : sample) codes.push_back(engine::encodeBf16(x));
    EXPECT_EQ(digest(codes), kDigestBf16);
}

class NvidiaHeaders : public ::testing::Test {
protected:
    void SetUp() override {
        if (!testing_support::haveNvidiaHeaders()) {
            GTEST_SKIP() << "cuda_fp8.h was not found when the tests were configured; the digests stand in for it";
        }
    }
    static std::uint64_t fp8Digest(Fp8Format format, Overflow overflow) {
        const std::vector<float> sample = denseSample();
        std::vector<std::uint8_t> codes(sample.size());
        testing_support::nvidiaFp8(sample.data(), codes.data(), sample.size(), format, overflow);
        return digest(codes);
    }
};

TEST_F(NvidiaHeaders, haveTheCommittedDigests) {
    EXPECT_EQ(fp8Digest(Fp8Format::E4M3, Overflow::Saturate), kDigestE4M3);
    EXPECT_EQ(fp8Digest(Fp8Format::E4M3, Overflow::Propagate), kDigestE4M3Propagate);
    EXPECT_EQ(fp8Digest(Fp8Format::E5M2, Overflow::Saturate), kDigestE5M2);
    EXPECT_EQ(fp8Digest(Fp8Format::E5M2, Overflow::Propagate), kDigestE5M2Propagate);
    const std::vector<float> sample = denseSample();
    std::vector<std::uint16_t> codes(sample.size());
    testing_support::nvidiaEncode(testing_support::Narrow::Bf16, sample.data(), codes.data(), sample.size());
    EXPECT_EQ(digest(codes), kDigestBf16);
}

TEST_F(NvidiaHeaders, agreeOnDoublesAroundEveryTie) {
    std::vector<double> sample;
    for (const float x : denseSample()) {
        // NVIDIA's FP64 form keeps the sign of a NaN, its FP32 form does not; ours never does.
        if (std::isnan(x)) continue;
        const double wide = static_cast<double>(x);
        sample.insert(sample.end(), {wide, std::nextafter(wide, 1e300), std::nextafter(wide, -1e300)});
    }
    std::vector<std::uint8_t> theirs(sample.size());
    for (const Fp8Format format : {Fp8Format::E4M3, Fp8Format::E5M2}) {
        for (const Overflow overflow : {Overflow::Saturate, Overflow::Propagate}) {
            testing_support::nvidiaFp8(sample.data(), theirs.data(), sample.size(), format, overflow);
            for (std::size_t i = 0; i < sample.size(); ++i) {
                ASSERT_EQ(encodeFp8(sample[i], format, overflow), theirs[i]) << sample[i];
            }
        }
    }
}

}  // namespace
