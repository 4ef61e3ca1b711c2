// Recipes: scales by hand, which shapes they take, and the three products of a Linear with operands cast by each.
#include "cpu/thread_pool.h"
#include "engine/error.h"
#include "src/gemm_layer.h"
#include "src/random.h"
#include "src/recipes/current.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace {

using engine::Along;
using engine::Fp8Recipe;
using engine::RecipeFormat;
using engine::RecipeKind;
using engine::Role;
using engine::cpu::Type;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// te-facts 8: amax 1 → 448 / 57344; 3 → bits 0x43155555; powers of two 1 → 256, 3 → 128, 4 → 64, 0.5 → 512, 500 → 0.5.
TEST(CurrentScale, isFormatMaxOverAmax) {
    EXPECT_EQ(engine::currentScale(1.0F, 448.0F, 0.0F, false), 448.0F);
    EXPECT_EQ(engine::currentScale(1.0F, 57344.0F, 0.0F, false), 57344.0F);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(engine::currentScale(3.0F, 448.0F, 0.0F, false)), 0x43155555U);
}

TEST(CurrentScale, isOneWithoutAUsableAmax) {
    for (const float amax : {0.0F, kInf, kNan}) EXPECT_EQ(engine::currentScale(amax, 448.0F, 0.0F, false), 1.0F);
}

TEST(CurrentScale, roundsDownToPowersOfTwoWhenAsked) {
    const std::vector<std::pair<float, float>> expected = {{1, 256},    {3, 128},    {4, 64},
                                                           {0.5F, 512}, {500, 0.5F}, {448, 1}};
    for (const auto& [amax, scale] : expected) EXPECT_EQ(engine::currentScale(amax, 448.0F, 0.0F, true), scale) << amax;
    EXPECT_EQ(engine::currentScale(1.0F, 57344.0F, 0.0F, true), 32768.0F);
}

TEST(CurrentScale, treatsASmallAmaxAsEpsilonAndClampsToTheLargestFloat) {
    EXPECT_EQ(engine::currentScale(0.25F, 448.0F, 0.5F, false), 896.0F);
    EXPECT_EQ(engine::currentScale(0.0F, 448.0F, 0.5F, false), 896.0F) << "the epsilon counts before the test for zero";
    EXPECT_EQ(engine::currentScale(1e-38F, 448.0F, 0.0F, false), std::numeric_limits<float>::max());
}

Fp8Recipe recipeOf(RecipeKind kind, RecipeFormat format = RecipeFormat::Auto) {
    Fp8Recipe recipe;
    recipe.kind = kind;
    recipe.format = format;
    return recipe;
}

// te-facts 1.7: HYBRID by default for delayed and current, E4M3 everywhere for the block recipes, E2M1 for NVFP4.
TEST(RecipeList, knowsEachRecipesElementTypes) {
    for (const RecipeKind kind : {RecipeKind::Delayed, RecipeKind::Current}) {
        EXPECT_EQ(engine::elementType(recipeOf(kind), Role::Input), Type::E4M3);
        EXPECT_EQ(engine::elementType(recipeOf(kind), Role::Weight), Type::E4M3);
        EXPECT_EQ(engine::elementType(recipeOf(kind), Role::GradOutput), Type::E5M2);
        EXPECT_EQ(engine::elementType(recipeOf(kind, RecipeFormat::E4M3), Role::GradOutput), Type::E4M3);
    }
    for (const RecipeKind kind : {RecipeKind::Block, RecipeKind::MxFp8}) {
        EXPECT_EQ(engine::elementType(recipeOf(kind), Role::GradOutput), Type::E4M3);
        EXPECT_EQ(engine::elementType(recipeOf(kind, RecipeFormat::Hybrid), Role::GradOutput), Type::E5M2);
    }
    EXPECT_EQ(engine::elementType(recipeOf(RecipeKind::NvFp4), Role::Weight), Type::E2M1);
}

TEST(RecipeList, namesTheDimensionTheRuleAndTheNextSize) {
    EXPECT_EQ(engine::shapeProblem(RecipeKind::Delayed, 1024, 768, 3072), "");
    // cases.md D11: 767 is named and 2048 is not blamed.
    const std::string problem = engine::shapeProblem(RecipeKind::Delayed, 2048, 256, 767);
    EXPECT_NE(problem.find("in 767 % 16 = 15 (next: 768)"), std::string::npos) << problem;
    EXPECT_EQ(problem.find("tokens"), std::string::npos) << problem;
    EXPECT_NE(engine::shapeProblem(RecipeKind::Current, 896, 712, 64).find("out 712 % 16 = 8"), std::string::npos);
    EXPECT_NE(engine::shapeProblem(RecipeKind::Delayed, 50, 4096, 64).find("tokens 50 % 16 = 2"), std::string::npos);
    EXPECT_EQ(engine::shapeProblem(RecipeKind::MxFp8, 32, 96, 64), "");
    EXPECT_NE(engine::shapeProblem(RecipeKind::MxFp8, 32, 80, 64), "");
    EXPECT_NE(engine::shapeProblem(RecipeKind::Block, 128, 96, 128), "");
    EXPECT_EQ(engine::shapeProblem(RecipeKind::NvFp4, 16, 48, 80), "");
}

/// One Linear whose operands hold random values, cast by a recipe.
class CastLinear {
public:
    static constexpr std::int64_t kTokens = 128;
    static constexpr std::int64_t kIn = 256;
    static constexpr std::int64_t kOut = 384;

    explicit CastLinear(const Fp8Recipe& recipe) {
        std::vector<Type> formats;
        for (const Role role : {Role::Input, Role::Weight, Role::GradOutput}) {
            formats.push_back(engine::elementType(recipe, role));
        }
        m_recipe = engine::makeRecipe(recipe, formats);
        context.recipe = m_recipe.get();
        context.records = &m_records;
        context.watch.counters = true;
        m_records.resize(3);
        x = random(1, kTokens * kIn, 1.0F);
        w = random(2, kOut * kIn, 0.05F);
        dy = random(3, kTokens * kOut, 1e-3F);
        layer.in = kIn;
        layer.out = kOut;
        layer.weight = w.data();
        m_unpacked.resize(2, std::vector<float>(static_cast<std::size_t>(kTokens * kIn + kOut * kIn + kTokens * kOut)));
        context.unpackA = m_unpacked[0].data();
        context.unpackB = m_unpacked[1].data();
        prepare(layer.input, Role::Input, kTokens, kIn);
        prepare(layer.weightOperand, Role::Weight, kOut, kIn);
        prepare(layer.gradOutput, Role::GradOutput, kTokens, kOut);
        // Twice: a delayed scale follows from the first cast.
        for (int pass = 0; pass < 2; ++pass) {
            std::fill(m_records.begin(), m_records.end(), engine::TensorRecord{});
            castOperand(context, layer.input, x.data(), kTokens, "test");
            castOperand(context, layer.weightOperand, w.data(), kOut, "test");
            castOperand(context, layer.gradOutput, dy.data(), kTokens, "test");
            m_recipe->update();
        }
        layer.weightIsStored = true;  // as cast above
    }

    std::vector<double> values(const engine::Operand& operand, Along along, bool partnerQuantised = true) {
        const engine::ProductOperand product =
            productOperand(context, operand, along, operand.rows, partnerQuantised, context.unpackA);
        std::vector<double> result;
        for (std::int64_t i = 0; i < operand.rows * operand.cols; ++i) {
            double value = 0;
            if (product.type == Type::F32) {
                value = static_cast<const float*>(product.data)[i];
            } else if (product.type == Type::Bf16) {
                value = engine::decodeBf16(static_cast<const std::uint16_t*>(product.data)[i]);
            } else {
                value =
                    engine::decodeFp8(static_cast<const std::uint8_t*>(product.data)[i],
                                      product.type == Type::E5M2 ? engine::Fp8Format::E5M2 : engine::Fp8Format::E4M3);
            }
            result.push_back(value * static_cast<double>(product.factor));
        }
        return result;
    }
    const engine::TensorRecord& record(Role role) const { return m_records[static_cast<std::size_t>(role)]; }

    engine::cpu::ThreadPool pool{2};
    engine::StepContext context{pool, engine::cpu::bestIsa()};
    engine::GemmLayer layer;
    std::vector<float> x, w, dy;

private:
    static std::vector<float> random(std::uint64_t key, std::int64_t count, float deviation) {
        std::vector<float> values(static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = deviation * engine::randomNormal(key, i);
        return values;
    }
    void prepare(engine::Operand& operand, Role role, std::int64_t rows, std::int64_t cols) {
        operand.role = role;
        operand.rows = rows;
        operand.cols = cols;
        operand.slot = operand.tensor = static_cast<int>(role);
        engine::Arena measure;
        m_recipe->layout(operand, measure, 0);
        m_arenas.emplace_back(measure.used());
        m_recipe->layout(operand, m_arenas.back(), 0);
    }

    std::unique_ptr<engine::Recipe> m_recipe;
    std::vector<engine::TensorRecord> m_records;
    std::vector<engine::Arena> m_arenas;
    std::vector<std::vector<float>> m_unpacked;
};

std::vector<double> asDouble(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

/// c[m][n] = Σ_k a·b, element by stride: a(i, k) = a[i·ai + k·ak].
std::vector<double> product(const std::vector<double>& a, std::int64_t ai, std::int64_t ak,
                            const std::vector<double>& b, std::int64_t bj, std::int64_t bk, std::int64_t m,
                            std::int64_t n, std::int64_t depth) {
    std::vector<double> c(static_cast<std::size_t>(m * n), 0.0);
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t k = 0; k < depth; ++k)
                c[static_cast<std::size_t>(i * n + j)] +=
                    a[static_cast<std::size_t>(i * ai + k * ak)] * b[static_cast<std::size_t>(j * bj + k * bk)];
    return c;
}

/// ‖a − b‖ / ‖b‖
template <typename A>
double distance(const A& a, const std::vector<double>& b) {
    double error = 0;
    double norm = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        error += std::pow(static_cast<double>(a[i]) - b[i], 2);
        norm += b[i] * b[i];
    }
    return std::sqrt(error / norm);
}

struct Case {
    std::string name;
    Fp8Recipe recipe;
    double error;  // of a product of two operands, relative
};

void PrintTo(const Case& tested, std::ostream* out) {
    *out << tested.name;
}

// A value rounded to m mantissa bits errs by about 2^−(m+1)/√3 relative to itself, E4M3 2.6 %, E5M2 5 %; a product of
// two operands by the root of the sum of squares. E2M1's 1 bit with scales on 16 elements gives about 10 % each.
std::vector<Case> cases() {
    std::vector<Case> all;
    all.push_back({"delayed", recipeOf(RecipeKind::Delayed), 0.08});
    all.push_back({"delayed_e4m3", recipeOf(RecipeKind::Delayed, RecipeFormat::E4M3), 0.06});
    all.push_back({"current", recipeOf(RecipeKind::Current), 0.08});
    Fp8Recipe powers = recipeOf(RecipeKind::Current);
    powers.powerOfTwoScales = engine::Switch::On;
    all.push_back({"current_power_of_two", powers, 0.08});
    all.push_back({"block", recipeOf(RecipeKind::Block), 0.06});
    Fp8Recipe exactScales = recipeOf(RecipeKind::Block);
    exactScales.powerOfTwoScales = engine::Switch::Off;
    all.push_back({"block_fp32_scales", exactScales, 0.06});
    Fp8Recipe rows = recipeOf(RecipeKind::Block);
    rows.weightTiles = false;
    all.push_back({"block_1d_weights", rows, 0.06});
    all.push_back({"mxfp8", recipeOf(RecipeKind::MxFp8), 0.06});
    all.push_back({"mxfp8_hybrid", recipeOf(RecipeKind::MxFp8, RecipeFormat::Hybrid), 0.09});
    all.push_back({"nvfp4", recipeOf(RecipeKind::NvFp4), 0.25});
    Fp8Recipe plain = recipeOf(RecipeKind::NvFp4);
    plain.hadamard = plain.stochasticRounding = plain.weightTiles = false;
    all.push_back({"nvfp4_plain", plain, 0.2});
    return all;
}

class Products : public testing::TestWithParam<Case> {};

TEST_P(Products, approximateThoseOfTheOriginals) {
    CastLinear linear(GetParam().recipe);
    constexpr std::int64_t n = CastLinear::kTokens;
    constexpr std::int64_t in = CastLinear::kIn;
    constexpr std::int64_t out = CastLinear::kOut;
    const std::vector<double> x = asDouble(linear.x);
    const std::vector<double> w = asDouble(linear.w);
    const std::vector<double> dy = asDouble(linear.dy);
    std::vector<float> y(n * out);
    std::vector<float> dx(n * in);
    std::vector<float> dw(out * in);
    linear.layer.dWeight = dw.data();
    forward(linear.context, linear.layer, n, y.data(), false);
    backward(linear.context, linear.layer, n, dx.data());
    const double limit = GetParam().error;
    for (const auto& [name, error] : std::vector<std::pair<const char*, double>>{
             {"fprop", distance(y, product(x, in, 1, w, in, 1, n, out, in))},
             {"dgrad", distance(dx, product(dy, out, 1, w, 1, in, n, in, out))},
             {"wgrad", distance(dw, product(dy, 1, out, x, 1, in, out, in, n))}}) {
        EXPECT_LT(error, limit) << name;
        EXPECT_GT(error, limit / 20) << name << ": nothing was rounded";
    }
}

// What enters a product is exactly what the operand holds: the sums differ by FP32 rounding only.
TEST_P(Products, equalThoseOfTheDequantisedOperands) {
    CastLinear linear(GetParam().recipe);
    constexpr std::int64_t n = CastLinear::kTokens;
    constexpr std::int64_t in = CastLinear::kIn;
    constexpr std::int64_t out = CastLinear::kOut;
    std::vector<float> y(n * out);
    std::vector<float> dx(n * in);
    std::vector<float> dw(out * in);
    linear.layer.dWeight = dw.data();
    forward(linear.context, linear.layer, n, y.data(), false);
    backward(linear.context, linear.layer, n, dx.data());
    const std::vector<double> x = linear.values(linear.layer.input, Along::Columns);
    const std::vector<double> w = linear.values(linear.layer.weightOperand, Along::Columns);
    const std::vector<double> dy = linear.values(linear.layer.gradOutput, Along::Columns);
    const std::vector<double> wRows = linear.values(linear.layer.weightOperand, Along::Rows);
    const std::vector<double> dyRows = linear.values(linear.layer.gradOutput, Along::Rows);
    const std::vector<double> xRows = linear.values(linear.layer.input, Along::Rows);
    constexpr double kRounding = 2e-6;  // FP32 sums of up to 384 products
    EXPECT_LT(distance(y, product(x, in, 1, w, in, 1, n, out, in)), kRounding);
    EXPECT_LT(distance(dx, product(dy, out, 1, wRows, 1, in, n, in, out)), kRounding);
    EXPECT_LT(distance(dw, product(dyRows, 1, out, xRows, 1, in, out, in, n)), kRounding);
}

TEST_P(Products, dequantiseToWhatTheCountersSaw) {
    CastLinear linear(GetParam().recipe);
    const std::vector<double> x = linear.values(linear.layer.input, Along::Columns);
    double error = 0;
    double signal = 0;
    float amax = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        error += std::pow(static_cast<double>(linear.x[i]) - x[i], 2);
        signal += std::pow(static_cast<double>(linear.x[i]), 2);
        amax = std::max(amax, std::fabs(linear.x[i]));
    }
    const engine::TensorRecord& record = linear.record(Role::Input);
    EXPECT_NEAR(record.stats.sqError, error, 1e-5 * error);
    EXPECT_NEAR(record.stats.sqSignal, signal, 1e-5 * signal);
    EXPECT_EQ(record.stats.amax, amax);
    EXPECT_EQ(record.stats.count, CastLinear::kTokens * CastLinear::kIn);
    EXPECT_GT(record.scale, 0.0F);
    EXPECT_LE(record.stats.scaleInvMin, record.stats.scaleInvMax);
    EXPECT_NEAR(1.0F / record.scale, record.stats.scaleInvMax, 1e-6F * record.stats.scaleInvMax);
    // Nothing is clipped, and the largest block uses the format up to a factor of two.
    const float reach = amax * record.scale;
    EXPECT_LE(reach, engine::largestValue(linear.layer.input.type) * 1.2F);
    EXPECT_GE(reach, engine::largestValue(linear.layer.input.type) * 0.45F);
}

// Beside a BF16 partner the copy along the columns serves: a Hadamard transform would not cancel out.
TEST_P(Products, stayRightWhenOneOperandFellBack) {
    CastLinear linear(GetParam().recipe);
    constexpr std::int64_t n = CastLinear::kTokens;
    constexpr std::int64_t in = CastLinear::kIn;
    constexpr std::int64_t out = CastLinear::kOut;
    std::vector<std::uint16_t> bf16(n * out);
    engine::cpu::castBf16(linear.dy.data(), bf16.data(), n * out, engine::cpu::bestIsa());
    linear.layer.gradOutput.type = Type::Bf16;
    linear.layer.gradOutput.data = bf16.data();
    std::vector<float> dx(n * in);
    std::vector<float> dw(out * in);
    linear.layer.dWeight = dw.data();
    backward(linear.context, linear.layer, n, dx.data());
    const std::vector<double> dy = asDouble(linear.dy);
    EXPECT_LT(distance(dx, product(dy, out, 1, asDouble(linear.w), 1, in, n, in, out)), GetParam().error);
    EXPECT_LT(distance(dw, product(dy, 1, out, asDouble(linear.x), 1, in, out, in, n)), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(Recipes, Products, testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
