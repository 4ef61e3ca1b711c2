// The model's memory: parameters with their names and shapes, and every buffer of a step. Shapes stand beside the
// pointers; one function knows each size.
//
//   B sequences of T tokens, N = B·T rows, D d_model, F = 4·D, H heads, V vocabulary, L layers
#pragma once

#include "engine/config.h"
#include "src/arena.h"

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

enum class Init : std::uint8_t { Zero = 1, One = 2, Normal = 3 };

struct ParameterSpec {
    std::string name;  // "layer.3.attn.qkv.weight"
    std::int64_t rows;
    std::int64_t cols;
    std::int64_t offset;  // in floats, from the start of the parameter array
    Init init;
    float deviation;  // of Init::Normal
    bool decay;       // weight decay applies: matrices only
    std::int64_t count() const { return rows * cols; }
};

struct LayerParameters {
    float* ln1Weight;   // [D]
    float* ln1Bias;     // [D]
    float* qkvWeight;   // [3D][D]
    float* qkvBias;     // [3D]
    float* projWeight;  // [D][D]
    float* projBias;    // [D]
    float* ln2Weight;   // [D]
    float* ln2Bias;     // [D]
    float* fc1Weight;   // [F][D]
    float* fc1Bias;     // [F]
    float* fc2Weight;   // [D][F]
    float* fc2Bias;     // [D]
};

struct ModelParameters {
    float* tokenEmbedding;     // [V][D]
    float* positionEmbedding;  // [T][D]
    std::vector<LayerParameters> layers;
    float* normWeight;  // [D]
    float* normBias;    // [D]
    float* headWeight;  // [V][D]
};

/// Bytes of two FP32 arrays: parameters with gradients, or both moments.
inline constexpr std::int64_t kTwoFloats = 2 * sizeof(float);

/// In memory order: embeddings, layers, final norm, head.
std::vector<ParameterSpec> parameterTable(const ModelConfig& model);
/// Floats of the whole array, each parameter padded to 64 bytes.
std::int64_t parameterFloats(const std::vector<ParameterSpec>& table);
std::int64_t parameterCount(const std::vector<ParameterSpec>& table);
/// The same layout serves parameters, gradients and both moments.
ModelParameters bindParameters(const ModelConfig& model, const std::vector<ParameterSpec>& table, float* base);
/// GPT-2's initial values: N(0, 0.02), residual projections N(0, 0.02/√(2L)), biases 0, norms 1.
void initialiseParameters(const std::vector<ParameterSpec>& table, std::uint64_t seed, float* base);

struct LayerActivations {
    float* input;          // [N][D] residual stream entering the layer
    float* ln1Mean;        // [N]
    float* ln1Rstd;        // [N]
    float* qkv;            // [N][3D]
    float* probabilities;  // [B][H][T][T]
    float* middle;         // [N][D] residual stream between attention and MLP
    float* ln2Mean;        // [N]
    float* ln2Rstd;        // [N]
    float* hidden;         // [N][F] before GELU
};

struct Activations {
    std::vector<LayerActivations> layers;
    float* output;    // [N][D] residual stream after the last layer
    float* normMean;  // [N]
    float* normRstd;  // [N]
    float* logits;    // [N][V]; becomes their gradient
    // Scratch of one module at a time.
    float* wide;       // [N][F] unfused activations, and the gradient of fc2's input
    float* attention;  // [N][D] attention output, and its gradient
    float* dQkv;       // [N][3D]
    float* dNormed;    // [N][D] gradient of a norm's output
    float* dResidual;  // [N][D] gradient of the residual stream
    float* partials;   // [threads][2·max(F, V, 3D)] column sums of one thread each
    int* inputs;       // [N]
    int* targets;      // [N]
};

/// Lays the buffers out over an arena; against a measuring arena it only adds up sizes.
Activations layoutActivations(const RunConfig& config, int threads, Arena& arena);
std::int64_t partialsStride(const ModelConfig& model);

}  // namespace engine
