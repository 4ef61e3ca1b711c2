// Which options matter under a configuration; see option_effect.h.
#include "jobs/option_effect.h"

#include <algorithm>
#include <array>
#include <vector>

namespace jobs {
namespace {

using engine::Precision;
using engine::RecipeKind;

/// Options that only some recipes read.
struct RecipeOption {
    const char* option;
    std::vector<RecipeKind> recipes;
    void (*reset)(engine::Fp8Recipe&);
};

template <auto Member>
void resetMember(engine::Fp8Recipe& recipe) {
    recipe.*Member = engine::Fp8Recipe{}.*Member;
}

const std::vector<RecipeOption>& recipeOptions() {
    using enum RecipeKind;
    using engine::Fp8Recipe;
    static const std::vector<RecipeOption> options = {
        {"format", {Delayed, Current, Block, MxFp8}, resetMember<&Fp8Recipe::format>},
        {"margin", {Delayed}, resetMember<&Fp8Recipe::margin>},
        {"amax-history-len", {Delayed}, resetMember<&Fp8Recipe::amaxHistoryLen>},
        {"amax-algo", {Delayed}, resetMember<&Fp8Recipe::amaxAlgo>},
        {"power-of-two-scales", {Current, Block}, resetMember<&Fp8Recipe::powerOfTwoScales>},
        {"amax-epsilon", {Current, Block}, resetMember<&Fp8Recipe::amaxEpsilon>},
        {"weight-tiles", {Block, NvFp4}, resetMember<&Fp8Recipe::weightTiles>},
        {"stochastic-rounding", {NvFp4}, resetMember<&Fp8Recipe::stochasticRounding>},
        {"hadamard", {NvFp4}, resetMember<&Fp8Recipe::hadamard>},
    };
    return options;
}

constexpr std::array<const char*, 6> kFp8Options = {"recipe",           "weights",     "keep-bf16",
                                                    "bf16-edge-layers", "guard-limit", "guard-steps"};
constexpr std::array<const char*, 4> kSnapshotOptions = {"snapshot-from", "snapshot-to", "exponents-every", "observe"};

template <std::size_t N>
bool contains(const std::array<const char*, N>& options, const std::string& option) {
    return std::find(options.begin(), options.end(), option) != options.end();
}

bool mayBeFp8(Precision precision) {
    return precision == Precision::Fp8 || precision == Precision::Auto;
}

std::string recipeReason(const engine::RunConfig& config, const RecipeOption& entry) {
    const auto& recipes = entry.recipes;
    if (std::find(recipes.begin(), recipes.end(), config.recipe.kind) != recipes.end()) return "";
    std::string names;
    for (std::size_t i = 0; i < recipes.size(); ++i) {
        names += (i == 0 ? "" : i + 1 == recipes.size() ? " and " : ", ") + std::string(engine::name(recipes[i]));
    }
    return "it belongs to the recipe" + std::string(recipes.size() > 1 ? "s " : " ") + names + ", and this run's is " +
           engine::name(config.recipe.kind);
}

std::string guardReason(const engine::TrainConfig& train, const std::string& option) {
    using engine::Guard;
    if (option == "guard-limit" && train.guard == Guard::Off) return "the guard is off";
    if (option == "guard-steps" && train.guard != Guard::Fallback) {
        return std::string("it belongs to the guard fallback, and this run's is ") + engine::name(train.guard);
    }
    return "";
}

}  // namespace

std::string withoutEffect(const engine::RunConfig& config, const std::string& option) {
    const Precision precision = config.train.precision;
    const std::string computes = std::string("this run computes in ") + engine::name(precision);
    for (const RecipeOption& entry : recipeOptions()) {
        if (option == entry.option) return mayBeFp8(precision) ? recipeReason(config, entry) : computes;
    }
    if (contains(kFp8Options, option) && !mayBeFp8(precision)) return computes;
    if (option == "keep-fp32" && precision == Precision::Fp32) return computes;
    if (option == "rope-theta" && config.model.positions != engine::Positions::Rotary) {
        return "it belongs to rotary positions, and this model's are learned";
    }
    if (contains(kSnapshotOptions, option) && config.train.snapshotEvery == 0) return "no snapshots are taken";
    return guardReason(config.train, option);
}

engine::RunConfig withoutIdleSettings(engine::RunConfig config) {
    const bool fp8 = mayBeFp8(config.train.precision);
    for (const RecipeOption& entry : recipeOptions()) {
        if (!fp8 || !recipeReason(config, entry).empty()) entry.reset(config.recipe);
    }
    if (!fp8) config.recipe.kind = engine::Fp8Recipe{}.kind;
    if (config.train.precision != Precision::Fp8) config.train.weights = engine::WeightStorage::Fp32;
    return config;
}

}  // namespace jobs
