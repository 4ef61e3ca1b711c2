// The model in motion: forward and backward written out longhand over the buffers of model.h. Knows no optimizer, no
// files, no observer.
#pragma once

#include "cpu/thread_pool.h"
#include "engine/config.h"
#include "engine/observer.h"
#include "src/layer_plan.h"
#include "src/model.h"
#include "src/modules.h"

#include <memory>
#include <string>
#include <vector>

namespace engine {

/// Layers per block, in order of the forward pass.
enum class Linear : std::uint8_t { Qkv = 0, Proj = 1, Fc1 = 2, Fc2 = 3 };
inline constexpr int kLinearsPerLayer = 4;

/// One pass over a micro-batch: how many sequences of which length, and what is recorded.
struct Pass {
    int rows;
    int seqLen;
    bool record = false;  // false: evaluation; nothing of training changes
    Watch watch;
    bool firstMicroBatch = true;
    bool lastMicroBatch = true;
    std::uint64_t noiseKey = 0;
};

class Network {
public:
    /// `precision` is resolved (not Auto); config.model.vocab is set.
    /// `fallbackRoom`: operands have room for BF16 even if the guard is none that moves them.
    Network(const RunConfig& config, Precision precision, int threads, cpu::Isa isa, bool fallbackRoom = false);

    /// Logits of the first `rows` sequences of `inputs()`, each `seqLen` long.
    void forward(const Pass& pass);
    /// Mean loss over the targets; with `gradScale` other than 0 the logits become their gradient times it.
    double loss(const Pass& pass, float gradScale);
    /// Gradients of all parameters from the logits' gradient. Only after forward() with record, and loss().
    void backward(const Pass& pass);

    /// Renews the recipe's state from everything that was cast since the last call.
    void updateScales();

    int* inputs() { return m_activations.inputs; }
    int* targets() { return m_activations.targets; }
    const float* logits() const { return m_activations.logits; }

    /// Where each parameter is: gradients and moments by offset, FP32 parameters by home.
    const std::vector<ParameterSpec>& table() const { return m_plan.table; }
    float* parameters() { return m_parameterBase; }
    float* gradients() { return m_gradientBase; }
    std::int64_t gradientFloats() const { return engine::parameterFloats(m_plan.table); }
    std::int64_t parameterFloats() const { return homeFloats(m_plan.table); }

    /// The layer whose weight operand is the parameter; nullptr: the parameter is FP32.
    GemmLayer* storedLayer(const ParameterSpec& spec);
    /// Rounds new FP32 values [out][in] into a stored weight.
    void storeWeight(GemmLayer& layer, const float* values, const Pass& pass);
    /// Overwrites every parameter from values laid out by offset; stored weights are rounded.
    void setParameters(const float* values);

    const std::vector<TensorInfo>& tensors() const { return m_plan.tensors; }
    const std::vector<TensorRecord>& records() const { return m_records; }
    void clearRecords();
    /// nullptr: nothing is quantised.
    Recipe* recipe() { return m_plan.recipe.get(); }
    /// The same recipe with another length of history; its state is taken over.
    void replaceRecipe(const Fp8Recipe& recipe);
    const std::vector<LayerFallback>& fallbacks() const { return m_plan.fallbacks; }
    const std::vector<GemmLayer>& layers() const { return m_plan.layers; }

    /// Quantised operands, in the recipe's order.
    const std::vector<Operand*>& slots() const { return m_plan.slots; }
    /// Moves an operand to BF16, or back to its recipe's type. Only where there is room for it; stored weights stay.
    /// False: nothing changed.
    bool setFallback(int slot, bool bf16);

    std::int64_t memoryBytes() const { return m_memoryBytes; }
    cpu::ThreadPool& pool() { return m_pool; }

private:
    void bindLayers();
    void embed(const Pass& pass);
    void embedBackward(const Pass& pass);
    void rotate(const Pass& pass, float* qkv, bool inverse);
    void blockForward(StepContext& context, int index, const Pass& pass);
    void attentionForward(StepContext& context, int index, const Pass& pass);
    void blockBackward(StepContext& context, int index, const Pass& pass);
    void mlpBackward(StepContext& context, int index, const Pass& pass);
    StepContext context(const Pass& pass);
    NormParameters norm(const float* weight, const float* bias, float* mean, float* rstd) const;
    GemmLayer& linear(int layer, Linear which) {
        return m_plan.layers[static_cast<std::size_t>(layer) * kLinearsPerLayer + static_cast<std::size_t>(which)];
    }
    GemmLayer& head() { return m_plan.layers.back(); }

    RunConfig m_config;
    cpu::Isa m_isa;
    cpu::ThreadPool m_pool;
    LayerPlan m_plan;
    Arena m_parameterArena;  // parameters, then gradients
    Arena m_activationArena;
    Arena m_operandArena;
    float* m_parameterBase = nullptr;
    float* m_gradientBase = nullptr;
    ModelParameters m_parameters;
    ModelParameters m_gradients;
    Activations m_activations;
    std::vector<const char*> m_layerNames;
    std::vector<TensorRecord> m_records;
    std::int64_t m_memoryBytes = 0;
    bool m_fallbackRoom;
};

/// Bytes that a run of this configuration takes: a network and the optimizer's moments and masters.
std::int64_t networkBytes(const RunConfig& config, Precision precision, int threads);

}  // namespace engine
