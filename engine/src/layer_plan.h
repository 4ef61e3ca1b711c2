// Which layer runs in which precision, what is watched of it, and where its operands live. Needs no network, so that a
// run's memory can be told before it is taken.
#pragma once

#include "engine/config.h"
#include "engine/observer.h"
#include "src/gemm_layer.h"
#include "src/model.h"

#include <memory>
#include <string>
#include <vector>

namespace engine {

/// Why a GEMM layer is not quantised although the run is.
struct LayerFallback {
    std::string layer;
    Precision precision;
    std::string reason;
};

struct LayerPlan {
    std::vector<GemmLayer> layers;  // in order of the forward pass
    std::vector<Operand*> slots;    // quantised operands, in the recipe's order; they point into `layers`
    std::vector<TensorInfo> tensors;
    std::vector<LayerFallback> fallbacks;
    std::unique_ptr<Recipe> recipe;  // nullptr: nothing is quantised
    std::vector<ParameterSpec> table;
    void* unpackA = nullptr;  // where products unpack their operands
    void* unpackB = nullptr;
};

/// `precision` is resolved. Operands have no memory yet; layoutOperands gives it to them, with `fallbackRoom` enough to
/// be in BF16.
LayerPlan planLayers(const RunConfig& config, Precision precision);
void layoutOperands(LayerPlan& plan, bool fallbackRoom, Arena& arena);

}  // namespace engine
