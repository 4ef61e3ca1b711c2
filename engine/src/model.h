// The model's memory: parameters with their names and shapes, and every buffer of a step. Shapes stand beside the
// pointers; one function knows each size.
//
//   B sequences of T tokens, N = B·T rows, D d_model, F width of the MLP, F' = F or, gated, 2·F, V vocabulary, L
//   layers, H heads of h elements, G key and value heads, Q = (H + 2·G)·h
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
    std::int64_t offset;  // in floats, in the arrays of gradients and moments
    Init init;
    float deviation;    // of Init::Normal
    bool decay;         // weight decay applies: matrices only
    std::int64_t home;  // in floats, in the array of FP32 parameters: the offset, or less where weights before it are
                        // stored quantised; −1: it is stored quantised itself
    std::int64_t count() const { return rows * cols; }
};

/// Without biases, and without one for RMSNorm, the pointers are nullptr.
struct LayerParameters {
    float* ln1Weight;   // [D]
    float* ln1Bias;     // [D]
    float* qkvWeight;   // [Q][D]
    float* qkvBias;     // [Q]
    float* projWeight;  // [D][D]
    float* projBias;    // [D]
    float* ln2Weight;   // [D]
    float* ln2Bias;     // [D]
    float* fc1Weight;   // [F'][D]
    float* fc1Bias;     // [F']
    float* fc2Weight;   // [D][F]
    float* fc2Bias;     // [D]
};

struct ModelParameters {
    float* tokenEmbedding;     // [V][D]
    float* positionEmbedding;  // [T][D]; nullptr: rotary
    std::vector<LayerParameters> layers;
    float* normWeight;  // [D]
    float* normBias;    // [D]
    float* headWeight;  // [V][D]; tied: the token embedding
};

/// A Linear layer: its name and the shape of its weight, [out][in].
struct LinearShape {
    std::string name;  // "layer.3.attn.qkv"
    std::int64_t out;
    std::int64_t in;
};
/// In order of the forward pass: four per Transformer layer, then the head.
std::vector<LinearShape> linearShapes(const ModelConfig& model);
std::vector<std::string> linearNames(const ModelConfig& model);
/// Whether `name` matches one of the comma-separated patterns with * and ?.
bool matchesAny(const std::string& patterns, const std::string& name);

/// Bytes of two FP32 arrays: parameters with gradients, or both moments.
inline constexpr std::int64_t kTwoFloats = 2 * sizeof(float);

/// In memory order: embeddings, layers, final norm, head.
std::vector<ParameterSpec> parameterTable(const ModelConfig& model);
/// Floats of an array laid out by offset, each parameter padded to 64 bytes.
std::int64_t parameterFloats(const std::vector<ParameterSpec>& table);
/// Floats of the array of FP32 parameters, laid out by home.
std::int64_t homeFloats(const std::vector<ParameterSpec>& table);
std::int64_t parameterCount(const std::vector<ParameterSpec>& table);
/// Pointers by offset, or by home: nullptr for what is stored quantised.
ModelParameters bindParameters(const ModelConfig& model, const std::vector<ParameterSpec>& table, float* base,
                               bool byHome);
/// GPT-2's initial values, laid out by offset: N(0, 0.02), residual projections N(0, 0.02/√(2L)), biases 0, norms 1.
void initialiseParameters(const std::vector<ParameterSpec>& table, std::uint64_t seed, float* base);

struct LayerActivations {
    float* input;          // [N][D] residual stream entering the layer
    float* ln1Mean;        // [N]
    float* ln1Rstd;        // [N]
    float* qkv;            // [N][Q], with rotary positions after the rotation
    float* probabilities;  // [B][H][T][T]
    float* middle;         // [N][D] residual stream between attention and MLP
    float* ln2Mean;        // [N]
    float* ln2Rstd;        // [N]
    float* hidden;         // [N][F'] before the activation
};

struct Activations {
    std::vector<LayerActivations> layers;
    float* output;    // [N][D] residual stream after the last layer
    float* normMean;  // [N]
    float* normRstd;  // [N]
    float* logits;    // [N][V]; becomes their gradient
    // Scratch of one module at a time.
    float* wide;       // [N][F] unfused activations, and the gradient of fc2's input
    float* dHidden;    // [N][F'] gradient of fc1's output where it has to be kept
    float* attention;  // [N][D] attention output, and its gradient; unfused norms
    float* dQkv;       // [N][Q]
    float* dNormed;    // [N][D] gradient of a norm's output
    float* dResidual;  // [N][D] gradient of the residual stream
    float* partials;   // [threads][partialsStride] column sums of one thread each
    float* rotary;     // [T][h] cosines and sines; nullptr: learned positions
    int* inputs;       // [N]
    int* targets;      // [N]
};

/// Lays the buffers out over an arena; against a measuring arena it only adds up sizes.
Activations layoutActivations(const RunConfig& config, int threads, Arena& arena);
std::int64_t partialsStride(const ModelConfig& model);

}  // namespace engine
