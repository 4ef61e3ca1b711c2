// Starting a run from a published model's weights instead of random ones.
#include "engine/error.h"
#include "src/trainer_impl.h"
#include "src/weight_names.h"

#include <algorithm>
#include <string>

namespace engine {

namespace {

int checkedInt(const std::string& path, const char* what, std::int64_t value) {
    if (value >= 0 && value <= (std::int64_t{1} << 24)) return static_cast<int>(value);
    throw Error(ErrorKind::Failure, path, std::string(what) + " is " + std::to_string(value), "use another model");
}

Error mismatch(const std::string& option, const std::string& own, const std::string& file) {
    return {ErrorKind::Usage, option, "the run has " + own + " and the weights have " + file,
            "use the value of the file, or leave the option out"};
}

// The first setting of the model that the file contradicts.
void requireSameModel(const ModelConfig& own, const ModelConfig& file) {
    const auto number = [](const char* option, std::int64_t a, std::int64_t b) {
        if (a != b) throw mismatch(option, std::to_string(a), std::to_string(b));
    };
    number("--layers", own.layers, file.layers);
    number("--d-model", own.dModel, file.dModel);
    number("--ffn", own.ffnWidth(), file.ffnWidth());
    if (own.keyValueHeads() * own.headDim() != file.keyValueHeads() * file.headDim()) {
        throw mismatch("--kv-heads", std::to_string(own.keyValueHeads()), std::to_string(file.keyValueHeads()));
    }
    const auto word = [](const char* option, auto a, auto b) {
        if (a != b) throw mismatch(option, name(a), name(b));
    };
    word("--norm", own.norm, file.norm);
    word("--activation", own.activation, file.activation);
    word("--positions", own.positions, file.positions);
    if (own.bias != file.bias) throw mismatch("--no-bias", own.bias ? "biases" : "none", file.bias ? "biases" : "none");
    if (own.tiedHead != file.tiedHead) {
        throw mismatch("--tied-head", own.tiedHead ? "a tied head" : "a head of its own",
                       file.tiedHead ? "a tied head" : "a head of its own");
    }
    if (own.vocab < file.vocab) {
        throw mismatch("--vocab", std::to_string(own.vocab) + " tokens", std::to_string(file.vocab));
    }
    if (own.positions == Positions::Learned && own.seqLen > file.seqLen) {
        throw mismatch("--seq-len", std::to_string(own.seqLen) + " positions", std::to_string(file.seqLen));
    }
}

ModelConfig modelOf(const std::string& path, const WeightModel& file, ModelConfig model) {
    const bool gpt2 = file.architecture == "gpt2";
    model.layers = checkedInt(path, "the number of layers", file.layers);
    model.dModel = checkedInt(path, "the model's width", file.dModel);
    model.vocab = std::max(model.vocab, checkedInt(path, "the vocabulary", file.vocab));
    model.ffn = checkedInt(path, "the width of the MLP", file.ffn);
    if (file.heads > 0) model.heads = checkedInt(path, "the number of heads", file.heads);
    model.kvHeads = 0;
    if (file.kvWidth > 0 && file.kvWidth != file.dModel && model.heads > 0) {
        model.kvHeads = checkedInt(path, "the number of key and value heads",
                                   file.kvWidth / std::max<std::int64_t>(1, file.dModel / model.heads));
    }
    model.norm = gpt2 ? Norm::LayerNorm : Norm::RmsNorm;
    model.activation = gpt2 ? Activation::Gelu : Activation::SwiGlu;
    model.positions = gpt2 ? Positions::Learned : Positions::Rotary;
    model.bias = gpt2;
    model.tiedHead = file.tied;
    if (file.ropeTheta > 0) model.ropeTheta = file.ropeTheta;
    if (file.normEpsilon > 0) model.normEpsilon = file.normEpsilon;
    if (file.seqLen > 0) model.seqLen = std::min(model.seqLen, checkedInt(path, "the context length", file.seqLen));
    return model;
}

std::string listOf(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, names.size()); ++i) text += (i > 0 ? ", " : "") + names[i];
    return names.size() > 3 ? text + " and " + std::to_string(names.size() - 3) + " more" : text;
}

}  // namespace

ModelConfig modelOfWeights(const std::string& path, const ModelConfig& base) {
    const WeightFile file(path);
    return modelOf(path, planWeights(file).model, base);
}

void TrainerImpl::loadInitialWeights() {
    const std::string& path = m_config.train.init;
    const WeightFile file(path);
    const WeightPlan plan = planWeights(file);
    ModelConfig base = m_config.model;
    base.vocab = 0;
    base.seqLen = 1 << 20;  // unlimited: the file says how many positions it has
    requireSameModel(m_config.model, modelOf(path, plan.model, base));
    // The gradients are free until the first step. What a longer vocabulary adds starts at zero.
    float* values = m_network->gradients();
    for (const ParameterSpec& spec : m_network->table()) {
        const auto entry = std::find_if(plan.entries.begin(), plan.entries.end(),
                                        [&](const WeightEntry& e) { return e.parameter == spec.name; });
        ENGINE_CHECK(entry != plan.entries.end(), "a plan fills every parameter");
        std::vector<float> source(static_cast<std::size_t>(entry->rows * entry->cols));
        readParameter(file, *entry, source.data());
        const std::int64_t known = std::min(spec.count(), entry->rows * entry->cols);
        std::copy_n(source.begin(), known, values + spec.offset);
        std::fill_n(values + spec.offset + known, spec.count() - known, 0.0F);
    }
    m_network->setParameters(values);
    report(Severity::Info, "weights", "start from " + path + " (" + plan.model.architecture + ")");
    if (!plan.unused.empty()) {
        report(Severity::Warning, "weights",
               path + " has tensors that this model has no place for: " + listOf(plan.unused));
    }
    if (plan.model.ropeScaled) {
        report(Severity::Warning, "weights", path + " stretches its rotary positions, which this model does not");
    }
}

}  // namespace engine
