// Sizes and layout of the model's memory.
#include "src/model.h"

#include "engine/error.h"
#include "src/random.h"

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

constexpr float kDeviation = 0.02F;

struct TableBuilder {
    std::vector<ParameterSpec> table;
    std::int64_t next = 0;

    void add(std::string name, std::int64_t rows, std::int64_t cols, Init init, float deviation = 0) {
        const bool matrix = rows > 1 && init == Init::Normal;
        table.push_back({std::move(name), rows, cols, next, init, deviation, matrix});
        next += (rows * cols + 15) / 16 * 16;
    }
    void addNorm(const std::string& name, std::int64_t width) {
        add(name + ".weight", 1, width, Init::One);
        add(name + ".bias", 1, width, Init::Zero);
    }
    void addLinear(const std::string& name, std::int64_t out, std::int64_t in, float deviation) {
        add(name + ".weight", out, in, Init::Normal, deviation);
        add(name + ".bias", 1, out, Init::Zero);
    }
};

}  // namespace

std::vector<ParameterSpec> parameterTable(const ModelConfig& model) {
    const std::int64_t d = model.dModel;
    const float residual = kDeviation / std::sqrt(2.0F * static_cast<float>(model.layers));
    TableBuilder builder;
    builder.add("token_embedding.weight", model.vocab, d, Init::Normal, kDeviation);
    builder.add("position_embedding.weight", model.seqLen, d, Init::Normal, kDeviation);
    for (int i = 0; i < model.layers; ++i) {
        const std::string layer = "layer." + std::to_string(i);
        builder.addNorm(layer + ".ln1", d);
        builder.addLinear(layer + ".attn.qkv", 3 * d, d, kDeviation);
        builder.addLinear(layer + ".attn.proj", d, d, residual);
        builder.addNorm(layer + ".ln2", d);
        builder.addLinear(layer + ".mlp.fc1", 4 * d, d, kDeviation);
        builder.addLinear(layer + ".mlp.fc2", d, 4 * d, residual);
    }
    builder.addNorm("final_norm", d);
    builder.add("lm_head.weight", model.vocab, d, Init::Normal, kDeviation);
    return std::move(builder.table);
}

std::int64_t parameterFloats(const std::vector<ParameterSpec>& table) {
    const ParameterSpec& last = table.back();
    return (last.offset + last.count() + 15) / 16 * 16;
}

std::int64_t parameterCount(const std::vector<ParameterSpec>& table) {
    std::int64_t count = 0;
    for (const ParameterSpec& spec : table) count += spec.count();
    return count;
}

ModelParameters bindParameters(const ModelConfig& model, const std::vector<ParameterSpec>& table, float* base) {
    std::size_t next = 0;
    const auto take = [&] { return base + table[next++].offset; };
    ModelParameters parameters;
    parameters.tokenEmbedding = take();
    parameters.positionEmbedding = take();
    for (int i = 0; i < model.layers; ++i) {
        LayerParameters layer;
        for (float** slot :
             {&layer.ln1Weight, &layer.ln1Bias, &layer.qkvWeight, &layer.qkvBias, &layer.projWeight, &layer.projBias,
              &layer.ln2Weight, &layer.ln2Bias, &layer.fc1Weight, &layer.fc1Bias, &layer.fc2Weight, &layer.fc2Bias}) {
            *slot = take();
        }
        parameters.layers.push_back(layer);
    }
    parameters.normWeight = take();
    parameters.normBias = take();
    parameters.headWeight = take();
    ENGINE_CHECK(next == table.size(), "the parameter table and its binding disagree");
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
    return 2 * std::max<std::int64_t>(4 * std::int64_t{model.dModel}, model.vocab);
}

Activations layoutActivations(const RunConfig& config, int threads, Arena& arena) {
    const ModelConfig& model = config.model;
    const std::int64_t n = std::int64_t{config.train.batch} * model.seqLen;
    const std::int64_t d = model.dModel;
    const std::int64_t f = 4 * d;
    const std::int64_t scores =
        std::int64_t{config.train.batch} * model.heads * model.seqLen * std::int64_t{model.seqLen};
    Activations activations;
    for (int i = 0; i < model.layers; ++i) {
        LayerActivations layer;
        layer.input = arena.take<float>(n * d);
        layer.ln1Mean = arena.take<float>(n);
        layer.ln1Rstd = arena.take<float>(n);
        layer.qkv = arena.take<float>(n * 3 * d);
        layer.probabilities = arena.take<float>(scores);
        layer.middle = arena.take<float>(n * d);
        layer.ln2Mean = arena.take<float>(n);
        layer.ln2Rstd = arena.take<float>(n);
        layer.hidden = arena.take<float>(n * f);
        activations.layers.push_back(layer);
    }
    activations.output = arena.take<float>(n * d);
    activations.normMean = arena.take<float>(n);
    activations.normRstd = arena.take<float>(n);
    activations.logits = arena.take<float>(n * model.vocab);
    activations.wide = arena.take<float>(n * f);
    activations.attention = arena.take<float>(n * d);
    activations.dQkv = arena.take<float>(n * 3 * d);
    activations.dNormed = arena.take<float>(n * d);
    activations.dResidual = arena.take<float>(n * d);
    activations.partials = arena.take<float>(threads * partialsStride(model));
    activations.inputs = arena.take<int>(n);
    activations.targets = arena.take<int>(n);
    return activations;
}

}  // namespace engine
