// What a recipe would do to the weights of a file: each tensor cast as a training would cast it as a weight, a tile at
// a time, so that files larger than memory can be looked at. Nothing is kept but the counts.
#pragma once

#include "engine/config.h"
#include "engine/weights.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace engine {

/// One tensor under one recipe, in role weight. Counts and sums as in TensorSnapshot.
struct TensorInspection {
    RecipeKind recipe = RecipeKind::Delayed;
    std::string format;  // of the elements: "E4M3", "E2M1"
    std::int64_t count = 0;
    float amax = 0;                                               // NaN passed over, may be infinite
    float smallest = std::numeric_limits<float>::quiet_NaN();     // smallest |x| that is not 0; NaN: none
    float scaleInvMin = std::numeric_limits<float>::quiet_NaN();  // smallest and largest factor that dequantises a
    float scaleInvMax = std::numeric_limits<float>::quiet_NaN();  // block; equal for one scale per tensor
    std::int64_t saturated = 0;
    std::int64_t underflowed = 0;
    std::int64_t zeros = 0;
    std::int64_t nonFinite = 0;
    double sqError = 0;        // Σ(x − q)² over finite x
    double sqSignal = 0;       // Σx² over finite x
    std::string shapeProblem;  // as weightShapeProblem() says it
};

/// Called after each piece of a tensor with the number of elements read since the last call, every pass included. What
/// it throws ends the inspection.
using InspectionProgress = std::function<void(std::int64_t elements)>;

/// How often a tensor is read for these recipes: once, or twice where one of them needs the amax first.
int inspectionPasses(std::span<const Fp8Recipe> recipes);

/// Casts a readable tensor by every recipe; one result each, in their order. Values are those of the file, without any
/// scale that it keeps beside them. Matrices are taken as they are stored, [rows][cols], so blocks lie along the last
/// dimension; where a model stores [in][out], as GPT-2's Conv1D does, that is the copy which a training casts along the
/// other one.
///
/// Delayed scaling takes the scale that it has converged to, (448 · 2^−margin) / amax of this very tensor, not the 1 of
/// a first step. Memory: a tile and its codes for each recipe, whatever the size of the tensor. Sums are added up in
/// the order of the tiles, so they repeat to the bit on one instruction set. Throws Error when reading fails.
std::vector<TensorInspection> inspectTensor(const WeightFile& file, const WeightTensor& tensor,
                                            std::span<const Fp8Recipe> recipes,
                                            const InspectionProgress& progress = {});
TensorInspection inspectTensor(const WeightFile& file, const WeightTensor& tensor, const Fp8Recipe& recipe);

/// "" or why a weight [rows][cols] cannot be trained by the recipe (with products of whole blocks): inspection casts it
/// all the same, with what is left of a block at the edges.
std::string weightShapeProblem(RecipeKind recipe, std::int64_t rows, std::int64_t cols);

/// "gpt2" or "llama" where names and shapes are those of such a model, "" otherwise.
std::string weightArchitecture(const WeightFile& file);

/// Whether `name` matches one of the comma-separated patterns with * and ?.
bool matchesPatterns(const std::string& patterns, const std::string& name);

}  // namespace engine
