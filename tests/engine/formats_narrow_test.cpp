// E2M1, E8M0 and half precision: tables worked out by hand, and the edges of each format.
#include "engine/formats.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace {

using engine::decodeE2M1;
using engine::decodeE8M0;
using engine::decodeF16;
using engine::encodeE2M1;
using engine::encodeE8M0;
using engine::encodeF16;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(FormatE2M1, hasEightMagnitudesAndTheirNegatives) {
    const float magnitudes[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    for (int code = 0; code < 8; ++code) {
        const auto negative = static_cast<std::uint8_t>(code | 8);
        EXPECT_EQ(decodeE2M1(static_cast<std::uint8_t>(code)), magnitudes[code]);
        EXPECT_EQ(decodeE2M1(negative), -magnitudes[code]);
        EXPECT_TRUE(std::signbit(decodeE2M1(negative)));
    }
    EXPECT_EQ(decodeE2M1(0xF3), 1.5F) << "the upper half of a byte belongs to another number";
    EXPECT_EQ(engine::kMaxE2M1, magnitudes[7]);
}

TEST(FormatE2M1, tiesGoToTheEvenCodeAndNeighboursToTheNearest) {
    const struct {
        float middle;
        int below, tie, above;
    } rows[] = {{0.25F, 0, 0, 1}, {0.75F, 1, 2, 2}, {1.25F, 2, 2, 3}, {1.75F, 3, 4, 4},
                {2.5F, 4, 4, 5},  {3.5F, 5, 6, 6},  {5.0F, 6, 6, 7}};
    for (const auto& row : rows) {
        const float below = std::nextafter(row.middle, 0.0F);
        const float above = std::nextafter(row.middle, 9.0F);
        EXPECT_EQ(encodeE2M1(below), row.below) << row.middle;
        EXPECT_EQ(encodeE2M1(row.middle), row.tie) << row.middle;
        EXPECT_EQ(encodeE2M1(above), row.above) << row.middle;
        EXPECT_EQ(encodeE2M1(-below), row.below | 8) << row.middle;
        EXPECT_EQ(encodeE2M1(-row.middle), row.tie | 8) << row.middle;
        EXPECT_EQ(encodeE2M1(-above), row.above | 8) << row.middle;
    }
}

TEST(FormatE2M1, saturatesAndHasNoNan) {
    for (const float x : {6.0F, 7.0F, 8.0F, 1e9F, kInfinity}) {
        EXPECT_EQ(encodeE2M1(x), 0x7) << x;
        EXPECT_EQ(encodeE2M1(-x), 0xF) << x;
    }
    EXPECT_EQ(encodeE2M1(kNan), 0x7);
    EXPECT_EQ(encodeE2M1(-kNan), 0x7) << "NaN loses its sign";
    EXPECT_EQ(encodeE2M1(0.0F), 0x0);
    EXPECT_EQ(encodeE2M1(-0.0F), 0x8);
    EXPECT_EQ(encodeE2M1(-1e-30F), 0x8) << "underflow keeps the sign";
}

TEST(FormatE8M0, roundsUpToAPowerOfTwo) {
    const struct {
        float x;
        int code;
    } rows[] = {{1.0F, 127},     {0x1.000002p0F, 128}, {1.5F, 128},     {2.0F, 128},           {0x1.000002p1F, 129},
                {0.5F, 126},     {0x1.8p-1F, 127},     {0x1p-126F, 1},  {0x1.000002p-126F, 2}, {0x1p127F, 254},
                {-1.0F, 127},    {-1.5F, 128},         {0x1p126F, 253}, {0x1.8p126F, 254},     {0x1.8p127F, 254},
                {0x1p-100F, 27}, {0x1.2p-100F, 28}};
    for (const auto& row : rows) EXPECT_EQ(encodeE8M0(row.x), row.code) << row.x;
}

TEST(FormatE8M0, edgesOfTheRange) {
    EXPECT_EQ(encodeE8M0(0.0F), 0);
    EXPECT_EQ(encodeE8M0(-0.0F), 0);
    EXPECT_EQ(encodeE8M0(std::bit_cast<float>(0x00000001U)), 0) << "smallest subnormal float";
    EXPECT_EQ(encodeE8M0(std::bit_cast<float>(0x00400000U)), 0) << "2^-127 itself";
    EXPECT_EQ(encodeE8M0(std::bit_cast<float>(0x00400001U)), 1) << "just above: the next power is 2^-126";
    EXPECT_EQ(encodeE8M0(std::bit_cast<float>(0x007FFFFFU)), 1) << "largest subnormal float";
    EXPECT_EQ(encodeE8M0(std::numeric_limits<float>::max()), 254);
    EXPECT_EQ(encodeE8M0(kInfinity), 254);
    EXPECT_EQ(encodeE8M0(-kInfinity), 254);
    EXPECT_EQ(encodeE8M0(kNan), 255);
    EXPECT_EQ(encodeE8M0(-kNan), 255);
    EXPECT_EQ(decodeE8M0(0), 0x1p-127F);
    EXPECT_EQ(decodeE8M0(1), 0x1p-126F);
    EXPECT_EQ(decodeE8M0(127), 1.0F);
    EXPECT_EQ(decodeE8M0(254), 0x1p127F);
    EXPECT_TRUE(std::isnan(decodeE8M0(255)));
}

// The scale of an E4M3 block is its amax times 1/448 in FP32, rounded up: 447 still fits scale 1, 449 needs 2.
TEST(FormatE8M0, scalesOfE4m3BlocksAsTransformerEngineGivesThem) {
    const struct {
        float amax;
        int code;
    } rows[] = {{0, 0}, {1, 119}, {3, 120}, {447, 127}, {448, 127}, {449, 128}, {896, 128}};
    for (const auto& row : rows) EXPECT_EQ(encodeE8M0(row.amax * (1.0F / 448.0F)), row.code) << row.amax;
}

TEST(FormatF16, knownValues) {
    const struct {
        float x;
        int code;
    } rows[] = {{1.0F, 0x3C00},     {-2.0F, 0xC000},       {0.5F, 0x3800},         {65504.0F, 0x7BFF},
                {0x1p-14F, 0x0400}, {0x1p-24F, 0x0001},    {0x1.ff8p-15F, 0x03FF}, {1.0F / 3.0F, 0x3555},
                {0.1F, 0x2E66},     {3.14159274F, 0x4248}, {0.0F, 0x0000},         {-0.0F, 0x8000}};
    for (const auto& row : rows) EXPECT_EQ(encodeF16(row.x), row.code) << row.x;
    EXPECT_EQ(decodeF16(0x3555), 0.333251953125F);
    EXPECT_EQ(decodeF16(0x03FF), 1023 * 0x1p-24F);
    EXPECT_EQ(decodeF16(0x7C00), kInfinity);
    EXPECT_EQ(decodeF16(0xFC00), -kInfinity);
    EXPECT_TRUE(std::isnan(decodeF16(0x7C01)));
}

TEST(FormatF16, tiesOverflowAndUnderflow) {
    EXPECT_EQ(encodeF16(2049.0F), 0x6800) << "tie to even, down";
    EXPECT_EQ(encodeF16(2051.0F), 0x6802) << "tie to even, up";
    EXPECT_EQ(encodeF16(std::nextafter(2049.0F, 3000.0F)), 0x6801);
    EXPECT_EQ(encodeF16(std::nextafter(65520.0F, 0.0F)), 0x7BFF);
    EXPECT_EQ(encodeF16(65520.0F), 0x7C00) << "half a step above the largest value rounds to infinity";
    EXPECT_EQ(encodeF16(-1e9F), 0xFC00);
    EXPECT_EQ(encodeF16(kInfinity), 0x7C00);
    EXPECT_EQ(encodeF16(0x1p-25F), 0x0000) << "tie to even";
    EXPECT_EQ(encodeF16(std::nextafter(0x1p-25F, 1.0F)), 0x0001);
    EXPECT_EQ(encodeF16(-0x1p-26F), 0x8000) << "underflow keeps the sign";
    EXPECT_EQ(encodeF16(0x1.8p-24F), 0x0002) << "tie between subnormals";
    EXPECT_EQ(encodeF16(std::nextafter(0x1p-14F, 0.0F)), 0x0400) << "carries into the normal numbers";
    EXPECT_EQ(encodeF16(kNan), 0x7FFF);
    EXPECT_EQ(encodeF16(-kNan), 0x7FFF);
}

}  // namespace
