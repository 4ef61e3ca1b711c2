// From a published model's tensors to ours: recognises GPT-2's and LLaMA's names (as Hugging Face spells them), and
// says for each of our parameters which tensors fill it and how.
#pragma once

#include "engine/weights.h"

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

/// What the file and the config.json beside it say about the model. 0: they do not say.
struct WeightModel {
    std::string architecture;  // "gpt2": LayerNorm, GELU, learned positions, biases; "llama": RMSNorm, SwiGLU, rotary
    std::int64_t layers = 0;
    std::int64_t dModel = 0;
    std::int64_t vocab = 0;
    std::int64_t seqLen = 0;   // gpt2: rows of the position embedding; llama: the longest that config.json names
    std::int64_t ffn = 0;      // width of the MLP
    std::int64_t kvWidth = 0;  // rows of the key projection: kvHeads · headDim
    bool tied = false;         // the head is the token embedding; there is no entry for lm_head.weight
    // From config.json alone.
    std::string modelType;   // "gpt2", "llama", "mistral"; others may use the same names and mean something else
    std::string activation;  // "gelu_new", "silu"
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    double ropeTheta = 0;  // Hugging Face takes 10000 where none is given
    double normEpsilon = 0;
    bool ropeScaled = false;  // positions are stretched beyond those of plain rotary embedding
};

/// Rows firstRow … firstRow + rows of a parameter come from this tensor.
struct WeightSource {
    const WeightTensor* tensor;  // of the file that was planned, which must outlive the plan
    std::int64_t firstRow;
    std::int64_t rows;
};

struct WeightEntry {
    std::string parameter;  // our name: "layer.3.attn.qkv.weight"
    std::int64_t rows;      // of the parameter; 1 for a vector
    std::int64_t cols;
    bool transposed;  // the tensor is stored [cols][rows]; then there is one source
    std::vector<WeightSource> sources;
};

struct WeightPlan {
    WeightModel model;
    std::vector<WeightEntry> entries;  // in our order: embeddings, layers, final norm, head
    std::vector<std::string> unused;   // tensors without a place in our model, but for buffers that hold no weights
};

/// Throws Error (Failure) naming the first tensor that is missing, misshapen, no floating-point tensor or stored with a
/// scale of its own, and when config.json contradicts the file.
///
/// Rotary weights are taken as they are: Hugging Face's q_proj and k_proj expect dimension i of a head to be rotated
/// together with i + headDim/2, not with its neighbour.
WeightPlan planWeights(const WeightFile& file);

/// Fills `out` [rows][cols] with the parameter. Needs memory for one tile only.
void readParameter(const WeightFile& file, const WeightEntry& entry, float* out);

}  // namespace engine
