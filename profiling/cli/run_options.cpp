// The options that say what to train and how; see run_options.h.
#include "run_options.h"

#include "arguments.h"
#include "json_lines.h"
#include "messages.h"

#include <algorithm>
#include <charconv>

namespace cli {
namespace {

using engine::RunConfig;

constexpr const char* kModel = "Model";
constexpr const char* kFp8 = "FP8";
constexpr const char* kTraining = "Training";
constexpr const char* kRunning = "Running";

/// The value that an option ended up with, looked up in the stored form: "d-model" is "d_model" there.
std::string valueText(const RunConfig& config, std::string field) {
    std::replace(field.begin(), field.end(), '-', '_');
    for (const std::string& text :
         {engine::toJson(config.model), engine::toJson(config.recipe), engine::toJson(config.train)}) {
        const Json json = jsonFromText(text);
        const auto found = json.find(field);
        if (found != json.end()) return found->is_string() ? found->get<std::string>() : found->dump();
    }
    return "";
}

}  // namespace

void RunOptions::integer(CLI::App& app, const std::string& option, const std::string& help, const std::string& group,
                         const std::function<void(RunConfig&, int)>& set) {
    addText(app, option, "N", help, [this, option, set](const std::string& text) {
        const std::int64_t value = wholeNumber(option, text);
        if (value != static_cast<int>(value))
            throw UsageError(option + " " + text, "is out of range", "use a smaller number");
        m_changes.push_back([set, value](RunConfig& config) { set(config, static_cast<int>(value)); });
    })->group(group);
}

void RunOptions::real(CLI::App& app, const std::string& option, const std::string& help, const std::string& group,
                      const std::function<void(RunConfig&, double)>& set) {
    addText(app, option, "X", help, [this, option, set](const std::string& text) {
        const double value = number(option, text);
        m_changes.push_back([set, value](RunConfig& config) { set(config, value); });
    })->group(group);
}

void RunOptions::word(CLI::App& app, const std::string& option, const std::string& choices, const std::string& help,
                      const std::string& group, const std::function<Change(const std::string&)>& parse) {
    addText(app, option, choices, help, [this, parse](const std::string& text) {
        m_changes.push_back(parse(text));
    })->group(group);
}

void RunOptions::addModel(CLI::App& app) {
    addText(app, "--preset", "NAME", "start from tutorial, small, base or large; other options change it", m_preset)
        ->group(kModel);
    integer(app, "--layers", "Transformer blocks", kModel, [](RunConfig& c, int n) { c.model.layers = n; });
    integer(app, "--d-model", "width, divisible by heads", kModel, [](RunConfig& c, int n) { c.model.dModel = n; });
    integer(app, "--heads", "attention heads", kModel, [](RunConfig& c, int n) { c.model.heads = n; });
    integer(app, "--seq-len", "tokens per sequence", kModel, [](RunConfig& c, int n) { c.model.seqLen = n; });
    integer(app, "--vocab", "vocabulary; 0 follows the data", kModel, [](RunConfig& c, int n) { c.model.vocab = n; });
}

void RunOptions::addFp8(CLI::App& app) {
    word(app, "--recipe", "delayed", "scaling recipe; this version has delayed", kFp8,
         [](const std::string& text) -> Change {
             if (text != "delayed") {
                 throw UsageError("--recipe " + text, "this version has one recipe",
                                  "use delayed, or leave the option out");
             }
             return [](RunConfig&) {};
         });
    word(app, "--format", "hybrid|e4m3", "hybrid: E4M3 forward, E5M2 backward", kFp8,
         [](const std::string& text) -> Change {
             return [value = engine::parse<engine::RecipeFormat>(text)](RunConfig& c) { c.recipe.format = value; };
         });
    integer(app, "--amax-history-len", "steps of amax that decide a scale", kFp8,
            [](RunConfig& c, int n) { c.recipe.amaxHistoryLen = n; });
    word(app, "--amax-algo", "max|most_recent", "which amax of the history decides", kFp8,
         [](const std::string& text) -> Change {
             return [value = engine::parse<engine::AmaxAlgo>(text)](RunConfig& c) { c.recipe.amaxAlgo = value; };
         });
    integer(app, "--margin", "scales are divided by 2^N", kFp8, [](RunConfig& c, int n) { c.recipe.margin = n; });
    word(app, "--keep-bf16", "GLOBS", "layers kept in BF16, like 'layer.0.*,lm_head'", kFp8,
         [](const std::string& text) -> Change { return [text](RunConfig& c) { c.train.keepBf16 = text; }; });
}

void RunOptions::addTraining(CLI::App& app) {
    word(app, "--data", "DATA", "stride, text:PATH or tokens:PATH", kTraining,
         [](const std::string& text) -> Change { return [text](RunConfig& c) { c.train.data = text; }; });
    integer(app, "--batch", "sequences per step", kTraining, [](RunConfig& c, int n) { c.train.batch = n; });
    real(app, "--lr", "peak learning rate", kTraining, [](RunConfig& c, double x) { c.train.lr = x; });
    integer(app, "--warmup-steps", "steps of rising learning rate", kTraining,
            [](RunConfig& c, int n) { c.train.warmupSteps = n; });
    real(app, "--weight-decay", "decoupled decay of matrices", kTraining,
         [](RunConfig& c, double x) { c.train.weightDecay = x; });
    real(app, "--grad-clip", "largest global gradient norm; 0: off", kTraining,
         [](RunConfig& c, double x) { c.train.gradClip = x; });
    word(app, "--seed", "N", "same seed and threads: same bytes", kTraining, [](const std::string& text) -> Change {
        std::uint64_t seed = 0;
        const char* end = text.data() + text.size();
        const std::from_chars_result parsed = std::from_chars(text.data(), end, seed);
        if (parsed.ec != std::errc() || parsed.ptr != end) {
            throw UsageError("--seed " + text, "is not a whole number from 0", "write digits only");
        }
        return [seed](RunConfig& c) { c.train.seed = seed; };
    });
    word(app, "--guard", "MODE", "off, warn, fallback or stop on numeric trouble", kTraining,
         [](const std::string& text) -> Change {
             return [value = engine::parse<engine::Guard>(text)](RunConfig& c) { c.train.guard = value; };
         });
}

void RunOptions::addRunning(CLI::App& app) {
    word(app, "--device", "DEVICE", "auto, cpu or cuda[:N]", kRunning,
         [](const std::string& text) -> Change { return [text](RunConfig& c) { c.train.device = text; }; });
    integer(app, "--threads", "0: one per core", kRunning, [](RunConfig& c, int n) { c.train.threads = n; });
    app.add_flag_callback(
           "--unfused", [this] { m_changes.push_back([](RunConfig& c) { c.train.fused = false; }); },
           "separate passes instead of fused ones")
        ->group(kRunning);
    integer(app, "--snapshot-every", "steps between tensor snapshots; 0: none", kRunning,
            [](RunConfig& c, int n) { c.train.snapshotEvery = n; });
}

void RunOptions::addShared(CLI::App& app) {
    addModel(app);
    addFp8(app);
    addTraining(app);
    addRunning(app);
}

void RunOptions::addForTrain(CLI::App& app) {
    addShared(app);
    word(app, "--precision", "auto|fp32|bf16|fp8", "auto: the best that the device has in hardware", kTraining,
         [](const std::string& text) -> Change {
             return [value = engine::parse<engine::Precision>(text)](RunConfig& c) { c.train.precision = value; };
         });
    integer(app, "--steps", "training steps", kTraining, [](RunConfig& c, int n) { c.train.steps = n; });
    integer(app, "--validate-every", "steps between validations; 0: at the end", kTraining,
            [](RunConfig& c, int n) { c.train.validateEvery = n; });
}

void RunOptions::addForBench(CLI::App& app) {
    addShared(app);
}

RunConfig RunOptions::config() const {
    return applyTo(hasPreset() ? engine::presetConfig(m_preset) : RunConfig{});
}

RunConfig RunOptions::applyTo(RunConfig base) const {
    for (const Change& change : m_changes) change(base);
    return base;
}

void requireValid(const RunConfig& config) {
    const std::vector<engine::ConfigIssue> issues = engine::validate(config);
    for (std::size_t i = 0; i < issues.size(); ++i) {
        // Most reasons name the value already.
        const std::string value = valueText(config, issues[i].field);
        const bool told = value.empty() || issues[i].why.find(value) != std::string::npos;
        const std::string subject = "--" + issues[i].field + (told ? "" : " " + value);
        if (i + 1 == issues.size()) throw UsageError(subject, issues[i].why, issues[i].fix);
        printError(UsageError(subject, issues[i].why, issues[i].fix).what());
    }
}

}  // namespace cli
