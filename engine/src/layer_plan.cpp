// Choosing each layer's precision and laying out operands.
#include "src/layer_plan.h"

#include <algorithm>

namespace engine {

namespace {

constexpr std::array<Role, 3> kRoles = {Role::Input, Role::Weight, Role::GradOutput};

std::int64_t tokensOf(const RunConfig& config) {
    return std::int64_t{config.train.batch} * config.model.seqLen;
}

cpu::Type plainType(Precision precision) {
    return precision == Precision::Fp32 ? cpu::Type::F32 : cpu::Type::Bf16;
}

/// Index of the Transformer layer that a Linear belongs to; −1: the head.
int blockOf(const ModelConfig& model, std::size_t linear) {
    const int block = static_cast<int>(linear / 4);
    return block < model.layers ? block : -1;
}

class Planner {
public:
    Planner(const RunConfig& config, Precision precision) : m_config(config), m_precision(precision) {}

    LayerPlan plan() {
        const std::vector<LinearShape> shapes = linearShapes(m_config.model);
        for (std::size_t i = 0; i < shapes.size(); ++i) m_plan.layers.push_back(makeLayer(shapes[i], i));
        std::vector<cpu::Type> formats;
        for (GemmLayer& layer : m_plan.layers) {
            for (const Role role : kRoles) {
                Operand& operand = layer.operand(role);
                watchOperand(layer, operand);
                if (!operand.quantised()) continue;
                operand.slot = static_cast<int>(m_plan.slots.size());
                m_plan.slots.push_back(&operand);
                formats.push_back(operand.type);
            }
            watchResults(layer);
        }
        if (!formats.empty()) m_plan.recipe = makeRecipe(m_config.recipe, formats);
        m_plan.table = parameterTable(m_config.model);
        storeWeights();
        return std::move(m_plan);
    }

private:
    GemmLayer makeLayer(const LinearShape& shape, std::size_t index) {
        GemmLayer layer;
        layer.name = shape.name;
        layer.rangeName = pooledName(shape.name);
        layer.out = shape.out;
        layer.in = shape.in;
        const Precision precision = choose(shape, index);
        for (const Role role : kRoles) {
            Operand& operand = layer.operand(role);
            operand.role = role;
            operand.rows = role == Role::Weight ? layer.out : tokensOf(m_config);
            operand.cols = role == Role::GradOutput ? layer.out : layer.in;
            operand.type = precision == Precision::Fp8 ? elementType(m_config.recipe, role) : plainType(precision);
            operand.recipeType = operand.type;
        }
        return layer;
    }

    Precision choose(const LinearShape& shape, std::size_t index) {
        const TrainConfig& train = m_config.train;
        const auto fall = [&](Precision precision, const std::string& reason) {
            m_plan.fallbacks.push_back({shape.name, precision, reason});
            return precision;
        };
        if (m_precision == Precision::Fp32) return m_precision;
        if (matchesAny(train.keepFp32, shape.name)) return fall(Precision::Fp32, "kept by --keep-fp32");
        if (m_precision != Precision::Fp8) return m_precision;
        if (matchesAny(train.keepBf16, shape.name)) return fall(Precision::Bf16, "kept by --keep-bf16");
        const int block = blockOf(m_config.model, index);
        if (block >= 0 && (block < train.bf16EdgeLayers || block >= m_config.model.layers - train.bf16EdgeLayers)) {
            return fall(Precision::Bf16, "one of the first and last layers, kept by --bf16-edge-layers " +
                                             std::to_string(train.bf16EdgeLayers));
        }
        const std::string problem = shapeProblem(m_config.recipe.kind, tokensOf(m_config), shape.out, shape.in);
        return problem.empty() ? m_precision : fall(Precision::Bf16, problem);
    }

    int addTensor(const GemmLayer& layer, const char* role, const char* format, std::int64_t rows, std::int64_t cols) {
        const int index = static_cast<int>(m_plan.tensors.size());
        m_plan.tensors.push_back({index, layer.name, role, format, rows, cols});
        return index;
    }

    // Quantised operands are always in the list: the guard watches them. Others are looked at with their binades only.
    void watchOperand(const GemmLayer& layer, Operand& operand) {
        const TrainConfig& train = m_config.train;
        operand.observed = observes(train, roleName(operand.role));
        if (!operand.quantised() && (!operand.observed || train.exponentsEvery == 0)) return;
        operand.tensor = addTensor(layer, roleName(operand.role), formatName(operand.type), operand.rows, operand.cols);
    }

    void watchResults(GemmLayer& layer) {
        const std::int64_t rows = tokensOf(m_config);
        const auto watch = [&](const char* role, std::int64_t r, std::int64_t c) {
            return observes(m_config.train, role) ? addTensor(layer, role, "FP32", r, c) : -1;
        };
        layer.output = watch("output", rows, layer.out);
        layer.dgrad = watch("dgrad", rows, layer.in);
        layer.wgrad = watch("wgrad", layer.out, layer.in);
    }

    // A tied head's weight is the token embedding, which is looked up in FP32.
    void storeWeights() {
        if (m_config.train.weights == WeightStorage::Fp32) return;
        std::int64_t next = 0;
        for (ParameterSpec& spec : m_plan.table) {
            spec.home = next;
            for (GemmLayer& layer : m_plan.layers) {
                if (spec.name != layer.name + ".weight" || !layer.weightOperand.quantised()) continue;
                layer.weightIsStored = true;
                spec.home = -1;
            }
            if (spec.home >= 0) next += (spec.count() + 15) / 16 * 16;
        }
    }

    const RunConfig& m_config;
    Precision m_precision;
    LayerPlan m_plan;
};

}  // namespace

LayerPlan planLayers(const RunConfig& config, Precision precision) {
    return Planner(config, precision).plan();
}

void layoutOperands(LayerPlan& plan, bool fallbackRoom, Arena& arena) {
    // A tensor that the guard may move to BF16 needs two bytes per element; a stored weight stays as it is.
    const std::int64_t fallbackBytes = fallbackRoom ? 2 : 0;
    const auto layout = [&](Operand& operand, std::int64_t elementBytes) {
        if (operand.quantised()) {
            plan.recipe->layout(operand, arena, elementBytes);
        } else {
            operand.data = arena.takeBytes(operand.rows * operand.cols * cpu::bytesOf(operand.type));
        }
    };
    // Gradients are needed one layer at a time: the operand that takes most shares its memory with the others.
    std::int64_t gradBytes = 0;
    std::int64_t unpacked = 0;
    for (GemmLayer& layer : plan.layers) {
        layout(layer.input, fallbackBytes);
        if (layer.weightOperand.type != cpu::Type::F32) {
            layout(layer.weightOperand, layer.weightIsStored ? 0 : fallbackBytes);
        }
        if (layer.gradOutput.type != cpu::Type::F32) {
            Arena measure;
            Operand copy = layer.gradOutput;
            if (copy.quantised()) {
                plan.recipe->layout(copy, measure, fallbackBytes);
            } else {
                measure.takeBytes(copy.rows * copy.cols * cpu::bytesOf(copy.type));
            }
            gradBytes = std::max(gradBytes, measure.used());
        }
        for (const Role role : kRoles) {
            unpacked = std::max(unpacked, layer.operand(role).rows * layer.operand(role).cols);
        }
    }
    auto* shared = static_cast<std::byte*>(arena.takeBytes(gradBytes));
    for (GemmLayer& layer : plan.layers) {
        Operand& operand = layer.gradOutput;
        if (operand.type == cpu::Type::F32) continue;
        Arena view = shared == nullptr ? Arena() : Arena::over(shared, gradBytes);
        if (operand.quantised()) {
            plan.recipe->layout(operand, view, fallbackBytes);
        } else {
            operand.data = view.takeBytes(operand.rows * operand.cols * cpu::bytesOf(operand.type));
        }
    }
    if (plan.recipe == nullptr || !plan.recipe->unpacksForProducts()) return;
    const std::int64_t bytes = unpacked * cpu::bytesOf(plan.recipe->unpackedType());
    plan.unpackA = arena.takeBytes(bytes);
    plan.unpackB = arena.takeBytes(bytes);
}

}  // namespace engine
