// The options that say what to train and how; see run_options.h. Each is one line that names its field.
#include "run_options.h"

#include "arguments.h"
#include "jobs/option_effect.h"
#include "json_lines.h"
#include "messages.h"

#include <algorithm>
#include <type_traits>

namespace cli {
namespace {

using engine::Fp8Recipe;
using engine::ModelConfig;
using engine::RunConfig;
using engine::TrainConfig;

template <typename Part>
Part& partOf(RunConfig& config) {
    if constexpr (std::is_same_v<Part, ModelConfig>) {
        return config.model;
    } else if constexpr (std::is_same_v<Part, Fp8Recipe>) {
        return config.recipe;
    } else {
        return config.train;
    }
}

template <typename Enum>
std::string choiceText() {
    std::string text;
    for (const std::string& choice : engine::choices<Enum>()) text += (text.empty() ? "" : "|") + choice;
    return text;
}

/// What stands for the value in the help; `text` is for texts.
template <typename T>
std::string placeholderOf(const std::string& text) {
    if constexpr (std::is_enum_v<T>) {
        return choiceText<T>();
    } else if constexpr (std::is_same_v<T, std::string>) {
        return text;
    } else {
        return std::is_same_v<T, double> ? "X" : "N";
    }
}

template <typename T>
T valueFrom(const std::string& option, const std::string& text) {
    if constexpr (std::is_enum_v<T>) {
        return engine::parse<T>(text);
    } else if constexpr (std::is_same_v<T, std::string>) {
        return text;
    } else if constexpr (std::is_same_v<T, double>) {
        return number(option, text);
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
        return wholeNumberFromZero(option, text);
    } else {
        return intNumber(option, text);
    }
}

/// Adds the options of one group of the help.
class Group {
public:
    Group(CLI::App& app, std::vector<GivenOption>& given, const char* title)
        : m_app(app), m_given(given), m_title(title) {}

    /// `placeholder` is for texts; numbers and choices have their own.
    template <typename Part, typename T>
    void add(const std::string& option, T Part::*member, const std::string& help,
             const std::string& placeholder = "TEXT") {
        addText(m_app, option, placeholderOf<T>(placeholder), help,
                [given = &m_given, option, member](const std::string& text) {
                    const T value = valueFrom<T>(option, text);
                    given->push_back({option, option.substr(2),
                                      [member, value](RunConfig& config) { partOf<Part>(config).*member = value; }});
                })
            ->group(m_title);
    }

    /// A switch: `option` turns it to the value that is not usual, `inverse` back, where a preset had turned it.
    template <typename Part>
    void addSwitch(const std::string& option, const std::string& inverse, bool Part::*member, bool value,
                   const std::string& help) {
        const std::string field = (value ? option : inverse).substr(2);
        const auto flag = [&](const std::string& name, bool to, const std::string& text) {
            return m_app.add_flag_callback(
                name,
                [given = &m_given, name, field, member, to] {
                    given->push_back({name, field, [member, to](RunConfig& c) { partOf<Part>(c).*member = to; }});
                },
                text);
        };
        flag(option, value, help + "; " + inverse + " undoes it")->group(m_title);
        flag(inverse, !value, "")->group("");
    }

private:
    CLI::App& m_app;
    std::vector<GivenOption>& m_given;
    std::string m_title;
};

void addModel(Group group) {
    group.add("--layers", &ModelConfig::layers, "Transformer layers");
    group.add("--d-model", &ModelConfig::dModel, "width, divisible by heads");
    group.add("--heads", &ModelConfig::heads, "attention heads");
    group.add("--kv-heads", &ModelConfig::kvHeads, "key and value heads of grouped-query attention; 0: as heads");
    group.add("--ffn", &ModelConfig::ffn, "width of the MLP; 0: 4 times d-model");
    group.add("--seq-len", &ModelConfig::seqLen, "tokens per sequence");
    group.add("--vocab", &ModelConfig::vocab, "vocabulary; 0 follows the data");
    group.add("--norm", &ModelConfig::norm, "normalisation before attention and MLP");
    group.add("--norm-epsilon", &ModelConfig::normEpsilon, "what the normalisation adds to the variance");
    group.add("--activation", &ModelConfig::activation, "of the MLP; geglu and swiglu are gated");
    group.add("--positions", &ModelConfig::positions, "learned: an embedding; rotary: turned queries and keys");
    group.add("--rope-theta", &ModelConfig::ropeTheta, "base of the rotary angles");
    group.addSwitch("--no-bias", "--bias", &ModelConfig::bias, false, "Linear layers and LayerNorm without bias");
    group.addSwitch("--tied-head", "--untied-head", &ModelConfig::tiedHead, true,
                    "the head shares the token embedding's weight");
}

void addRecipe(Group group, bool withPrecision) {
    if (withPrecision)
        group.add("--precision", &TrainConfig::precision, "auto: the best that the device has in hardware");
    group.add("--recipe", &Fp8Recipe::kind, "how scales are found");
    group.add("--format", &Fp8Recipe::format,
              "hybrid: E4M3 forward, E5M2 backward; auto: hybrid with one scale per tensor, else e4m3");
    group.add("--margin", &Fp8Recipe::margin, "delayed: scales are divided by 2^N");
    group.add("--amax-history-len", &Fp8Recipe::amaxHistoryLen, "delayed: steps of amax that decide a scale");
    group.add("--amax-algo", &Fp8Recipe::amaxAlgo, "delayed: which amax of the history decides");
    group.add("--power-of-two-scales", &Fp8Recipe::powerOfTwoScales,
              "current, block: scales rounded down to powers of two; auto: block only");
    group.add("--amax-epsilon", &Fp8Recipe::amaxEpsilon, "current, block: smallest amax that a scale is made from");
    group.addSwitch("--no-weight-tiles", "--weight-tiles", &Fp8Recipe::weightTiles, false,
                    "block, nvfp4: a weight's blocks are parts of rows, not squares");
    group.addSwitch("--no-stochastic-rounding", "--stochastic-rounding", &Fp8Recipe::stochasticRounding, false,
                    "nvfp4: grad_output is rounded to nearest");
    group.addSwitch("--no-hadamard", "--hadamard", &Fp8Recipe::hadamard, false,
                    "nvfp4: no Hadamard transform of wgrad's operands");
    group.add("--weights", &TrainConfig::weights,
              "of FP8 layers; fp8: only as quantised; fp8_keep_init: and the optimizer's FP32 masters");
    group.add("--keep-bf16", &TrainConfig::keepBf16, "layers kept in BF16, like 'layer.0.*,lm_head'", "GLOBS");
    group.add("--keep-fp32", &TrainConfig::keepFp32, "layers kept in FP32; wins over --keep-bf16", "GLOBS");
    group.add("--bf16-edge-layers", &TrainConfig::bf16EdgeLayers,
              "this many first and as many last Transformer layers kept in BF16");
}

void addGuard(Group group) {
    group.add("--guard", &TrainConfig::guard, "what happens on saturation and on numbers that are not finite");
    group.add("--guard-limit", &TrainConfig::guardLimit, "bits by which a tensor may exceed its format's range");
    group.add("--guard-steps", &TrainConfig::guardSteps, "fallback: steps in BF16; 0: the rest of the run");
}

void addTraining(Group group) {
    group.add("--data", &TrainConfig::data, "stride, text:PATH or tokens:PATH", "DATA");
    group.add("--init", &TrainConfig::init, "start from the weights of a .safetensors file (GPT-2 or LLaMA names)",
              "PATH");
    group.add("--batch", &TrainConfig::batch, "sequences per micro-batch");
    group.add("--accumulate", &TrainConfig::accumulate, "micro-batches per step; weights are cast once per step");
    group.add("--lr", &TrainConfig::lr, "peak learning rate");
    group.add("--warmup-steps", &TrainConfig::warmupSteps, "steps of rising learning rate");
    group.add("--weight-decay", &TrainConfig::weightDecay, "decoupled decay of matrices");
    group.add("--beta1", &TrainConfig::beta1, "AdamW: decay of the first moment");
    group.add("--beta2", &TrainConfig::beta2, "AdamW: decay of the second moment");
    group.add("--grad-clip", &TrainConfig::gradClip, "largest global gradient norm; 0: off");
    group.add("--seed", &TrainConfig::seed, "same seed and threads: same bytes");
}

void addObservation(Group group) {
    group.add("--snapshot-every", &TrainConfig::snapshotEvery, "steps between tensor snapshots; 0: none");
    group.add("--snapshot-from", &TrainConfig::snapshotFrom, "first step with a snapshot");
    group.add("--snapshot-to", &TrainConfig::snapshotTo, "last step with a snapshot; -1: no end");
    group.add("--exponents-every", &TrainConfig::exponentsEvery, "steps between exponent histograms; 0: none");
    group.add("--observe", &TrainConfig::observe,
              "tensors by role, with commas: input, weight, grad_output, output, dgrad, wgrad", "ROLES");
}

void addRunning(Group group) {
    group.add("--device", &TrainConfig::device, "auto, cpu or cuda[:N]", "DEVICE");
    group.add("--threads", &TrainConfig::threads, "0: one per core");
    group.addSwitch("--unfused", "--fused", &TrainConfig::fused, false, "separate passes instead of fused ones");
}

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

void RunOptions::addShared(CLI::App& app, bool withPrecision) {
    addText(app, "--preset", "NAME",
            "start from a built-in model (see amaxscope-cli presets) or a .toml file; other options change it",
            m_preset)
        ->group("Model");
    addModel(Group(app, m_given, "Model"));
    addRecipe(Group(app, m_given, "Precision"), withPrecision);
    addGuard(Group(app, m_given, "Guard"));
    addTraining(Group(app, m_given, "Training"));
    addObservation(Group(app, m_given, "Observation"));
    addRunning(Group(app, m_given, "Running"));
}

void RunOptions::addForTrain(CLI::App& app) {
    addShared(app, true);
    Group training(app, m_given, "Training");
    training.add("--steps", &TrainConfig::steps, "training steps");
    training.add("--validate-every", &TrainConfig::validateEvery, "steps between validations; 0: at the end");
}

void RunOptions::addForBench(CLI::App& app) {
    addShared(app, false);
}

RunConfig RunOptions::config() const {
    return applyTo(hasPreset() ? engine::presetConfig(m_preset) : RunConfig{});
}

RunConfig RunOptions::applyTo(RunConfig base) const {
    for (std::size_t i = 0; i < m_given.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (m_given[i].field != m_given[j].field) continue;
            throw UsageError(m_given[j].shown, "contradicts " + m_given[i].shown, "leave one of the two out");
        }
    }
    for (const GivenOption& given : m_given) given.change(base);
    return base;
}

void RunOptions::requireEffect(const std::vector<RunConfig>& configs) const {
    for (const GivenOption& given : m_given) {
        std::string reason;
        const bool idle = std::all_of(configs.begin(), configs.end(), [&](const RunConfig& config) {
            reason = jobs::withoutEffect(config, given.field);
            return !reason.empty();
        });
        if (idle && !configs.empty()) throw UsageError(given.shown, "has no effect: " + reason, "leave it out");
    }
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
