// What can be wrong with a configuration, said so that the forms can put it beside the right field; and its size.
#include "engine/config.h"
#include "src/model.h"
#include "src/network.h"
#include "src/observation.h"
#include "src/recipes/recipe.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <thread>

namespace engine {

namespace {

class Issues {
public:
    void require(bool sound, const char* field, std::string why, std::string fix) {
        if (!sound) m_issues.push_back({field, std::move(why), std::move(fix)});
    }
    void range(const char* field, std::int64_t value, std::int64_t low, std::int64_t high) {
        require(value >= low && value <= high, field, std::to_string(value) + " is out of range",
                "use " + std::to_string(low) + " to " + std::to_string(high));
    }
    bool has(const std::string& field) const {
        return std::any_of(m_issues.begin(), m_issues.end(), [&](const ConfigIssue& i) { return i.field == field; });
    }
    std::vector<ConfigIssue> take() { return std::move(m_issues); }

private:
    std::vector<ConfigIssue> m_issues;
};

// Settings are stored as JSON and SQLite text, both UTF-8. Accepts what RFC 3629 does, but for overlong forms.
bool isUtf8(const std::string& text) {
    std::size_t i = 0;
    while (i < text.size()) {
        const auto lead = static_cast<unsigned char>(text[i++]);
        const int more = lead < 0x80                   ? 0
                         : lead >= 0xC2 && lead < 0xE0 ? 1
                         : lead >= 0xE0 && lead < 0xF0 ? 2
                         : lead >= 0xF0 && lead < 0xF5 ? 3
                                                       : -1;
        if (more < 0) return false;
        for (int k = 0; k < more; ++k, ++i) {
            if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return false;
        }
    }
    return true;
}

std::string divisorsNear(int dModel, int heads) {
    std::string text;
    int shown = 0;
    for (int candidate = std::max(1, heads / 2); candidate <= dModel && shown < 4; ++candidate) {
        if (dModel % candidate != 0) continue;
        text += (text.empty() ? "" : ", ") + std::to_string(candidate);
        ++shown;
    }
    return text;
}

void checkModel(const ModelConfig& model, Issues& issues) {
    issues.range("layers", model.layers, 1, 256);
    issues.range("d-model", model.dModel, 8, 16384);
    issues.range("heads", model.heads, 1, 256);
    issues.range("seq-len", model.seqLen, 2, 16384);
    if (model.vocab != 0) issues.range("vocab", model.vocab, 2, 1 << 24);
    if (model.kvHeads != 0) issues.range("kv-heads", model.kvHeads, 1, 256);
    if (model.ffn != 0) issues.range("ffn", model.ffn, 8, 1 << 18);
    issues.require(std::isfinite(model.normEpsilon) && model.normEpsilon > 0 && model.normEpsilon < 1, "norm-epsilon",
                   "it is not between 0 and 1", "1e-5 is usual");
    issues.require(std::isfinite(model.ropeTheta) && model.ropeTheta >= 1, "rope-theta", "it is below 1",
                   "10000 is usual");
    if (issues.has("heads") || issues.has("d-model")) return;
    issues.require(model.dModel % model.heads == 0, "heads",
                   std::to_string(model.heads) + " does not divide d-model " + std::to_string(model.dModel),
                   "use " + divisorsNear(model.dModel, model.heads));
    if (issues.has("heads")) return;
    if (model.kvHeads > 0 && !issues.has("kv-heads")) {
        issues.require(model.heads % model.kvHeads == 0, "kv-heads",
                       std::to_string(model.kvHeads) + " does not divide heads " + std::to_string(model.heads),
                       "use " + divisorsNear(model.heads, model.kvHeads));
    }
    issues.require(model.positions != Positions::Rotary || model.headDim() % 2 == 0, "positions",
                   "rotary positions turn pairs of elements and a head has " + std::to_string(model.headDim()),
                   "use --heads with an even d-model / heads, or --positions learned");
}

// A single GEMM that FP8 cannot take falls back with an event; a run without any FP8 GEMM is a mistake.
void checkShapes(const RunConfig& config, Issues& issues) {
    const ShapeRule rule = shapeRule(config.recipe.kind);
    const int d = config.model.dModel;
    const std::string kind = name(config.recipe.kind);
    // Every Linear of a block has d_model on one side.
    issues.require(
        d % rule.multiple == 0, "d-model",
        std::to_string(d) + " is not a multiple of " + std::to_string(rule.multiple) + ", which " + rule.reason,
        "use " + std::to_string(std::max(rule.multiple, d / rule.multiple * rule.multiple)) + " or " +
            std::to_string((d / rule.multiple + 1) * rule.multiple) + (rule.multiple > 16 ? ", another --recipe" : "") +
            ", or --precision bf16");
    const std::int64_t rows = std::int64_t{config.train.batch} * config.model.seqLen;
    issues.require(rows % rule.multiple == 0, "batch",
                   std::to_string(config.train.batch) + " × seq-len " + std::to_string(config.model.seqLen) + " = " +
                       std::to_string(rows) + " tokens is not a multiple of " + std::to_string(rule.multiple) +
                       ", which " + rule.reason + "; weight gradients sum over the tokens",
                   "choose --batch and --seq-len with a product that is, or --precision bf16");
}

void checkFp8(const RunConfig& config, Issues& issues) {
    const Fp8Recipe& recipe = config.recipe;
    issues.range("margin", recipe.margin, 0, 32);
    issues.range("amax-history-len", recipe.amaxHistoryLen, 1, 65536);
    issues.require(std::isfinite(recipe.amaxEpsilon) && recipe.amaxEpsilon >= 0, "amax-epsilon",
                   "it is negative or not a number", "0 is usual");
    if (config.train.precision != Precision::Fp8) {
        issues.require(config.train.weights == WeightStorage::Fp32, "weights",
                       std::string("weights in FP8 need --precision fp8, not ") + name(config.train.precision),
                       "add --precision fp8, or leave --weights out");
        return;
    }
    issues.require(recipe.kind != RecipeKind::NvFp4 || recipe.format == RecipeFormat::Auto, "format",
                   "nvfp4 has one element format, E2M1", "leave --format out");
    const bool scalesChosen = recipe.kind == RecipeKind::Current || recipe.kind == RecipeKind::Block;
    issues.require(scalesChosen || recipe.powerOfTwoScales == Switch::Auto, "power-of-two-scales",
                   std::string("the recipe ") + name(recipe.kind) + " has no such choice",
                   "use it with --recipe current or block");
    if (!issues.has("d-model")) checkShapes(config, issues);
}

void checkObservation(const TrainConfig& train, Issues& issues) {
    issues.range("snapshot-every", train.snapshotEvery, 0, 1000000000);
    issues.range("snapshot-from", train.snapshotFrom, 0, 1000000000);
    issues.range("snapshot-to", train.snapshotTo, -1, 1000000000);
    issues.require(train.snapshotTo < 0 || train.snapshotTo >= train.snapshotFrom, "snapshot-to",
                   std::to_string(train.snapshotTo) + " is before the first step with a snapshot, " +
                       std::to_string(train.snapshotFrom),
                   "use a later step, or -1 for no end");
    issues.range("exponents-every", train.exponentsEvery, 0, 1000000000);
    std::istringstream roles(train.observe);
    for (std::string role; std::getline(roles, role, ',');) {
        issues.require(isObservedRole(role), "observe", "\"" + role + "\" is no role of a tensor",
                       "use input, weight, grad_output, output, dgrad, wgrad, separated by commas");
    }
}

void checkFiles(const TrainConfig& train, Issues& issues) {
    const std::string& data = train.data;
    const bool known = data == "stride" || data.starts_with("text:") || data.starts_with("tokens:");
    issues.require(known, "data", data + " is no kind of data", "use stride, text:PATH or tokens:PATH");
    issues.require(data != "text:" && data != "tokens:", "data", "the path is missing", "choose a file");
    issues.require(isUtf8(data), "data", "the path is not valid UTF-8", "rename the file, or name it through a link");
    issues.require(isUtf8(train.init), "init", "the path is not valid UTF-8",
                   "rename the file, or name it through a link");
}

// A pattern that names no layer is a typing error that would silently train something else.
void checkPatterns(const RunConfig& config, const char* field, const std::string& patterns, Issues& issues) {
    issues.require(isUtf8(patterns), field, "it is not valid UTF-8", "write layer names such as layer.0.*");
    if (issues.has("layers")) return;
    const std::vector<std::string> layers = linearNames(config.model);
    std::istringstream list(patterns);
    for (std::string pattern; std::getline(list, pattern, ',');) {
        const bool used = std::any_of(layers.begin(), layers.end(),
                                      [&](const std::string& layer) { return matchesAny(pattern, layer); });
        issues.require(used, field, "\"" + pattern + "\" names no layer of this model",
                       "the layers are " + layers.front() + " … " + layers.back() + "; * and ? stand for anything");
    }
}

void checkTrain(const RunConfig& config, Issues& issues) {
    const TrainConfig& train = config.train;
    issues.range("batch", train.batch, 1, 65536);
    issues.range("accumulate", train.accumulate, 1, 4096);
    issues.range("steps", train.steps, 1, 1000000000);
    issues.range("warmup-steps", train.warmupSteps, 0, 1000000000);
    issues.range("threads", train.threads, 0, 1024);
    issues.range("validate-every", train.validateEvery, 0, 1000000000);
    issues.range("bf16-edge-layers", train.bf16EdgeLayers, 0, 256);
    issues.range("guard-steps", train.guardSteps, 0, 1000000000);
    issues.require(std::isfinite(train.guardLimit) && train.guardLimit >= 0 && train.guardLimit <= 32, "guard-limit",
                   "it is not within 0 and 32 bits", "1 is usual");
    issues.require(std::isfinite(train.lr) && train.lr > 0 && train.lr <= 10, "lr", "it is not above 0 and at most 10",
                   "1e-3 suits small models");
    issues.require(std::isfinite(train.weightDecay) && train.weightDecay >= 0 && train.weightDecay <= 10,
                   "weight-decay", "it is not within 0 and 10", "0.1 is usual");
    issues.require(std::isfinite(train.gradClip) && train.gradClip >= 0, "grad-clip", "it is negative or not a number",
                   "1.0 is usual; 0 switches clipping off");
    issues.require(train.beta1 >= 0 && train.beta1 < 1, "beta1", "it is not within 0 and 1", "0.9 is usual");
    issues.require(train.beta2 >= 0 && train.beta2 < 1, "beta2", "it is not within 0 and 1", "0.95 is usual");
    checkFiles(train, issues);
    checkObservation(train, issues);
    checkPatterns(config, "keep-bf16", train.keepBf16, issues);
    checkPatterns(config, "keep-fp32", train.keepFp32, issues);
    const std::string& device = train.device;
    issues.require(device == "auto" || device == "cpu" || device == "cuda" || device.starts_with("cuda:"), "device",
                   device + " is no kind of device", "use auto, cpu, cuda or cuda:N");
}

}  // namespace

std::vector<ConfigIssue> validate(const RunConfig& config) {
    Issues issues;
    checkModel(config.model, issues);
    checkTrain(config, issues);
    checkFp8(config, issues);
    return issues.take();
}

RunEstimate estimate(const RunConfig& config) {
    const ModelConfig& model = config.model;
    const double tokens = static_cast<double>(config.train.batch) * model.seqLen * config.train.accumulate;
    double weights = 0;
    for (const LinearShape& shape : linearShapes(model)) {
        weights += static_cast<double>(shape.out) * static_cast<double>(shape.in);
    }
    // Causal attention: two products over (T + 1)/2 positions per token forward, twice that backward.
    const double attention = 2.0 * (model.seqLen + 1.0) * model.dModel * model.layers;
    RunEstimate result{};
    result.parameters = parameterCount(parameterTable(model));
    result.tokensPerStep = std::int64_t{config.train.batch} * model.seqLen * config.train.accumulate;
    result.flopsPerStep = tokens * (6.0 * weights + 3.0 * attention);
    const int threads = config.train.threads > 0 ? config.train.threads
                                                 : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const Precision precision = config.train.precision == Precision::Auto ? Precision::Bf16 : config.train.precision;
    result.memoryBytes = networkBytes(config, precision, threads);
    return result;
}

}  // namespace engine
