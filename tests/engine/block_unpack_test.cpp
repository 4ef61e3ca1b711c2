// The way back from block-scaled codes: every code under every scale against exact arithmetic, BF16 against FP32, every
// instruction-set level against Ref bit for bit, and the error that a cast counts against the values themselves.
#include "block_samples.h"
#include "isa_levels.h"

#include <bit>

namespace {

using namespace testing_support;  // NOLINT(google-build-using-namespace)

class BlockUnpack : public IsaTest {
protected:
    std::vector<float> toF32(Quantised& q, std::int64_t firstRow, std::int64_t rows, Isa isa) const {
        std::vector<float> values(static_cast<std::size_t>(rows * q.cols) + kGuard, 12345.0F);
        unpackBlocksF32(q.cast, q.codes(), q.scales(), firstRow, rows, q.cols, values.data(), isa);
        for (std::size_t i = 0; i < kGuard; ++i) EXPECT_EQ(values[values.size() - 1 - i], 12345.0F);
        values.resize(values.size() - kGuard);
        return values;
    }
    std::vector<std::uint16_t> toBf16(Quantised& q, std::int64_t firstRow, std::int64_t rows, Isa isa) const {
        std::vector<std::uint16_t> values(static_cast<std::size_t>(rows * q.cols) + kGuard, 0xABCD);
        unpackBlocksBf16(q.cast, q.codes(), q.scales(), firstRow, rows, q.cols, values.data(), isa);
        for (std::size_t i = 0; i < kGuard; ++i) EXPECT_EQ(values[values.size() - 1 - i], 0xABCD);
        values.resize(values.size() - kGuard);
        return values;
    }
};
INSTANTIATE_FOR_ALL_LEVELS(BlockUnpack);

/// All 256 codes (E2M1: 16) in each row, row s under scale byte s.
Quantised everyCodeUnderEveryScale(BlockCast cast) {
    const std::int64_t cols = 256;
    Quantised q(cast, 256, cols);
    for (std::int64_t r = 0; r < 256; ++r) {
        for (std::int64_t c = 0; c < bytesFor(cast.type, cols); ++c) {
            const std::int64_t pair = (2 * c) % 16 | (2 * c + 1) % 16 << 4;
            q.codes()[r * bytesFor(cast.type, cols) + c] =
                static_cast<std::uint8_t>(cast.type == Type::E2M1 ? pair : c);
        }
        for (std::int64_t block = 0; block < cols / cast.blockCols; ++block) {
            q.scales()[r * (cols / cast.blockCols) + block] = static_cast<std::uint8_t>(r);
        }
    }
    return q;
}

double exactValue(const Quantised& q, std::int64_t row, std::int64_t col) {
    const auto code = static_cast<std::uint8_t>(q.code(row, col));
    const auto byte = static_cast<std::uint8_t>(q.scaleByte(row, col));
    const double scale = q.cast.scaleType == BlockScale::E8M0
                             ? (byte == 255 ? static_cast<double>(kNan) : std::ldexp(1.0, byte - 127))
                             : static_cast<double>(engine::decodeFp8(byte, engine::Fp8Format::E4M3));
    const float value = q.cast.type == Type::E2M1   ? engine::decodeE2M1(code)
                        : q.cast.type == Type::E4M3 ? engine::decodeFp8(code, engine::Fp8Format::E4M3)
                                                    : engine::decodeFp8(code, engine::Fp8Format::E5M2);
    return static_cast<double>(value) * scale;
}

TEST_P(BlockUnpack, everyCodeUnderEveryScaleIsExactInFp32AndFromTheSmallestNormalOnInBf16) {
    const BlockCast casts[] = {mxFp8(1, 32), mxFp8(1, 32, Type::E5M2), mxFp8(1, 1), nvFp4(1, 16), nvFp4(1, 1)};
    for (const BlockCast& cast : casts) {
        SCOPED_TRACE(describe(cast));
        Quantised q = everyCodeUnderEveryScale(cast);
        const std::vector<float> values = toF32(q, 0, 256, isa());
        const std::vector<std::uint16_t> halves = toBf16(q, 0, 256, isa());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto row = static_cast<std::int64_t>(i) / 256;
            const auto col = static_cast<std::int64_t>(i) % 256;
            const double exact = exactValue(q, row, col);
            const float half = engine::decodeBf16(halves[i]);
            if (std::isnan(exact)) {
                ASSERT_TRUE(std::isnan(values[i]) && std::isnan(half));
                continue;
            }
            ASSERT_EQ(std::signbit(values[i]), std::signbit(exact));
            ASSERT_EQ(std::signbit(half), std::signbit(exact));
            if (std::fabs(exact) > static_cast<double>(FLT_MAX)) {
                ASSERT_TRUE(std::isinf(values[i]) && std::isinf(half)) << row << ',' << col;
                continue;
            }
            ASSERT_EQ(static_cast<double>(values[i]), exact) << row << ',' << col;
            // Below 2^-126, BF16 has steps of 2^-133.
            const double step = 0x1p-133;
            const bool normal = exact == 0 || std::fabs(exact) >= 0x1p-126;
            ASSERT_EQ(static_cast<double>(half), normal ? exact : std::nearbyint(exact / step) * step);
        }
    }
}

TEST_P(BlockUnpack, fp32ScalesAreMultipliedWithOneRounding) {
    std::mt19937 random(9);
    for (const auto& [rows, cols] : {std::pair<int, int>{1, 128}, {128, 1}, {128, 128}}) {
        for (const bool powerOfTwo : {true, false}) {
            const std::vector<float> x = roughMatrix(130, 200, static_cast<unsigned>(random()));
            Quantised q = quantise(blockScaling(rows, cols, powerOfTwo), x, 200, isa());
            const std::vector<float> values = toF32(q, 0, 130, isa());
            for (std::size_t i = 0; i < values.size(); ++i) {
                const auto row = static_cast<std::int64_t>(i) / 200;
                const auto col = static_cast<std::int64_t>(i) % 200;
                const float code =
                    engine::decodeFp8(static_cast<std::uint8_t>(q.code(row, col)), engine::Fp8Format::E4M3);
                const float expected = code * q.scaleInv(row, col);
                if (std::isnan(expected)) {
                    ASSERT_TRUE(std::isnan(values[i]));
                } else {
                    ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), std::bit_cast<std::uint32_t>(expected));
                }
            }
            if (!powerOfTwo) continue;
            const std::vector<std::uint16_t> halves = toBf16(q, 0, 130, isa());
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (std::fabs(values[i]) < 0x1p-126F || std::isnan(values[i])) continue;
                ASSERT_EQ(engine::decodeBf16(halves[i]), values[i]);
            }
        }
    }
}

TEST_P(BlockUnpack, bitsAreThoseOfRefForEveryCastSizeAndPart) {
    unsigned seed = 40;
    for (const auto& [rows, cols] : {std::pair<int, int>{1, 2}, {16, 34}, {40, 96}, {131, 130}, {256, 258}}) {
        for (const BlockCast& cast : recipeCasts()) {
            SCOPED_TRACE(describe(cast) + " " + std::to_string(rows) + "x" + std::to_string(cols));
            Quantised q = quantise(cast, roughMatrix(rows, cols, seed++), cols, Isa::Ref);
            // Codes and scales that no cast makes are read back too.
            q.codes()[0] = 0xFF;
            if (cast.scaleType != BlockScale::F32) q.scales()[0] = 0xFF;
            // Parts that begin and end within a strip.
            for (const auto& [first, count] :
                 {std::pair<int, int>{0, rows}, {rows / 3, rows - rows / 3}, {0, rows / 2}}) {
                const std::vector<float> expected = toF32(q, first, count, Isa::Ref);
                const std::vector<float> actual = toF32(q, first, count, isa());
                ASSERT_EQ(std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(float)), 0);
                if (!exactInBf16(cast)) continue;
                ASSERT_EQ(toBf16(q, first, count, isa()), toBf16(q, first, count, Isa::Ref));
            }
        }
    }
}

TEST_P(BlockUnpack, theErrorThatACastCountsIsThatOfTheValues) {
    std::mt19937 random(11);
    std::normal_distribution<float> normal(0, 2);
    std::vector<float> x(128 * 256);
    for (float& value : x) value = normal(random);
    for (BlockCast cast : recipeCasts()) {
        SCOPED_TRACE(describe(cast));
        if (cast.type == Type::E2M1) cast.globalEncode = engine::cpu::globalEncodeScale(12);
        Quantised q = quantise(cast, x, 256, isa());
        const std::vector<float> values = toF32(q, 0, 128, isa());
        double sqError = 0;
        double sqSignal = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double error =
                static_cast<double>(x[i]) - static_cast<double>(values[i]) / static_cast<double>(cast.globalEncode);
            sqError += error * error;
            sqSignal += static_cast<double>(x[i]) * static_cast<double>(x[i]);
        }
        // A value is rounded to FP32, 2^-24 of it; errors are some 2^-5 of it, so 2^-19, doubled by squaring.
        EXPECT_NEAR(q.stats.sqError, sqError, 0x1p-17 * sqError);
        EXPECT_NEAR(q.stats.sqSignal, sqSignal, 1e-12 * sqSignal);
        EXPECT_LT(sqError, 0.04 * sqSignal) << "the values resemble what was cast";
    }
}

TEST(BlockUnpackUse, bf16NeedsPowersOfTwo) {
    EXPECT_TRUE(exactInBf16(mxFp8(1, 32)));
    EXPECT_TRUE(exactInBf16(nvFp4(1, 16)));
    EXPECT_TRUE(exactInBf16(blockScaling(1, 128, true)));
    EXPECT_FALSE(exactInBf16(blockScaling(1, 128, false)));
    const std::uint8_t codes[128] = {};
    const float scale = 1;
    std::uint16_t values[128];
    EXPECT_THROW(unpackBlocksBf16(blockScaling(1, 128, false), codes, &scale, 0, 1, 128, values, Isa::Ref),
                 std::logic_error);
}

}  // namespace
