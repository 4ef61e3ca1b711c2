// The list of recipes, and what they share by default.
#include "engine/error.h"
#include "src/recipes/per_tensor.h"

#include <algorithm>
#include <array>

namespace engine {

namespace {

struct Entry {
    RecipeKind kind;
    std::unique_ptr<Recipe> (*make)(const Fp8Recipe&, const std::vector<cpu::Type>&);
    ShapeRule rule;
};

// Delayed and current scaling: cuBLASLt's FP8 products need leading dimensions in multiples of 16, wgrad that of the
// tokens. The others: whole blocks, along the rows too (Transformer Engine's quantizers ask for the same).
constexpr std::array<Entry, 5> kRecipes = {{
    {RecipeKind::Delayed, makeDelayed, {16, "FP8 products need"}},
    {RecipeKind::Current, makeCurrent, {16, "FP8 products need"}},
    {RecipeKind::Block, makeBlock, {128, "whole blocks of block scaling need"}},
    {RecipeKind::MxFp8, makeMxFp8, {32, "whole blocks of MXFP8 need"}},
    {RecipeKind::NvFp4, makeNvFp4, {16, "whole blocks of NVFP4 need"}},
}};

const Entry& entry(RecipeKind kind) {
    for (const Entry& candidate : kRecipes) {
        if (candidate.kind == kind) return candidate;
    }
    checkFailed("known recipe", __FILE__, __LINE__, "a recipe that the list lacks");
}

}  // namespace

std::unique_ptr<Recipe> makeRecipe(const Fp8Recipe& recipe, const std::vector<cpu::Type>& formats) {
    return entry(recipe.kind).make(recipe, formats);
}

cpu::Type elementType(const Fp8Recipe& recipe, Role role) {
    if (recipe.kind == RecipeKind::NvFp4) return cpu::Type::E2M1;
    return fp8Type(effectiveFormat(recipe), role);
}

ShapeRule shapeRule(RecipeKind kind) {
    return entry(kind).rule;
}

std::string shapeProblem(RecipeKind kind, std::int64_t rows, std::int64_t out, std::int64_t in) {
    const ShapeRule rule = shapeRule(kind);
    const std::array<std::pair<const char*, std::int64_t>, 3> dimensions = {
        {{"out", out}, {"in", in}, {"tokens", rows}}};
    std::string problem;
    for (const auto& [what, size] : dimensions) {
        if (size % rule.multiple == 0) continue;
        const std::int64_t next = (size / rule.multiple + 1) * rule.multiple;
        problem += (problem.empty() ? "" : ", ") + std::string(what) + " " + std::to_string(size) + " % " +
                   std::to_string(rule.multiple) + " = " + std::to_string(size % rule.multiple) +
                   " (next: " + std::to_string(next) + ")";
    }
    if (problem.empty()) return problem;
    return "the product [" + std::to_string(rows) + "][" + std::to_string(in) + "] × [" + std::to_string(out) + "][" +
           std::to_string(in) + "]ᵀ has " + problem + "; multiples of " + std::to_string(rule.multiple) + " are what " +
           rule.reason;
}

const char* formatName(cpu::Type type) {
    switch (type) {
        case cpu::Type::F32:
            return "FP32";
        case cpu::Type::Bf16:
            return "BF16";
        case cpu::Type::E4M3:
            return "E4M3";
        case cpu::Type::E5M2:
            return "E5M2";
        case cpu::Type::E2M1:
            break;
    }
    return "E2M1";
}

float largestValue(cpu::Type type) {
    switch (type) {
        case cpu::Type::E4M3:
            return fp8Limits(Fp8Format::E4M3).max;
        case cpu::Type::E5M2:
            return fp8Limits(Fp8Format::E5M2).max;
        case cpu::Type::E2M1:
            return 6.0F;
        default:
            return 0.0F;
    }
}

void TensorAmax::add(const TensorAmax& other) {
    data = std::max(data, other.data);
    columnData = std::max(columnData, other.columnData);
}

void Recipe::layout(Operand& operand, Arena& arena, std::int64_t elementBytes) const {
    operand.type = operand.recipeType = elementType(operand.role);
    const std::int64_t codes = cpu::bytesFor(operand.type, operand.rows * operand.cols);
    operand.data = arena.takeBytes(std::max(codes, operand.rows * operand.cols * elementBytes));
}

std::vector<std::span<std::byte>> Recipe::memory(const Operand& operand) const {
    const std::int64_t bytes = cpu::bytesFor(operand.recipeType, operand.rows * operand.cols);
    return {{static_cast<std::byte*>(operand.data), static_cast<std::size_t>(bytes)}};
}

void Recipe::measure(const Operand& operand, const float* x, std::int64_t rows, TensorAmax& amax, cpu::Isa isa) const {
    amax.data = std::max(amax.data, cpu::amaxOf(x, rows * operand.cols, isa));
}

float Recipe::unpackedFactor(const Operand& /*operand*/, Along /*along*/) const {
    return 1.0F;
}

void Recipe::unpackStrip(const Operand& /*operand*/, Along /*along*/, std::int64_t /*firstRow*/, std::int64_t /*rows*/,
                         void* /*out*/, cpu::Isa /*isa*/) const {
    checkFailed("unpacksForProducts", __FILE__, __LINE__, "this recipe's elements are read as they are");
}

void Recipe::restore(const std::vector<float>& state) {
    ENGINE_CHECK(state.empty(), "scaling state of another recipe");
}

}  // namespace engine
