// Configuration to JSON and back, as stored in the run table and in checkpoints. Keys are the command line's words
// with underscores. One list of fields per struct serves both directions.
#include "engine/config.h"
#include "engine/error.h"

#include <nlohmann/json.hpp>

#include <type_traits>

namespace engine {

using nlohmann::ordered_json;

namespace {

template <typename Visitor, typename Model>
void visitModel(Visitor&& field, Model& model) {
    field("layers", model.layers);
    field("d_model", model.dModel);
    field("heads", model.heads);
    field("seq_len", model.seqLen);
    field("vocab", model.vocab);
    field("kv_heads", model.kvHeads);
    field("ffn", model.ffn);
    field("norm", model.norm);
    field("activation", model.activation);
    field("positions", model.positions);
    field("rope_theta", model.ropeTheta);
    field("norm_epsilon", model.normEpsilon);
    field("bias", model.bias);
    field("tied_head", model.tiedHead);
}

template <typename Visitor, typename Recipe>
void visitRecipe(Visitor&& field, Recipe& recipe) {
    field("recipe", recipe.kind);
    field("format", recipe.format);
    field("margin", recipe.margin);
    field("amax_history_len", recipe.amaxHistoryLen);
    field("amax_algo", recipe.amaxAlgo);
    field("power_of_two_scales", recipe.powerOfTwoScales);
    field("amax_epsilon", recipe.amaxEpsilon);
    field("weight_tiles", recipe.weightTiles);
    field("stochastic_rounding", recipe.stochasticRounding);
    field("hadamard", recipe.hadamard);
}

template <typename Visitor, typename Train>
void visitTrain(Visitor&& field, Train& train) {
    field("precision", train.precision);
    field("batch", train.batch);
    field("accumulate", train.accumulate);
    field("steps", train.steps);
    field("lr", train.lr);
    field("warmup_steps", train.warmupSteps);
    field("weight_decay", train.weightDecay);
    field("beta1", train.beta1);
    field("beta2", train.beta2);
    field("grad_clip", train.gradClip);
    field("seed", train.seed);
    field("threads", train.threads);
    field("fused", train.fused);
    field("keep_bf16", train.keepBf16);
    field("keep_fp32", train.keepFp32);
    field("bf16_edge_layers", train.bf16EdgeLayers);
    field("weights", train.weights);
    field("guard", train.guard);
    field("guard_limit", train.guardLimit);
    field("guard_steps", train.guardSteps);
    field("snapshot_every", train.snapshotEvery);
    field("snapshot_from", train.snapshotFrom);
    field("snapshot_to", train.snapshotTo);
    field("exponents_every", train.exponentsEvery);
    field("observe", train.observe);
    field("validate_every", train.validateEvery);
    field("init", train.init);
    field("device", train.device);
    field("data", train.data);
}

/// Enumerations are written by name, everything else as it is.
class Writer {
public:
    template <typename T>
    void operator()(const char* key, const T& value) {
        if constexpr (std::is_enum_v<T>) {
            m_json[key] = name(value);
        } else {
            m_json[key] = value;
        }
    }
    std::string text() const { return m_json.dump(); }

private:
    ordered_json m_json;
};

/// A key that is absent keeps its default: a later setting, or a recipe's that has no use for it.
class Reader {
public:
    explicit Reader(const std::string& text) : m_json(ordered_json::parse(text)) {}

    template <typename T>
    void operator()(const char* key, T& value) const {
        const auto found = m_json.find(key);
        if (found == m_json.end()) return;
        if constexpr (std::is_enum_v<T>) {
            value = parse<T>(found->template get<std::string>());
        } else {
            found->get_to(value);
        }
    }
    void require(const char* key) const { m_json.at(key); }

private:
    ordered_json m_json;
};

}  // namespace

std::string toJson(const ModelConfig& model) {
    Writer writer;
    visitModel(writer, model);
    return writer.text();
}

std::string toJson(const Fp8Recipe& recipe) {
    Writer writer;
    visitRecipe(writer, recipe);
    return writer.text();
}

std::string toJson(const TrainConfig& train) {
    Writer writer;
    visitTrain(writer, train);
    return writer.text();
}

RunConfig runConfigFromJson(const std::string& model, const std::string& recipe, const std::string& train) {
    try {
        RunConfig config;
        const Reader modelReader(model);
        for (const char* key : {"layers", "d_model", "heads", "seq_len", "vocab"}) modelReader.require(key);
        visitModel(modelReader, config.model);
        if (!recipe.empty()) visitRecipe(Reader(recipe), config.recipe);
        const Reader trainReader(train);
        for (const char* key : {"precision", "batch", "steps", "lr", "seed", "data"}) trainReader.require(key);
        visitTrain(trainReader, config.train);
        return config;
    } catch (const ordered_json::exception& error) {
        throw Error(ErrorKind::Failure, "stored configuration", error.what(),
                    "it was written by another version of the program or is damaged");
    }
}

}  // namespace engine
