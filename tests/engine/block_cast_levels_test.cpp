// Block-scaled casts of rough data: the definitions written anew without the engine's kernels, every instruction-set
// level against Ref bit for bit, and any split of the rows against the whole.
#include "block_samples.h"
#include "isa_levels.h"

namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace)

const std::pair<int, int> kSizes[] = {{1, 2}, {2, 16}, {16, 34}, {33, 64}, {40, 96}, {131, 130}, {256, 258}};

void expectNearOrSame(double actual, double expected) {
    if (std::isfinite(expected)) {
        EXPECT_NEAR(actual, expected, 1e-12 * expected);
    } else {
        EXPECT_EQ(actual, expected);
    }
}

void expectSameCounts(const CastStats& actual, const CastStats& expected) {
    EXPECT_EQ(actual.amax, expected.amax);
    EXPECT_EQ(actual.saturated, expected.saturated);
    EXPECT_EQ(actual.underflowed, expected.underflowed);
    EXPECT_EQ(actual.zeros, expected.zeros);
    EXPECT_EQ(actual.nonFinite, expected.nonFinite);
    EXPECT_EQ(actual.count, expected.count);
    EXPECT_EQ(actual.scaleInvMin, expected.scaleInvMin);
    EXPECT_EQ(actual.scaleInvMax, expected.scaleInvMax);
    expectNearOrSame(actual.sqError, expected.sqError);
    expectNearOrSame(actual.sqSignal, expected.sqSignal);
}

class BlockCastLevels : public IsaTest {};
INSTANTIATE_FOR_ALL_LEVELS(BlockCastLevels);

TEST_P(BlockCastLevels, codesScalesAndCountsAreThoseOfRefForEveryCastAndSize) {
    unsigned seed = 1;
    for (const auto& [rows, cols] : kSizes) {
        for (const BlockCast& cast : recipeCasts()) {
            SCOPED_TRACE(describe(cast) + " " + std::to_string(rows) + "x" + std::to_string(cols));
            const std::vector<float> x = roughMatrix(rows, cols, seed++);
            for (const bool counting : {true, false}) {
                const Quantised expected = quantise(cast, x, cols, Isa::Ref, counting);
                const Quantised actual = quantise(cast, x, cols, isa(), counting);
                ASSERT_EQ(actual.codeMemory, expected.codeMemory);
                ASSERT_EQ(actual.scaleMemory, expected.scaleMemory);
                expectSameCounts(actual.stats, expected.stats);
            }
        }
    }
}

TEST_P(BlockCastLevels, anySplitOfTheRowsGivesTheSameBytesAndCounts) {
    constexpr std::int64_t kRows = 300;
    constexpr std::int64_t kCols = 70;
    const std::vector<float> x = roughMatrix(kRows, kCols, 77);
    for (const BlockCast& cast : recipeCasts()) {
        SCOPED_TRACE(describe(cast));
        const Quantised whole = quantise(cast, x, kCols, isa());
        Quantised parts(cast, kRows, kCols);
        // From the last part to the first.
        const std::int64_t part = 2 * cast.blockRows;
        for (std::int64_t row = (kRows - 1) / part * part; row >= 0; row -= part) {
            CastStats stats;
            castBlocks(cast, x.data() + row * kCols, row, std::min(part, kRows - row), kCols, parts.codes(),
                       parts.scales(), true, stats, isa());
            parts.stats.add(stats);
        }
        parts.expectGuardsIntact();
        EXPECT_EQ(parts.codeMemory, whole.codeMemory);
        EXPECT_EQ(parts.scaleMemory, whole.scaleMemory);
        expectSameCounts(parts.stats, whole.stats);
    }
}

TEST_P(BlockCastLevels, offsetsOfTheSourceDoNotMatter) {
    const std::vector<float> x = roughMatrix(1, 16 * 96 + 7, 5);
    for (const BlockCast& cast : {mxFp8(1, 32), nvFp4(16, 1)}) {
        for (const std::ptrdiff_t offset : {1, 3, 7}) {
            const std::vector<float> moved(x.begin() + offset, x.begin() + offset + 16 * 96);
            Quantised actual(cast, 16, 96);
            castBlocks(cast, x.data() + offset, 0, 16, 96, actual.codes(), actual.scales(), false, actual.stats, isa());
            EXPECT_EQ(actual.codeMemory, quantise(cast, moved, 96, Isa::Ref, false).codeMemory);
        }
    }
}

// ---------------------------------------------------------------- the definitions, anew

double valueOf(Type type, int code) {
    if (type == Type::E2M1) return static_cast<double>(engine::decodeE2M1(static_cast<std::uint8_t>(code)));
    return static_cast<double>(engine::decodeFp8(
        static_cast<std::uint8_t>(code), type == Type::E4M3 ? engine::Fp8Format::E4M3 : engine::Fp8Format::E5M2));
}

/// Nearest of all finite magnitudes by search, the even code on a tie.
int nearestMagnitude(Type type, double magnitude) {
    const int codes = type == Type::E2M1 ? 8 : type == Type::E4M3 ? 0x7F : 0x7C;
    int best = 0;
    for (int code = 1; code < codes; ++code) {
        const double gain = std::fabs(magnitude - valueOf(type, best)) - std::fabs(magnitude - valueOf(type, code));
        if (gain > 0 || (gain == 0 && code % 2 == 0)) best = code;
    }
    return best;
}

struct ExpectedScale {
    float encode;
    double decode;
    int byte;
};

ExpectedScale expectedScale(const BlockCast& cast, float amax) {
    const float max = static_cast<float>(cast.type == Type::E2M1 ? 6 : cast.type == Type::E4M3 ? 448 : 57344);
    if (cast.scaleType == BlockScale::E8M0) {
        const double wanted = static_cast<double>(amax * (1 / max));
        int exponent = 0;
        while (exponent < 254 && std::ldexp(1.0, exponent - 127) < wanted) ++exponent;
        return {static_cast<float>(std::ldexp(1.0, 127 - exponent)), std::ldexp(1.0, exponent - 127), exponent};
    }
    if (cast.scaleType == BlockScale::F32) {
        const float limited = std::max(amax, cast.amaxEpsilon);
        float scale = 1;
        if (limited > 0 && limited < kInfinity) {
            scale = max / limited > FLT_MAX ? FLT_MAX : max / limited;
            if (cast.powerOfTwo) scale = std::ldexp(1.0F, std::ilogb(scale));
        }
        return {scale, static_cast<double>(1 / scale), 0};
    }
    const float wanted = amax * (cast.globalEncode * (1.0F / 6));
    const int byte = nearestMagnitude(Type::E4M3, std::min(static_cast<double>(wanted), 1e9));
    const double decode = valueOf(Type::E4M3, byte);
    const float product = static_cast<float>(decode) * (1 / cast.globalEncode);
    return {product > 1 / FLT_MAX ? std::min(1 / product, FLT_MAX) : FLT_MAX, decode, byte};
}

TEST_P(BlockCastLevels, everyElementIsTheNearestCodeUnderTheScaleOfItsBlock) {
    constexpr std::int64_t kRows = 40;
    constexpr std::int64_t kCols = 146;
    const std::vector<float> x = roughMatrix(kRows, kCols, 3);
    const auto at = [&](std::int64_t r, std::int64_t c) { return x[static_cast<std::size_t>(r * kCols + c)]; };
    for (const BlockCast& cast : recipeCasts()) {
        if (cast.stochastic) continue;
        SCOPED_TRACE(describe(cast));
        const Quantised q = quantise(cast, x, kCols, isa());
        const int sign = cast.type == Type::E2M1 ? 8 : 0x80;
        double sqError = 0;
        std::vector<ExpectedScale> scales;
        for (std::int64_t r = 0; r < kRows; ++r)
            for (std::int64_t c = 0; c < kCols; ++c) {
                if (r % cast.blockRows == 0 && c % cast.blockCols == 0) {
                    float amax = 0;
                    for (std::int64_t i = r; i < std::min(r + cast.blockRows, kRows); ++i)
                        for (std::int64_t j = c; j < std::min(c + cast.blockCols, kCols); ++j)
                            if (std::fabs(at(i, j)) > amax) amax = std::fabs(at(i, j));
                    scales.push_back(expectedScale(cast, amax));
                }
                const ExpectedScale& scale = scales[q.slot(r, c)];
                if (cast.scaleType == BlockScale::F32) {
                    ASSERT_EQ(static_cast<double>(q.scaleInv(r, c)), scale.decode);
                } else {
                    ASSERT_EQ(q.scaleByte(r, c), scale.byte);
                }
                const float scaled = at(r, c) * scale.encode;
                if (std::isnan(scaled)) {
                    ASSERT_EQ(q.code(r, c), sign - 1);
                    continue;
                }
                const double limited = std::min(std::fabs(static_cast<double>(scaled)), 1e9);
                const int code = nearestMagnitude(cast.type, limited) | (std::signbit(scaled) ? sign : 0);
                ASSERT_EQ(q.code(r, c), code) << r << ',' << c << ": " << at(r, c);
                if (!std::isfinite(at(r, c))) continue;
                const double value = valueOf(cast.type, code) * scale.decode / static_cast<double>(cast.globalEncode);
                // The largest floats may read back as infinity.
                const bool above = std::fabs(value) > static_cast<double>(FLT_MAX);
                const double error = above ? HUGE_VAL : static_cast<double>(at(r, c)) - value;
                sqError += error * error;
            }
        // The engine rounds a value and its error to FP32: a few units of 2^-24 of the largest values, which dominate.
        if (std::isinf(sqError)) {
            EXPECT_EQ(q.stats.sqError, sqError);
        } else {
            EXPECT_NEAR(q.stats.sqError, sqError, 1e-5 * sqError);
        }
    }
}

}  // namespace
