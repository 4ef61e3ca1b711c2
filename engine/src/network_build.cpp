// Building a network: which layer runs in which precision, and where its operands live.
#include "src/network.h"

#include "engine/error.h"

#include <algorithm>
#include <sstream>

namespace engine {

namespace {

bool matches(const char* pattern, const char* text) {
    if (*pattern == '\0') return *text == '\0';
    if (*pattern == '*') return matches(pattern + 1, text) || (*text != '\0' && matches(pattern, text + 1));
    return *text != '\0' && (*pattern == '?' || *pattern == *text) && matches(pattern + 1, text + 1);
}

cpu::Type gradientType(RecipeFormat format) {
    return format == RecipeFormat::Hybrid ? cpu::Type::E5M2 : cpu::Type::E4M3;
}

// Bytes per operand element that are set aside: a layer that the guard may move to BF16 needs two.
std::int64_t reservedBytes(cpu::Type type, Guard guard) {
    const bool fp8 = type == cpu::Type::E4M3 || type == cpu::Type::E5M2;
    return fp8 && guard == Guard::Fallback ? 2 : cpu::bytesOf(type);
}

cpu::Type plainType(Precision precision) {
    return precision == Precision::Fp32 ? cpu::Type::F32 : cpu::Type::Bf16;
}

struct LayerShape {
    std::int64_t out;
    std::int64_t in;
};

std::vector<LayerShape> layerShapes(const ModelConfig& model) {
    const std::int64_t d = model.dModel;
    std::vector<LayerShape> shapes;
    for (int i = 0; i < model.layers; ++i) {
        shapes.insert(shapes.end(), {{3 * d, d}, {d, d}, {4 * d, d}, {d, 4 * d}});
    }
    shapes.push_back({model.vocab, d});
    return shapes;
}

}  // namespace

bool matchesAny(const std::string& patterns, const std::string& name) {
    std::istringstream list(patterns);
    std::string pattern;
    while (std::getline(list, pattern, ',')) {
        if (!pattern.empty() && matches(pattern.c_str(), name.c_str())) return true;
    }
    return false;
}

std::int64_t networkBytes(const RunConfig& config, Precision precision, int threads) {
    Arena activations;
    layoutActivations(config, threads, activations);
    const std::int64_t rows = std::int64_t{config.train.batch} * config.model.seqLen;
    const cpu::Type type = precision == Precision::Fp8 ? cpu::Type::E4M3 : plainType(precision);
    const std::int64_t bytes = reservedBytes(type, config.train.guard);
    std::int64_t operands = 0;
    std::int64_t widest = 0;
    for (const LayerShape& shape : layerShapes(config.model)) {
        operands += rows * shape.in * bytes;
        if (type != cpu::Type::F32) operands += shape.out * shape.in * bytes;
        widest = std::max(widest, shape.out);
    }
    if (type != cpu::Type::F32) operands += rows * widest * bytes;
    const std::int64_t parameters = kTwoFloats * parameterFloats(parameterTable(config.model));
    return activations.used() + operands + parameters;
}

Network::Network(const RunConfig& config, Precision precision, int threads, cpu::Isa isa,
                 const std::vector<std::string>& pinned)
    : m_config(config), m_isa(isa), m_pool(threads), m_table(parameterTable(config.model)) {
    m_parameterArena = Arena(kTwoFloats * floats());
    m_parameterBase = m_parameterArena.take<float>(floats());
    m_gradientBase = m_parameterArena.take<float>(floats());
    m_parameters = bindParameters(config.model, m_table, m_parameterBase);
    m_gradients = bindParameters(config.model, m_table, m_gradientBase);
    initialiseParameters(m_table, config.train.seed, m_parameterBase);

    Arena measure;
    layoutActivations(config, threads, measure);
    m_activationArena = Arena(measure.used());
    m_activations = layoutActivations(config, threads, m_activationArena);

    buildLayers(precision);
    for (const std::string& name : pinned) moveToBf16(name);
    Arena measureOperands;
    layoutOperands(measureOperands);
    m_operandArena = Arena(measureOperands.used());
    layoutOperands(m_operandArena);
    m_memoryBytes = m_parameterArena.used() + m_activationArena.used() + m_operandArena.used();
}

GemmLayer Network::makeLayer(const std::string& name, std::int64_t out, std::int64_t in, Precision precision) {
    GemmLayer layer;
    layer.name = name;
    layer.rangeName = pooledName(name);
    layer.out = out;
    layer.in = in;
    Precision actual = precision;
    if (precision == Precision::Fp8) {
        if (matchesAny(m_config.train.keepBf16, name)) {
            actual = Precision::Bf16;
            m_fallbacks.push_back({name, "kept in BF16 by --keep-bf16"});
        } else if (out % 16 != 0 || in % 16 != 0) {
            actual = Precision::Bf16;
            const std::int64_t bad = out % 16 != 0 ? out : in;
            m_fallbacks.push_back({name, "dimension " + std::to_string(bad) +
                                             " is not a multiple of 16, which FP8 products need; the next is " +
                                             std::to_string((bad + 15) / 16 * 16)});
        }
    }
    if (actual != Precision::Fp8) {
        for (Operand* operand : {&layer.input, &layer.weightOperand, &layer.gradOutput}) {
            operand->type = plainType(actual);
        }
        return layer;
    }
    layer.input.type = layer.weightOperand.type = cpu::Type::E4M3;
    layer.gradOutput.type = gradientType(m_config.recipe.format);
    const std::int64_t rows = std::int64_t{m_config.train.batch} * m_config.model.seqLen;
    for (Role role : {Role::Input, Role::Weight, Role::GradOutput}) {
        Operand& operand = role == Role::Input    ? layer.input
                           : role == Role::Weight ? layer.weightOperand
                                                  : layer.gradOutput;
        operand.slot = static_cast<int>(m_tensors.size());
        const bool weight = role == Role::Weight;
        const Fp8Format format = operand.type == cpu::Type::E5M2 ? Fp8Format::E5M2 : Fp8Format::E4M3;
        m_tensors.push_back({operand.slot, name, roleName(role), formatName(format), weight ? out : rows,
                             role == Role::GradOutput ? out : in});
    }
    return layer;
}

void Network::buildLayers(Precision precision) {
    const std::vector<LayerShape> shapes = layerShapes(m_config.model);
    const char* const names[kLinearsPerLayer] = {".attn.qkv", ".attn.proj", ".mlp.fc1", ".mlp.fc2"};
    for (int i = 0; i < m_config.model.layers; ++i) {
        const std::string prefix = "layer." + std::to_string(i);
        m_layerNames.push_back(pooledName(prefix));
        for (int k = 0; k < kLinearsPerLayer; ++k) {
            const LayerShape& shape =
                shapes[static_cast<std::size_t>(i) * kLinearsPerLayer + static_cast<std::size_t>(k)];
            m_layers.push_back(makeLayer(prefix + names[k], shape.out, shape.in, precision));
        }
        const LayerParameters& p = m_parameters.layers[static_cast<std::size_t>(i)];
        const LayerParameters& g = m_gradients.layers[static_cast<std::size_t>(i)];
        const auto bind = [&](Linear which, float* w, float* b, float* dw, float* db) {
            GemmLayer& layer = linear(i, which);
            layer.weight = w;
            layer.bias = b;
            layer.dWeight = dw;
            layer.dBias = db;
        };
        bind(Linear::Qkv, p.qkvWeight, p.qkvBias, g.qkvWeight, g.qkvBias);
        bind(Linear::Proj, p.projWeight, p.projBias, g.projWeight, g.projBias);
        bind(Linear::Fc1, p.fc1Weight, p.fc1Bias, g.fc1Weight, g.fc1Bias);
        bind(Linear::Fc2, p.fc2Weight, p.fc2Bias, g.fc2Weight, g.fc2Bias);
    }
    m_layers.push_back(makeLayer("lm_head", shapes.back().out, shapes.back().in, precision));
    head().weight = m_parameters.headWeight;
    head().dWeight = m_gradients.headWeight;

    std::vector<Fp8Format> formats;
    for (const TensorInfo& tensor : m_tensors) {
        formats.push_back(tensor.format == "E5M2" ? Fp8Format::E5M2 : Fp8Format::E4M3);
    }
    m_records.resize(formats.size());
    m_scaling = std::make_unique<DelayedScaling>(m_config.recipe, std::move(formats));
}

void Network::layoutOperands(Arena& arena) {
    const std::int64_t rows = std::int64_t{m_config.train.batch} * m_config.model.seqLen;
    const Guard guard = m_config.train.guard;
    std::int64_t gradBytes = 0;
    for (GemmLayer& layer : m_layers) {
        layer.input.data = arena.takeBytes(rows * layer.in * reservedBytes(layer.input.type, guard));
        if (layer.weightOperand.type != cpu::Type::F32) {
            layer.weightOperand.data =
                arena.takeBytes(layer.out * layer.in * reservedBytes(layer.weightOperand.type, guard));
            gradBytes = std::max(gradBytes, rows * layer.out * reservedBytes(layer.gradOutput.type, guard));
        }
    }
    void* shared = arena.takeBytes(gradBytes);
    for (GemmLayer& layer : m_layers) {
        if (layer.gradOutput.type != cpu::Type::F32) layer.gradOutput.data = shared;
    }
}

bool Network::pinToBf16(const std::string& name) {
    ENGINE_CHECK(m_config.train.guard == Guard::Fallback, "operands were not sized for BF16");
    return moveToBf16(name);
}

bool Network::moveToBf16(const std::string& name) {
    const auto layer =
        std::find_if(m_layers.begin(), m_layers.end(), [&](const GemmLayer& l) { return l.name == name; });
    if (layer == m_layers.end() || !layer->fp8()) return false;
    for (Operand* operand : {&layer->input, &layer->weightOperand, &layer->gradOutput}) {
        operand->type = cpu::Type::Bf16;
        operand->scale = 1.0F;
        operand->slot = -1;
    }
    return true;
}

}  // namespace engine
