// Casting a file's tensors tile by tile with the recipes themselves: a tile is an operand of its own. That works
// because tiles begin and end at multiples of every block and no recipe looks further than a block once it has the
// amax.
#include "engine/inspection.h"

#include "engine/error.h"
#include "src/model.h"
#include "src/observation.h"
#include "src/recipes/recipe.h"
#include "src/weight_names.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace engine {

namespace {

/// Delayed scaling does not ask for the amax, it looks back at it: here the step before is this very tensor.
bool needsAmaxFirst(const Recipe& recipe, RecipeKind kind) {
    return recipe.needsAmax() || kind == RecipeKind::Delayed;
}

std::unique_ptr<Recipe> weightRecipe(const Fp8Recipe& recipe) {
    return makeRecipe(recipe, {elementType(recipe, Role::Weight)});
}

/// One recipe at work on one tensor.
class TensorCast {
public:
    explicit TensorCast(const Fp8Recipe& recipe)
        : m_kind(recipe.kind), m_recipe(weightRecipe(recipe)), m_isa(cpu::activeIsa()) {
        m_operand.role = Role::Weight;
        m_operand.slot = 0;
        m_operand.type = m_operand.recipeType = m_recipe->elementType(Role::Weight);
        m_operand.bothWays = false;
    }

    bool needsAmaxFirst() const { return engine::needsAmaxFirst(*m_recipe, m_kind); }

    void measure(const WeightTile& tile) {
        m_operand.cols = tile.cols;
        m_recipe->measure(m_operand, tile.values, tile.rows, m_amax, m_isa);
    }

    void fixScales() {
        m_recipe->record(m_operand.slot, m_amax.data);
        m_recipe->update();
        m_recipe->begin(m_operand, m_amax, 0);
    }

    void cast(const WeightTile& tile) {
        // Two E2M1 codes share a byte of one row: an odd row gets a zero more, which changes nothing but two counts.
        const bool padded = m_operand.recipeType == cpu::Type::E2M1 && tile.cols % 2 != 0;
        const std::int64_t cols = tile.cols + (padded ? 1 : 0);
        makeRoom(tile.rows, cols);
        m_operand.cols = cols;
        cpu::CastStats stats;
        m_recipe->castStrip(m_operand, 0, tile.rows, padded ? withZeroColumn(tile) : tile.values, true, stats, m_isa);
        if (padded) {
            stats.count -= tile.rows;
            stats.zeros -= tile.rows;
        }
        m_stats.add(stats);
    }

    TensorInspection result(std::int64_t rows, std::int64_t cols, float smallest) const {
        TensorInspection result;
        result.recipe = m_kind;
        result.format = formatName(m_operand.recipeType);
        result.count = m_stats.count;
        result.amax = m_stats.amax;
        if (std::isfinite(smallest)) result.smallest = smallest;
        if (m_stats.count > 0) {
            result.scaleInvMin = m_stats.scaleInvMin;
            result.scaleInvMax = m_stats.scaleInvMax;
        }
        result.saturated = m_stats.saturated;
        result.underflowed = m_stats.underflowed;
        result.zeros = m_stats.zeros;
        result.nonFinite = m_stats.nonFinite;
        result.sqError = m_stats.sqError;
        result.sqSignal = m_stats.sqSignal;
        result.shapeProblem = weightShapeProblem(m_kind, rows, cols);
        return result;
    }

private:
    /// The first tile of a tensor is the largest.
    void makeRoom(std::int64_t rows, std::int64_t cols) {
        if (rows <= m_operand.rows && cols <= m_roomCols) return;
        m_operand.rows = rows;
        m_operand.cols = m_roomCols = cols;
        Arena sizes;
        m_recipe->layout(m_operand, sizes, 0);
        m_room = Arena(sizes.used());
        m_recipe->layout(m_operand, m_room, 0);
    }

    const float* withZeroColumn(const WeightTile& tile) {
        m_padded.assign(static_cast<std::size_t>(tile.rows * (tile.cols + 1)), 0.0F);
        for (std::int64_t row = 0; row < tile.rows; ++row) {
            std::copy_n(tile.values + row * tile.cols, tile.cols, m_padded.data() + row * (tile.cols + 1));
        }
        return m_padded.data();
    }

    RecipeKind m_kind;
    std::unique_ptr<Recipe> m_recipe;
    cpu::Isa m_isa;
    Operand m_operand;  // the tile at hand
    Arena m_room;       // for its codes and scales
    std::int64_t m_roomCols = 0;
    std::vector<float> m_padded;
    TensorAmax m_amax;
    cpu::CastStats m_stats;
};

void checkReadable(const WeightFile& file, const WeightTensor& tensor) {
    if (isReadable(tensor.type)) return;
    throw Error(ErrorKind::Failure, "tensor " + tensor.name + " of " + file.path(),
                std::string("is stored as ") + name(tensor.type) + ", which is no floating-point type that can be read",
                "leave it out");
}

}  // namespace

int inspectionPasses(std::span<const Fp8Recipe> recipes) {
    const bool twice = std::any_of(recipes.begin(), recipes.end(), [](const Fp8Recipe& recipe) {
        return needsAmaxFirst(*weightRecipe(recipe), recipe.kind);
    });
    return twice ? 2 : 1;
}

std::vector<TensorInspection> inspectTensor(const WeightFile& file, const WeightTensor& tensor,
                                            std::span<const Fp8Recipe> recipes, const InspectionProgress& progress) {
    checkReadable(file, tensor);
    std::vector<TensorCast> casts;
    for (const Fp8Recipe& recipe : recipes) casts.emplace_back(recipe);
    const auto note = [&](const WeightTile& tile) {
        if (progress) progress(tile.rows * tile.cols);
    };
    if (inspectionPasses(recipes) == 2) {
        file.visitTiles(tensor, [&](const WeightTile& tile) {
            for (TensorCast& cast : casts) {
                if (cast.needsAmaxFirst()) cast.measure(tile);
            }
            note(tile);
        });
    }
    for (TensorCast& cast : casts) cast.fixScales();
    float smallest = std::numeric_limits<float>::infinity();
    const cpu::Isa isa = cpu::activeIsa();
    file.visitTiles(tensor, [&](const WeightTile& tile) {
        Exponents exponents;
        cpu::countExponents(tile.values, tile.rows * tile.cols, exponents.counts.data(), smallest, isa);
        for (TensorCast& cast : casts) cast.cast(tile);
        note(tile);
    });
    std::vector<TensorInspection> results;
    for (const TensorCast& cast : casts) results.push_back(cast.result(tensor.rows, tensor.cols, smallest));
    return results;
}

TensorInspection inspectTensor(const WeightFile& file, const WeightTensor& tensor, const Fp8Recipe& recipe) {
    return inspectTensor(file, tensor, std::span(&recipe, 1)).front();
}

std::string weightShapeProblem(RecipeKind recipe, std::int64_t rows, std::int64_t cols) {
    return shapeProblem(recipe, shapeRule(recipe).multiple, rows, cols);
}

std::string weightArchitecture(const WeightFile& file) {
    try {
        return planWeights(file).model.architecture;
    } catch (const Error&) {
        return "";  // a file of any other kind can be inspected too
    }
}

bool matchesPatterns(const std::string& patterns, const std::string& name) {
    return matchesAny(patterns, name);
}

}  // namespace engine
