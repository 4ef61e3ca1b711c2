// What the config.json beside a published model says and its weights cannot: heads, rotary base, epsilon of the norms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace engine {

/// Zero, empty or unset: not said.
struct PretrainedConfig {
    std::string path;        // empty: there is no such file
    std::string modelType;   // "gpt2", "llama", "mistral"
    std::string activation;  // "gelu_new", "silu"
    std::int64_t layers = 0;
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0;
    std::int64_t seqLen = 0;
    double ropeTheta = 0;
    double normEpsilon = 0;
    bool ropeScaled = false;  // positions are stretched beyond those of plain rotary embedding
    std::optional<bool> tiedHead;
};

/// Reads config.json in the folder of `weights`, by the names that GPT-2 and LLaMA use on Hugging Face. Without one,
/// everything is unset. Throws Error (Failure) for one that is no JSON object or holds an impossible value.
PretrainedConfig readPretrainedConfig(const std::string& weights);

}  // namespace engine
