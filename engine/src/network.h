// The model in motion: forward and backward written out longhand over the buffers of model.h. Knows no optimizer, no
// files, no observer.
#pragma once

#include "cpu/thread_pool.h"
#include "engine/config.h"
#include "engine/observer.h"
#include "src/gemm_layer.h"
#include "src/model.h"

#include <memory>
#include <string>
#include <vector>

namespace engine {

/// Layers per block, in order of the forward pass.
enum class Linear : std::uint8_t { Qkv = 0, Proj = 1, Fc1 = 2, Fc2 = 3 };
inline constexpr int kLinearsPerLayer = 4;

/// Why a GEMM layer is not in FP8 although the run is.
struct LayerFallback {
    std::string layer;
    std::string reason;
};

class Network {
public:
    /// `precision` is resolved (not Auto); config.model.vocab is set.
    /// `pinned` layers start in BF16 (they keep their place in tensors()).
    Network(const RunConfig& config, Precision precision, int threads, cpu::Isa isa,
            const std::vector<std::string>& pinned = {});

    /// Logits of the first `rows` sequences of `inputs()`, each `seqLen` long. With `record`, casts are recorded for
    /// the scale update and, with `counting`, counted; without, nothing of training changes.
    void forward(int rows, int seqLen, bool record, bool counting);
    /// Mean loss over the targets; with `withGradient` the logits become their gradient.
    double loss(int rows, int seqLen, bool withGradient);
    /// Gradients of all parameters from the logits' gradient. Only after forward(…, record = true) and loss().
    void backward(int rows, int seqLen);

    /// Rolls the histories of everything that was cast since the last call and renews the scales.
    void updateScales();

    int* inputs() { return m_activations.inputs; }
    int* targets() { return m_activations.targets; }
    const float* logits() const { return m_activations.logits; }

    const std::vector<ParameterSpec>& table() const { return m_table; }
    float* parameters() { return m_parameterBase; }
    float* gradients() { return m_gradientBase; }
    std::int64_t floats() const { return parameterFloats(m_table); }

    const std::vector<TensorInfo>& tensors() const { return m_tensors; }
    const std::vector<CastRecord>& records() const { return m_records; }
    void clearRecords();
    DelayedScaling& scaling() { return *m_scaling; }
    const std::vector<LayerFallback>& fallbacks() const { return m_fallbacks; }

    /// Moves a layer to BF16 for the rest of the run; only for runs built with Guard::Fallback. False: it was there.
    bool pinToBf16(const std::string& layer);

    std::int64_t memoryBytes() const { return m_memoryBytes; }
    cpu::ThreadPool& pool() { return m_pool; }

private:
    bool moveToBf16(const std::string& layer);
    void buildLayers(Precision precision);
    GemmLayer makeLayer(const std::string& name, std::int64_t out, std::int64_t in, Precision precision);
    void layoutOperands(Arena& arena);
    void embed(int rows, int seqLen);
    void embedBackward(int rows, int seqLen);
    void blockForward(StepContext& context, int index, int rows, int seqLen);
    void blockBackward(StepContext& context, int index, int rows, int seqLen);
    StepContext context(bool record, bool counting);
    GemmLayer& linear(int layer, Linear which) {
        return m_layers[static_cast<std::size_t>(layer) * kLinearsPerLayer + static_cast<std::size_t>(which)];
    }
    GemmLayer& head() { return m_layers.back(); }

    RunConfig m_config;
    cpu::Isa m_isa;
    cpu::ThreadPool m_pool;
    std::vector<ParameterSpec> m_table;
    Arena m_parameterArena;  // parameters, then gradients
    Arena m_activationArena;
    Arena m_operandArena;
    float* m_parameterBase = nullptr;
    float* m_gradientBase = nullptr;
    ModelParameters m_parameters;
    ModelParameters m_gradients;
    Activations m_activations;
    std::vector<GemmLayer> m_layers;  // [layers][4], then the head
    std::vector<const char*> m_layerNames;
    std::vector<TensorInfo> m_tensors;
    std::vector<CastRecord> m_records;
    std::vector<LayerFallback> m_fallbacks;
    std::unique_ptr<DelayedScaling> m_scaling;
    bool m_counting = false;
    std::int64_t m_memoryBytes = 0;
};

/// Whether `name` matches one of the comma-separated patterns with * and ?.
bool matchesAny(const std::string& patterns, const std::string& name);

/// Bytes that a network of this configuration takes, without building it.
std::int64_t networkBytes(const RunConfig& config, Precision precision, int threads);

}  // namespace engine
