// Sizes and layout of the model's memory.
#include "src/model.h"

#include "engine/error.h"
#include "src/random.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace engine {

namespace {

constexpr float kDeviation = 0.02F;

bool matches(const char* pattern, const char* text) {
    if (*pattern == '\0') return *text == '\0';
    if (*pattern == '*') return matches(pattern + 1, text) || (*text != '\0' && matches(pattern, text + 1));
    return *text != '\0' && (*pattern == '?' || *pattern == *text) && matches(pattern + 1, text + 1);
}

std::string layerName(int index) {
    return "layer." + std::to_string(index);
}

class TableBuilder {
public:
    explicit TableBuilder(const ModelConfig& model) : m_model(model) {}

    void add(std::string name, std::int64_t rows, std::int64_t cols, Init init, float deviation = 0) {
        const bool matrix = rows > 1 && init == Init::Normal;
        m_table.push_back({std::move(name), rows, cols, m_next, init, deviation, matrix, m_next});
        m_next += (rows * cols + 15) / 16 * 16;
    }
    void addNorm(const std::string& name) {
        add(name + ".weight", 1, m_model.dModel, Init::One);
        if (m_model.bias && m_model.norm == Norm::LayerNorm) add(name + ".bias", 1, m_model.dModel, Init::Zero);
    }
    void addLinear(const LinearShape& shape, float deviation) {
        add(shape.name + ".weight", shape.out, shape.in, Init::Normal, deviation);
        if (m_model.bias) add(shape.name + ".bias", 1, shape.out, Init::Zero);
    }
    std::vector<ParameterSpec> take() { return std::move(m_table); }

private:
    const ModelConfig& m_model;
    std::vector<ParameterSpec> m_table;
    std::int64_t m_next = 0;
};

}  // namespace

bool matchesAny(const std::string& patterns, const std::string& name) {
    std::istringstream list(patterns);
    std::string pattern;
    while (std::getline(list, pattern, ',')) {
        if (!pattern.empty() && matches(pattern.c_str(), name.c_str())) return true;
    }
    return false;
}

std::vector<LinearShape> linearShapes(const ModelConfig& model) {
    const std::int64_t d = model.dModel;
    const std::int64_t f = model.ffnWidth();
    const std::int64_t qkv = std::int64_t{model.heads + 2 * model.keyValueHeads()} * model.headDim();
    std::vector<LinearShape> shapes;
    for (int i = 0; i < model.layers; ++i) {
        const std::string layer = layerName(i);
        shapes.push_back({layer + ".attn.qkv", qkv, d});
        shapes.push_back({layer + ".attn.proj", d, d});
        shapes.push_back({layer + ".mlp.fc1", isGated(model.activation) ? 2 * f : f, d});
        shapes.push_back({layer + ".mlp.fc2", d, f});
    }
    shapes.push_back({"lm_head", model.vocab, d});
    return shapes;
}

std::vector<std::string> linearNames(const ModelConfig& model) {
    std::vector<std::string> names;
    for (const LinearShape& shape : linearShapes(model)) names.push_back(shape.name);
    return names;
}

std::vector<ParameterSpec> parameterTable(const ModelConfig& model) {
    const std::int64_t d = model.dModel;
    const float residual = kDeviation / std::sqrt(2.0F * static_cast<float>(model.layers));
    const std::vector<LinearShape> shapes = linearShapes(model);
    TableBuilder builder(model);
    builder.add("token_embedding.weight", model.vocab, d, Init::Normal, kDeviation);
    if (model.positions == Positions::Learned) {
        builder.add("position_embedding.weight", model.seqLen, d, Init::Normal, kDeviation);
    }
    for (int i = 0; i < model.layers; ++i) {
        const std::size_t first = static_cast<std::size_t>(i) * 4;
        builder.addNorm(layerName(i) + ".ln1");
        builder.addLinear(shapes[first], kDeviation);
        builder.addLinear(shapes[first + 1], residual);
        builder.addNorm(layerName(i) + ".ln2");
        builder.addLinear(shapes[first + 2], kDeviation);
        builder.addLinear(shapes[first + 3], residual);
    }
    builder.addNorm("final_norm");
    if (!model.tiedHead) builder.add("lm_head.weight", model.vocab, d, Init::Normal, kDeviation);
    return builder.take();
}

std::int64_t parameterFloats(const std::vector<ParameterSpec>& table) {
    const ParameterSpec& last = table.back();
    return (last.offset + last.count() + 15) / 16 * 16;
}

std::int64_t homeFloats(const std::vector<ParameterSpec>& table) {
    std::int64_t floats = 0;
    for (const ParameterSpec& spec : table) {
        if (spec.home >= 0) floats = std::max(floats, (spec.home + spec.count() + 15) / 16 * 16);
    }
    return floats;
}

std::int64_t parameterCount(const std::vector<ParameterSpec>& table) {
    std::int64_t count = 0;
    for (const ParameterSpec& spec : table) count += spec.count();
    return count;
}

ModelParameters bindParameters(const ModelConfig& model, const std::vector<ParameterSpec>& table, float* base,
                               bool byHome) {
    std::map<std::string, float*> byName;
    for (const ParameterSpec& spec : table) {
        const std::int64_t at = byHome ? spec.home : spec.offset;
        byName.emplace(spec.name, at < 0 ? nullptr : base + at);
    }
    const auto find = [&](const std::string& name) {
        const auto found = byName.find(name);
        return found == byName.end() ? nullptr : found->second;
    };
    ModelParameters parameters;
    parameters.tokenEmbedding = find("token_embedding.weight");
    parameters.positionEmbedding = find("position_embedding.weight");
    for (int i = 0; i < model.layers; ++i) {
        const std::string layer = layerName(i);
        parameters.layers.push_back(
            {find(layer + ".ln1.weight"), find(layer + ".ln1.bias"), find(layer + ".attn.qkv.weight"),
             find(layer + ".attn.qkv.bias"), find(layer + ".attn.proj.weight"), find(layer + ".attn.proj.bias"),
             find(layer + ".ln2.weight"), find(layer + ".ln2.bias"), find(layer + ".mlp.fc1.weight"),
             find(layer + ".mlp.fc1.bias"), find(layer + ".mlp.fc2.weight"), find(layer + ".mlp.fc2.bias")});
    }
    parameters.normWeight = find("final_norm.weight");
    parameters.normBias = find("final_norm.bias");
    parameters.headWeight = model.tiedHead ? parameters.tokenEmbedding : find("lm_head.weight");
    return parameters;
}

void initialiseParameters(const std::vector<ParameterSpec>& table, std::uint64_t seed, float* base) {
    std::uint64_t key = mixBits(seed);
    for (const ParameterSpec& spec : table) {
        key = mixBits(key);
        float* values = base + spec.offset;
        for (std::int64_t i = 0; i < spec.count(); ++i) {
            values[i] = spec.init == Init::Zero  ? 0.0F
                        : spec.init == Init::One ? 1.0F
                                                 : spec.deviation * randomNormal(key, static_cast<std::uint64_t>(i));
        }
    }
}

std::int64_t partialsStride(const ModelConfig& model) {
    std::int64_t widest = 2 * std::int64_t{model.dModel};  // both gradients of a norm
    for (const LinearShape& shape : linearShapes(model)) widest = std::max(widest, shape.out);
    return (widest + 15) / 16 * 16;
}

Activations layoutActivations(const RunConfig& config, int threads, Arena& arena) {
    const ModelConfig& model = config.model;
    const std::int64_t n = std::int64_t{config.train.batch} * model.seqLen;
    const std::int64_t d = model.dModel;
    const std::int64_t f = model.ffnWidth();
    const std::int64_t hidden = isGated(model.activation) ? 2 * f : f;
    const std::int64_t qkv = std::int64_t{model.heads + 2 * model.keyValueHeads()} * model.headDim();
    const std::int64_t scores =
        std::int64_t{config.train.batch} * model.heads * model.seqLen * std::int64_t{model.seqLen};
    Activations activations;
    for (int i = 0; i < model.layers; ++i) {
        LayerActivations layer;
        layer.input = arena.take<float>(n * d);
        layer.ln1Mean = arena.take<float>(n);
        layer.ln1Rstd = arena.take<float>(n);
        layer.qkv = arena.take<float>(n * qkv);
        layer.probabilities = arena.take<float>(scores);
        layer.middle = arena.take<float>(n * d);
        layer.ln2Mean = arena.take<float>(n);
        layer.ln2Rstd = arena.take<float>(n);
        layer.hidden = arena.take<float>(n * hidden);
        activations.layers.push_back(layer);
    }
    activations.output = arena.take<float>(n * d);
    activations.normMean = arena.take<float>(n);
    activations.normRstd = arena.take<float>(n);
    activations.logits = arena.take<float>(n * model.vocab);
    activations.wide = arena.take<float>(n * f);
    activations.dHidden = arena.take<float>(n * hidden);
    activations.attention = arena.take<float>(n * d);
    activations.dQkv = arena.take<float>(n * qkv);
    activations.dNormed = arena.take<float>(n * d);
    activations.dResidual = arena.take<float>(n * d);
    activations.partials = arena.take<float>(threads * partialsStride(model));
    activations.rotary = nullptr;
    if (model.positions == Positions::Rotary) {
        activations.rotary = arena.take<float>(std::int64_t{model.seqLen} * model.headDim());
    }
    activations.inputs = arena.take<int>(n);
    activations.targets = arena.take<int>(n);
    return activations;
}

}  // namespace engine
