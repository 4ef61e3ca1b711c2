// Building a network: its memory, its initial values, and the pointers that tie layers to parameters.
#include "src/network.h"

#include "engine/error.h"

#include <algorithm>

namespace engine {

std::int64_t networkBytes(const RunConfig& config, Precision precision, int threads) {
    LayerPlan plan = planLayers(config, precision);
    Arena measure;
    layoutActivations(config, threads, measure);
    layoutOperands(plan, config.train.guard == Guard::Fallback, measure);
    const std::int64_t floats = parameterFloats(plan.table);
    // Gradients and two moments by offset; parameters by home, and masters of those without one if they are kept.
    std::int64_t words = 3 * floats + homeFloats(plan.table);
    if (config.train.weights == WeightStorage::Fp8KeepInit) words += floats - homeFloats(plan.table);
    return measure.used() + words * static_cast<std::int64_t>(sizeof(float));
}

Network::Network(const RunConfig& config, Precision precision, int threads, cpu::Isa isa, bool fallbackRoom)
    : m_config(config),
      m_isa(isa),
      m_pool(threads),
      m_plan(planLayers(config, precision)),
      m_fallbackRoom(fallbackRoom || config.train.guard == Guard::Fallback) {
    const auto floatBytes = static_cast<std::int64_t>(sizeof(float));
    m_parameterArena = Arena((parameterFloats() + gradientFloats()) * floatBytes);
    m_parameterBase = m_parameterArena.take<float>(parameterFloats());
    m_gradientBase = m_parameterArena.take<float>(gradientFloats());
    m_parameters = bindParameters(config.model, table(), m_parameterBase, true);
    m_gradients = bindParameters(config.model, table(), m_gradientBase, false);

    Arena measure;
    layoutActivations(config, threads, measure);
    m_activationArena = Arena(measure.used());
    m_activations = layoutActivations(config, threads, m_activationArena);
    if (m_activations.rotary != nullptr) {
        cpu::rotaryTable(m_activations.rotary, config.model.seqLen, config.model.headDim(), config.model.ropeTheta);
    }

    Arena measureOperands;
    layoutOperands(m_plan, m_fallbackRoom, measureOperands);
    m_operandArena = Arena(measureOperands.used());
    layoutOperands(m_plan, m_fallbackRoom, m_operandArena);
    m_records.resize(m_plan.tensors.size());
    bindLayers();
    m_memoryBytes = m_parameterArena.used() + m_activationArena.used() + m_operandArena.used();

    // The gradients are free until the first step, and laid out as the values are.
    initialiseParameters(table(), config.train.seed, m_gradientBase);
    setParameters(m_gradientBase);
}

void Network::bindLayers() {
    for (int i = 0; i < m_config.model.layers; ++i) {
        m_layerNames.push_back(pooledName("layer." + std::to_string(i)));
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
    head().weight = m_parameters.headWeight;
    head().dWeight = m_gradients.headWeight;
}

GemmLayer* Network::storedLayer(const ParameterSpec& spec) {
    if (spec.home >= 0) return nullptr;
    const auto layer = std::find_if(m_plan.layers.begin(), m_plan.layers.end(), [&](const GemmLayer& candidate) {
        return candidate.name + ".weight" == spec.name;
    });
    ENGINE_CHECK(layer != m_plan.layers.end(), "a stored parameter is the weight of a layer");
    return &*layer;
}

void Network::storeWeight(GemmLayer& layer, const float* values, const Pass& pass) {
    StepContext step = context(pass);
    castOperand(step, layer.weightOperand, values, layer.out, "cast weight");
}

void Network::setParameters(const float* values) {
    for (const ParameterSpec& spec : table()) {
        if (GemmLayer* layer = storedLayer(spec)) {
            storeWeight(*layer, values + spec.offset, Pass{});
        } else {
            std::copy_n(values + spec.offset, spec.count(), m_parameterBase + spec.home);
        }
    }
}

void Network::replaceRecipe(const Fp8Recipe& recipe) {
    const std::vector<float> state = m_plan.recipe->state();
    std::vector<cpu::Type> formats;
    for (const Operand* operand : m_plan.slots) formats.push_back(operand->recipeType);
    m_plan.recipe = makeRecipe(recipe, formats);
    m_plan.recipe->restore(state);
    m_config.recipe = recipe;
}

bool Network::setFallback(int slot, bool bf16) {
    ENGINE_CHECK(m_fallbackRoom, "operands were not sized for BF16");
    Operand& operand = *m_plan.slots[static_cast<std::size_t>(slot)];
    const cpu::Type wanted = bf16 ? cpu::Type::Bf16 : operand.recipeType;
    if (operand.type == wanted) return false;
    const bool stored = std::any_of(m_plan.layers.begin(), m_plan.layers.end(), [&](const GemmLayer& layer) {
        return &layer.weightOperand == &operand && layer.weightIsStored;
    });
    if (stored) return false;
    operand.type = wanted;
    operand.scale = 1.0F;
    return true;
}

}  // namespace engine
