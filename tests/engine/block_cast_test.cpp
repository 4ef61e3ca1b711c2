// Casts with one scale per block against numbers worked out by hand, at every instruction-set level: scales of known
// amaxes, small matrices for each shape of block, special elements, counts, and stochastic rounding.
#include "block_samples.h"
#include "isa_levels.h"

#include <bit>

namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace)

class BlockCastNumbers : public IsaTest {
protected:
    /// One block, its first element `amax`, the others zero.
    Quantised blockOf(BlockCast cast, float amax) const {
        const std::int64_t count = cast.blockRows * cast.blockCols;
        std::vector<float> x(static_cast<std::size_t>(count), 0.0F);
        x[0] = amax;
        return quantise(cast, x, cast.blockCols, isa());
    }
};
INSTANTIATE_FOR_ALL_LEVELS(BlockCastNumbers);

// te-facts 8, MXFP8 E4M3; for E5M2 1/57344 lies between 2^-16 and 2^-15.
TEST_P(BlockCastNumbers, mxFp8ExponentIsThatOfAmaxOverTheLargestValueRoundedUp) {
    for (const BlockCast& cast : {mxFp8(1, 32), mxFp8(32, 1), mxFp8(32, 32)}) {
        const std::pair<float, int> known[] = {{0, 0},     {1, 119},   {3, 120},  {447, 127},
                                               {448, 127}, {449, 128}, {896, 128}};
        for (const auto& [amax, exponent] : known) {
            EXPECT_EQ(blockOf(cast, amax).scaleByte(0, 0), exponent) << amax << ' ' << describe(cast);
            EXPECT_EQ(blockOf(cast, -amax).scaleByte(0, 0), exponent) << -amax << ' ' << describe(cast);
        }
    }
    const std::pair<float, int> wide[] = {{1, 112}, {57344, 127}, {57345, 128}, {114688, 128}};
    for (const auto& [amax, exponent] : wide) {
        EXPECT_EQ(blockOf(mxFp8(1, 32, Type::E5M2), amax).scaleByte(0, 0), exponent) << amax;
    }
}

TEST_P(BlockCastNumbers, mxFp8ReachesBothEndsOfItsExponents) {
    // 448 · 2^-127 is the largest amax of exponent 0; its element is stored as 448.
    const float smallest = std::ldexp(448.0F, -127);
    EXPECT_EQ(blockOf(mxFp8(1, 32), smallest).scaleByte(0, 0), 0);
    EXPECT_EQ(blockOf(mxFp8(1, 32), smallest).code(0, 0), 0x7E);
    EXPECT_EQ(blockOf(mxFp8(1, 32), smallest * 1.01F).scaleByte(0, 0), 1);
    // FLT_MAX/448 lies between 2^119 and 2^120; FLT_MAX · 2^-120 is just below 256.
    EXPECT_EQ(blockOf(mxFp8(1, 32), FLT_MAX).scaleByte(0, 0), 127 + 120);
    EXPECT_EQ(blockOf(mxFp8(1, 32), FLT_MAX).code(0, 0), 0x78);
    EXPECT_EQ(blockOf(mxFp8(1, 32), kInfinity).scaleByte(0, 0), 254);
    EXPECT_EQ(blockOf(mxFp8(1, 32), kInfinity).code(0, 0), 0x7E);
}

// te-facts 8, "Power-of-two E4M3" and D06.
TEST_P(BlockCastNumbers, blockScalesAreTheFp32QuotientOrThePowerOfTwoBelow) {
    const std::pair<float, float> powers[] = {{1, 256}, {3, 128}, {4, 64}, {0.5F, 512}, {500, 0.5F}, {448, 1}};
    for (const auto& [rows, cols] : {std::pair<int, int>{1, 128}, {128, 1}, {128, 128}}) {
        for (const auto& [amax, scale] : powers) {
            EXPECT_EQ(blockOf(blockScaling(rows, cols, true), amax).scaleInv(0, 0), 1 / scale) << amax;
        }
        const float third = std::bit_cast<float>(0x43155555U);  // fl32(448/3)
        EXPECT_EQ(blockOf(blockScaling(rows, cols, false), 3).scaleInv(0, 0), 1 / third);
        EXPECT_EQ(blockOf(blockScaling(rows, cols, false), 4).scaleInv(0, 0), 1.0F / 112);
    }
    EXPECT_EQ(blockOf(blockScaling(1, 128, true, Type::E5M2), 1).scaleInv(0, 0), 1.0F / 32768);
    // An amax whose quotient overflows: the scale is FLT_MAX, or the power of two below it.
    const Quantised tiny = blockOf(blockScaling(1, 128, false), 1e-38F);
    EXPECT_EQ(tiny.scaleInv(0, 0), 1 / FLT_MAX);
    EXPECT_EQ(tiny.code(0, 0), 0x46);  // 1e-38 · 3.4028e38 = 3.403: 3.5
    const Quantised tinyPower = blockOf(blockScaling(1, 128, true), 1e-38F);
    EXPECT_EQ(tinyPower.scaleInv(0, 0), 0x1p-127F);
    EXPECT_EQ(tinyPower.code(0, 0), 0x3E);  // 1e-38 · 2^127 = 1.701: 1.75
}

TEST_P(BlockCastNumbers, blockScaleIsOneForZeroAndInfinityAndEpsilonIsAFloor) {
    for (const auto& [rows, cols] : {std::pair<int, int>{1, 128}, {128, 1}, {128, 128}}) {
        for (const float amax : {0.0F, -0.0F, kInfinity, kNan}) {
            const Quantised block = blockOf(blockScaling(rows, cols, true), amax);
            EXPECT_EQ(block.scaleInv(0, 0), 1.0F) << amax;
            for (std::int64_t i = 1; i < block.rows * block.cols; ++i) {
                ASSERT_EQ(block.code(i / block.cols, i % block.cols), 0);
            }
        }
        BlockCast withFloor = blockScaling(rows, cols, false);
        withFloor.amaxEpsilon = 2;
        EXPECT_EQ(blockOf(withFloor, 0.25F).scaleInv(0, 0), 1.0F / 224);
        EXPECT_EQ(blockOf(withFloor, 0).scaleInv(0, 0), 1.0F / 224);
        EXPECT_EQ(blockOf(withFloor, 4).scaleInv(0, 0), 1.0F / 112);
    }
}

// te-facts 8: global amax 1 gives 2688; block amax 1 gives the E4M3 scale 448, 0.25 gives 112.
TEST_P(BlockCastNumbers, nvFp4ScalesOfKnownAmaxes) {
    EXPECT_EQ(engine::cpu::globalEncodeScale(1), 2688);
    EXPECT_EQ(engine::cpu::globalEncodeScale(0.5F), 5376);
    EXPECT_EQ(engine::cpu::globalEncodeScale(1e-38F), FLT_MAX);
    EXPECT_EQ(engine::cpu::globalEncodeScale(0), 1);
    EXPECT_EQ(engine::cpu::globalEncodeScale(kInfinity), 1);
    for (const BlockCast& cast : {nvFp4(1, 16, 2688), nvFp4(16, 1, 2688), nvFp4(16, 16, 2688)}) {
        const std::int64_t cols = std::max<std::int64_t>(cast.blockCols, 2);
        std::vector<float> x(static_cast<std::size_t>(cast.blockRows * cols), 0.0F);
        const auto scaleOf = [&](float amax) {
            x[0] = amax;
            return quantise(cast, x, cols, isa()).scaleByte(0, 0);
        };
        EXPECT_EQ(scaleOf(1), 0x7E);      // 448
        EXPECT_EQ(scaleOf(0.25F), 0x6E);  // 112
        EXPECT_EQ(scaleOf(0), 0);
        EXPECT_EQ(scaleOf(kInfinity), 0x7E);
        EXPECT_EQ(scaleOf(2), 0x7E) << "saturates where the tensor's amax was understated";
    }
}

/// Ones and 1.1s with one outlier at row 1, column 2: only its own block loses the small values.
struct Outlier {
    BlockCast cast;
    float common, outlier;
    int commonCode, lostCode, outlierCode;
    float commonScale, outlierScale;  // as the scales are read back
};

std::vector<Outlier> outlierCases() {
    std::vector<Outlier> cases;
    // amax 1.1: 1.1/448 is below 2^-8, 1.1 · 2^8 = 281.6 → 288 (0x79). amax 2^20: 2340.6 → 2^12, 2^20/2^12 = 256
    // (0x78), 1.1/2^12 is below half of 2^-9. Rounding the scale 448/amax down to a power of two says the same.
    for (const auto& [rows, cols] : {std::pair<int, int>{1, 32}, {32, 1}, {32, 32}}) {
        cases.push_back({mxFp8(rows, cols), 1.1F, 0x1p20F, 0x79, 0, 0x78, 0x1p-8F, 0x1p12F});
    }
    for (const auto& [rows, cols] : {std::pair<int, int>{1, 128}, {128, 1}, {128, 128}, {1, 64}}) {
        cases.push_back({blockScaling(rows, cols, true), 1.1F, 0x1p20F, 0x79, 0, 0x78, 0x1p-8F, 0x1p12F});
    }
    // amax 1: 1/6 → 0.171875 in E4M3, 1/0.171875 = 5.8 → 6 (7). amax 64: 10.67 → 11, 64/11 = 5.8 → 6, 1/11 → 0.
    for (const auto& [rows, cols] : {std::pair<int, int>{1, 16}, {16, 1}, {16, 16}}) {
        cases.push_back({nvFp4(rows, cols), 1, 64, 7, 0, 7, 0.171875F, 11});
    }
    return cases;
}

TEST_P(BlockCastNumbers, anOutlierCostsItsOwnBlockAndNoOther) {
    // Sizes that leave shorter blocks at the right and at the bottom.
    for (const auto& [rows, cols] : {std::pair<int, int>{256, 256}, {40, 40}, {3, 70}, {131, 150}}) {
        for (const Outlier& the : outlierCases()) {
            SCOPED_TRACE(describe(the.cast) + " " + std::to_string(rows) + "x" + std::to_string(cols));
            std::vector<float> x(static_cast<std::size_t>(rows * cols), the.common);
            x[static_cast<std::size_t>(cols) + 2] = the.outlier;
            const Quantised q = quantise(the.cast, x, cols, isa());
            std::int64_t lost = -1;
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < cols; ++c) {
                    const bool inside = r / the.cast.blockRows == 1 / the.cast.blockRows &&
                                        c / the.cast.blockCols == 2 / the.cast.blockCols;
                    const bool outlier = r == 1 && c == 2;
                    const int expected = outlier ? the.outlierCode : inside ? the.lostCode : the.commonCode;
                    ASSERT_EQ(q.code(r, c), expected) << r << ',' << c;
                    const float scale = inside ? the.outlierScale : the.commonScale;
                    if (the.cast.scaleType == BlockScale::F32) {
                        ASSERT_EQ(q.scaleInv(r, c), scale) << r << ',' << c;
                    } else {
                        const auto byte = static_cast<std::uint8_t>(q.scaleByte(r, c));
                        ASSERT_EQ(the.cast.scaleType == BlockScale::E8M0
                                      ? engine::decodeE8M0(byte)
                                      : engine::decodeFp8(byte, engine::Fp8Format::E4M3),
                                  scale);
                    }
                    lost += inside ? 1 : 0;
                }
            EXPECT_EQ(q.stats.underflowed, lost);
            EXPECT_EQ(q.stats.amax, the.outlier);
            const bool oneBlock = lost + 1 == rows * cols;
            EXPECT_EQ(q.stats.scaleInvMin, oneBlock ? the.outlierScale : the.commonScale);
            EXPECT_EQ(q.stats.scaleInvMax, the.outlierScale);
            EXPECT_EQ(q.stats.count, rows * cols);
        }
    }
}

// The reason why two copies are kept: the same element is lost in one and kept in the other.
TEST_P(BlockCastNumbers, rowwiseAndColumnwiseCopiesDiffer) {
    std::vector<float> x(32 * 32, 1.1F);
    x[0] = 0x1p20F;
    const Quantised rowwise = quantise(mxFp8(1, 32), x, 32, isa());
    const Quantised columnwise = quantise(mxFp8(32, 1), x, 32, isa());
    EXPECT_EQ(rowwise.code(0, 5), 0);
    EXPECT_EQ(rowwise.code(5, 0), 0x79);
    EXPECT_EQ(columnwise.code(0, 5), 0x79);
    EXPECT_EQ(columnwise.code(5, 0), 0);
}

TEST_P(BlockCastNumbers, neighbouringE2m1CodesShareAByteTheFirstInTheLowHalf) {
    // amax 6 makes the block scale 1, so the codes are those of the values themselves.
    const std::vector<float> x = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6, -0.0F, -0.5F, -1, -1.5F, -2, -3, -4, -6};
    Quantised q = quantise(nvFp4(1, 16), x, 16, isa());
    EXPECT_EQ(q.scaleByte(0, 0), 0x38);
    const std::vector<std::uint8_t> expected = {0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE};
    EXPECT_EQ(std::vector<std::uint8_t>(q.codes(), q.codes() + 8), expected);
    // Ties go to the even code: 0.25 → 0, 0.75 → 1, 1.25 → 1, 1.75 → 2, 2.5 → 2, 3.5 → 4, 5 → 4.
    const std::vector<float> ties = {6, 0.25F, 0.75F, 1.25F, 1.75F, 2.5F, 3.5F, 5, -0.25F, -5, kNan, -kNan, 0, 0, 0, 0};
    const Quantised tied = quantise(nvFp4(1, 16), ties, 16, isa());
    const int codes[] = {7, 0, 2, 2, 4, 4, 6, 6, 8, 0xE, 7, 7, 0, 0, 0, 0};
    for (int i = 0; i < 16; ++i) EXPECT_EQ(tied.code(0, i), codes[i]) << ties[static_cast<std::size_t>(i)];
}

TEST_P(BlockCastNumbers, nanIsPassedOverByAmaxAndKeptAsCode) {
    for (const BlockCast& cast :
         {mxFp8(1, 32), mxFp8(32, 1), blockScaling(1, 128, true), blockScaling(128, 128, true)}) {
        std::vector<float> x(128 * 128, 1.0F);
        x[0] = kNan;
        x[300] = -kNan;
        const Quantised q = quantise(cast, x, 128, isa());
        EXPECT_EQ(q.stats.amax, 1.0F);
        EXPECT_EQ(q.stats.nonFinite, 2);
        EXPECT_EQ(q.stats.saturated, 0);
        EXPECT_EQ(q.code(0, 0), 0x7F);
        EXPECT_EQ(q.code(2, 44), 0x7F);
        EXPECT_EQ(q.code(1, 1), 0x78);  // 1 · 2^8
    }
    const std::vector<float> onlyNan(64, kNan);
    const Quantised q = quantise(mxFp8(1, 32), onlyNan, 32, isa());
    EXPECT_EQ(q.stats.amax, 0.0F);
    EXPECT_EQ(q.scaleByte(1, 0), 0);
    EXPECT_EQ(q.code(1, 31), 0x7F);
}

TEST_P(BlockCastNumbers, anInfinityTakesItsBlockWithIt) {
    std::vector<float> x(64, 3.0F);
    x[5] = -kInfinity;
    const Quantised q = quantise(mxFp8(1, 32), x, 32, isa());
    EXPECT_EQ(q.scaleByte(0, 0), 254);
    EXPECT_EQ(q.code(0, 5), 0xFE);  // saturated
    EXPECT_EQ(q.code(0, 6), 0);     // 3 · 2^-127
    EXPECT_EQ(q.stats.saturated, 1);
    EXPECT_EQ(q.stats.nonFinite, 1);
    EXPECT_EQ(q.stats.underflowed, 31);
    EXPECT_EQ(q.stats.sqSignal, 63 * 9.0);
    EXPECT_EQ(q.stats.sqError, 31 * 9.0);  // 3 is exact in the other block
    EXPECT_EQ(q.stats.scaleInvMax, 0x1p127F);
}

TEST_P(BlockCastNumbers, nvFp4SaturatesWhereItsScaleWasRoundedDownAndLosesBlocksThatAreTooSmall) {
    // 6.3/6 = 1.05 rounds to the scale 1, so 6.3 is above 6; 0.2 rounds to 0. Error: 0.3 and 0.2, squared.
    std::vector<float> x(16, 0.0F);
    x[3] = 6.3F;
    x[4] = -0.2F;
    const Quantised rounded = quantise(nvFp4(1, 16), x, 16, isa());
    EXPECT_EQ(rounded.code(0, 3), 7);
    EXPECT_EQ(rounded.code(0, 4), 8);
    EXPECT_EQ(rounded.stats.saturated, 1);
    EXPECT_EQ(rounded.stats.underflowed, 1);
    EXPECT_EQ(rounded.stats.zeros, 14);
    EXPECT_NEAR(rounded.stats.sqError, 0.09 + 0.04, 1e-6);
    // 1e-4/6 is below half of E4M3's 2^-9: the block's scale is 0 and everything in it reads back as 0.
    x[3] = 1e-4F;
    x[4] = -1e-5F;
    const Quantised lost = quantise(nvFp4(1, 16), x, 16, isa());
    EXPECT_EQ(lost.scaleByte(0, 0), 0);
    EXPECT_EQ(lost.code(0, 3), 7) << "1e-4 · FLT_MAX";
    EXPECT_EQ(lost.stats.saturated, 0);
    EXPECT_EQ(lost.stats.underflowed, 2);
    EXPECT_EQ(lost.stats.sqError, lost.stats.sqSignal);
    EXPECT_EQ(lost.stats.scaleInvMin, 0.0F);
    EXPECT_EQ(lost.stats.scaleInvMax, 0.0F);
    // The tensor's scale is part of scale_inv: 448 · fl32(1/2688) for amax 1.
    x[3] = 1;
    EXPECT_EQ(quantise(nvFp4(1, 16, 2688), x, 16, isa()).stats.scaleInvMax, 448 * (1.0F / 2688));
}

TEST_P(BlockCastNumbers, withoutCountingOnlyAmaxAndScalesAreNoted) {
    std::vector<float> x(64, 1.0F);
    x[0] = 0;
    x[40] = 100;
    const CastStats stats = quantise(mxFp8(1, 32), x, 32, isa(), false).stats;
    EXPECT_EQ(stats.amax, 100);
    EXPECT_EQ(stats.scaleInvMin, 0x1p-8F);
    EXPECT_EQ(stats.scaleInvMax, 0x1p-2F);  // 100/448 is just below 2^-2
    EXPECT_EQ(stats.count + stats.zeros + stats.saturated + stats.underflowed + stats.nonFinite, 0);
    EXPECT_EQ(stats.sqError + stats.sqSignal, 0);
    CastStats both;
    both.add(stats);
    CastStats other = stats;
    other.scaleInvMin = 0x1p-20F;
    other.scaleInvMax = 0x1p-10F;
    both.add(other);
    EXPECT_EQ(both.scaleInvMin, 0x1p-20F);
    EXPECT_EQ(both.scaleInvMax, 0x1p-2F);
}

TEST_P(BlockCastNumbers, stochasticRoundingIsRightOnAverageAndTakesOnlyNeighbours) {
    // The first of each 16 makes the block scale 1. Codes below and above, and the share that goes up.
    struct Point {
        float x;
        int below, above;
        double up;
    };
    const Point points[] = {{0.1F, 0, 1, 0.2},    {0.25F, 0, 1, 0.5},     {0.7F, 1, 2, 0.4},  {1.375F, 2, 3, 0.75},
                            {1.9F, 3, 4, 0.8},    {2.25F, 4, 5, 0.25},    {3.5F, 5, 6, 0.5},  {4.5F, 6, 7, 0.25},
                            {5.99F, 6, 7, 0.995}, {-2.75F, 12, 13, 0.75}, {-0.05F, 8, 9, 0.1}};
    constexpr int kRows = 6000;
    for (const Point& point : points) {
        std::vector<float> x(kRows * 16, point.x);
        for (std::size_t i = 0; i < x.size(); i += 16) x[i] = 6;
        const Quantised q = quantise(nvFp4(1, 16, 1, true), x, 16, isa());
        double up = 0;
        double pairsUp = 0;
        for (int r = 0; r < kRows; ++r) {
            ASSERT_EQ(q.code(r, 0), 7) << "exact values never move";
            for (int c = 1; c < 16; ++c) {
                ASSERT_TRUE(q.code(r, c) == point.below || q.code(r, c) == point.above) << q.code(r, c);
                up += q.code(r, c) == point.above ? 1 : 0;
                // Elements 2k and 2k + 1 share one draw of 64 bits.
                if (c % 2 == 1 && c > 1) {
                    pairsUp += q.code(r, c) == point.above && q.code(r, c - 1) == point.above ? 1 : 0;
                }
            }
        }
        // Five standard deviations of a share of n independent draws.
        const auto bound = [](double p, double n) { return 5 * std::sqrt(p * (1 - p) / n); };
        EXPECT_NEAR(up / (15.0 * kRows), point.up, bound(point.up, 15.0 * kRows)) << point.x;
        EXPECT_NEAR(pairsUp / (7.0 * kRows), point.up * point.up, bound(point.up * point.up, 7.0 * kRows)) << point.x;
    }
}

TEST_P(BlockCastNumbers, stochasticRoundingDependsOnTheKeyAndKeepsSpecials) {
    std::vector<float> x(64 * 16, 2.5F);
    for (std::size_t i = 0; i < x.size(); i += 16) x[i] = 6;
    x[1] = kNan;
    x[2] = -6;
    x[3] = -0.0F;
    BlockCast cast = nvFp4(1, 16, 1, true);
    const Quantised first = quantise(cast, x, 16, isa());
    EXPECT_EQ(first.code(0, 1), 7);
    EXPECT_EQ(first.code(0, 2), 0xF);
    EXPECT_EQ(first.code(0, 3), 8);
    EXPECT_EQ(quantise(cast, x, 16, isa()).codeMemory, first.codeMemory);
    ++cast.noiseKey;
    EXPECT_NE(quantise(cast, x, 16, isa()).codeMemory, first.codeMemory);
}

TEST(BlockCast, refusesWhatNoKernelIsMadeFor) {
    const std::vector<float> x(64, 1.0F);
    std::vector<std::uint8_t> codes(64);
    std::vector<float> scales(64);
    const auto cast = [&](const BlockCast& how, std::int64_t firstRow, std::int64_t cols) {
        CastStats stats;
        castBlocks(how, x.data(), firstRow, 1, cols, codes.data(), scales.data(), false, stats, Isa::Ref);
    };
    EXPECT_NO_THROW(cast(mxFp8(1, 32), 0, 32));
    EXPECT_THROW(cast(mxFp8(1, 32, Type::E2M1), 0, 32), std::logic_error);
    EXPECT_THROW(cast(mxFp8(1, 32, Type::Bf16), 0, 32), std::logic_error);
    EXPECT_THROW(cast(mxFp8(1, 24), 0, 32), std::logic_error);
    EXPECT_THROW(cast(mxFp8(32, 1), 1, 32), std::logic_error);
    EXPECT_THROW(cast(nvFp4(1, 16), 0, 15), std::logic_error);
    EXPECT_THROW(cast(nvFp4(1, 16, 0), 0, 16), std::logic_error);
    BlockCast stochasticFp8 = mxFp8(1, 32);
    stochasticFp8.stochastic = true;
    EXPECT_THROW(cast(stochasticFp8, 0, 32), std::logic_error);
    EXPECT_THROW(engine::cpu::bytesOf(Type::E2M1), std::logic_error);
    EXPECT_EQ(engine::cpu::bytesFor(Type::E2M1, 6), 3);
    EXPECT_EQ(engine::cpu::bytesFor(Type::Bf16, 6), 12);
}

}  // namespace
