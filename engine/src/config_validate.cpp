// What can be wrong with a configuration, said so that the forms can put it beside the right field; and its size.
#include "engine/config.h"
#include "src/model.h"
#include "src/network.h"

#include <algorithm>
#include <cmath>
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
    if (issues.has("heads") || issues.has("d-model")) return;
    issues.require(model.dModel % model.heads == 0, "heads",
                   std::to_string(model.heads) + " does not divide d-model " + std::to_string(model.dModel),
                   "use " + divisorsNear(model.dModel, model.heads));
}

// FP8 products take dimensions in multiples of 16: TE's check asks 8 of the rows, but wgrad sums over them and
// needs 16 (te-facts 2.6).
void checkFp8(const RunConfig& config, Issues& issues) {
    if (config.train.precision != Precision::Fp8) return;
    const int d = config.model.dModel;
    issues.require(d % 16 == 0, "d-model", std::to_string(d) + " is not a multiple of 16, which FP8 products need",
                   "use " + std::to_string(std::max(16, d / 16 * 16)) + " or " + std::to_string((d / 16 + 1) * 16) +
                       ", or --precision bf16");
    const std::int64_t rows = std::int64_t{config.train.batch} * config.model.seqLen;
    issues.require(rows % 16 == 0, "batch",
                   std::to_string(config.train.batch) + " × seq-len " + std::to_string(config.model.seqLen) + " = " +
                       std::to_string(rows) + " tokens is not a multiple of 16, which FP8 weight gradients need",
                   "choose --batch and --seq-len with a product that is, or --precision bf16");
    issues.range("margin", config.recipe.margin, 0, 32);
    issues.range("amax-history-len", config.recipe.amaxHistoryLen, 1, 65536);
}

void checkTrain(const TrainConfig& train, Issues& issues) {
    issues.range("batch", train.batch, 1, 65536);
    issues.range("steps", train.steps, 1, 1000000000);
    issues.range("warmup-steps", train.warmupSteps, 0, 1000000000);
    issues.range("threads", train.threads, 0, 1024);
    issues.range("snapshot-every", train.snapshotEvery, 0, 1000000000);
    issues.range("validate-every", train.validateEvery, 0, 1000000000);
    issues.require(std::isfinite(train.lr) && train.lr > 0 && train.lr <= 10, "lr", "it is not above 0 and at most 10",
                   "1e-3 suits small models");
    issues.require(std::isfinite(train.weightDecay) && train.weightDecay >= 0 && train.weightDecay <= 10,
                   "weight-decay", "it is not within 0 and 10", "0.1 is usual");
    issues.require(std::isfinite(train.gradClip) && train.gradClip >= 0, "grad-clip", "it is negative or not a number",
                   "1.0 is usual; 0 switches clipping off");
    issues.require(train.beta1 >= 0 && train.beta1 < 1, "beta1", "it is not within 0 and 1", "0.9 is usual");
    issues.require(train.beta2 >= 0 && train.beta2 < 1, "beta2", "it is not within 0 and 1", "0.95 is usual");
    const std::string& data = train.data;
    const bool known = data == "stride" || data.starts_with("text:") || data.starts_with("tokens:");
    issues.require(known, "data", data + " is no kind of data", "use stride, text:PATH or tokens:PATH");
    issues.require(data != "text:" && data != "tokens:", "data", "the path is missing", "choose a file");
    issues.require(isUtf8(data), "data", "the path is not valid UTF-8", "rename the file, or name it through a link");
    issues.require(isUtf8(train.keepBf16), "keep-bf16", "it is not valid UTF-8", "write layer names such as layer.0.*");
    const std::string& device = train.device;
    issues.require(device == "auto" || device == "cpu" || device == "cuda" || device.starts_with("cuda:"), "device",
                   device + " is no kind of device", "use auto, cpu, cuda or cuda:N");
}

}  // namespace

std::vector<ConfigIssue> validate(const RunConfig& config) {
    Issues issues;
    checkModel(config.model, issues);
    checkTrain(config.train, issues);
    checkFp8(config, issues);
    return issues.take();
}

RunEstimate estimate(const RunConfig& config) {
    const ModelConfig& model = config.model;
    const std::vector<ParameterSpec> table = parameterTable(model);
    const double tokens = static_cast<double>(config.train.batch) * model.seqLen;
    const double d = model.dModel;
    const double matrices = 12.0 * d * d * model.layers + static_cast<double>(model.vocab) * d;
    // Causal attention: two products over (T + 1)/2 positions per token forward, twice that backward.
    const double attention = 2.0 * (model.seqLen + 1.0) * d * model.layers;
    RunEstimate result{};
    result.parameters = parameterCount(table);
    result.tokensPerStep = std::int64_t{config.train.batch} * model.seqLen;
    result.flopsPerStep = tokens * (6.0 * matrices + 3.0 * attention);
    const int threads = config.train.threads > 0 ? config.train.threads
                                                 : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const Precision precision = config.train.precision == Precision::Auto ? Precision::Bf16 : config.train.precision;
    result.memoryBytes = networkBytes(config, precision, threads) + kTwoFloats * parameterFloats(table);
    return result;
}

}  // namespace engine
