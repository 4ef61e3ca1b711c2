// Every field of the form, group by group; see config_form_model.h. A new setting of the engine is one line here.
#include "models/config_form_model.h"
#include "models/formatting.h"

#include <algorithm>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace gui {

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

template <typename Part>
const Part& partOf(const RunConfig& config) {
    return partOf<Part>(const_cast<RunConfig&>(config));
}

using Help = std::pair<const char*, const char*>;  // a choice's word and what it means

/// Adds the fields of one group.
class Group {
public:
    Group(std::vector<FormField>& fields, FieldGroup group) : m_fields(fields), m_group(group) {}

    template <typename Part>
    FormField& integer(const char* option, const char* label, int Part::*member, double minimum, double maximum,
                       const char* help) {
        FormField& field = add(option, label, FieldKind::Integer, help);
        field.minimum = minimum;
        field.maximum = maximum;
        field.get = [member](const RunConfig& c) { return QVariant(partOf<Part>(c).*member); };
        field.set = [member](RunConfig& c, const QVariant& value) { partOf<Part>(c).*member = value.toInt(); };
        return field;
    }

    template <typename Part>
    FormField& real(const char* option, const char* label, double Part::*member, const char* help) {
        FormField& field = add(option, label, FieldKind::Real, help);
        field.get = [member](const RunConfig& c) { return QVariant(partOf<Part>(c).*member); };
        field.set = [member](RunConfig& c, const QVariant& value) { partOf<Part>(c).*member = value.toDouble(); };
        return field;
    }

    template <typename Part, typename Enum>
    FormField& choice(const char* option, const char* label, Enum Part::*member, const char* help,
                      std::initializer_list<Help> helps) {
        FormField& field = add(option, label, FieldKind::Choice, help);
        for (const std::string& word : engine::choices<Enum>()) {
            const auto known = std::find_if(helps.begin(), helps.end(), [&](const Help& h) { return h.first == word; });
            field.choices.push_back(
                {QString::fromStdString(word), known == helps.end() ? QString() : QString::fromUtf8(known->second)});
        }
        field.get = [member](const RunConfig& c) { return QVariant(QString(engine::name(partOf<Part>(c).*member))); };
        field.set = [member](RunConfig& c, const QVariant& value) {
            partOf<Part>(c).*member = engine::parse<Enum>(value.toString().toStdString());
        };
        return field;
    }

    /// `on` is the member's value while the box is checked.
    template <typename Part>
    FormField& flag(const char* option, const char* commandLine, const char* label, bool Part::*member, bool on,
                    const char* help) {
        FormField& field = add(option, label, FieldKind::Flag, help);
        field.commandLine = QString::fromUtf8(commandLine);
        field.get = [member, on](const RunConfig& c) { return QVariant(partOf<Part>(c).*member == on); };
        field.set = [member, on](RunConfig& c, const QVariant& value) {
            partOf<Part>(c).*member = value.toBool() == on;
        };
        return field;
    }

    FormField& text(const char* option, const char* label, std::string TrainConfig::*member, const char* help,
                    FieldKind kind = FieldKind::Text) {
        FormField& field = add(option, label, kind, help);
        field.get = [member](const RunConfig& c) { return QVariant(QString::fromStdString(c.train.*member)); };
        field.set = [member](RunConfig& c, const QVariant& value) {
            c.train.*member = value.toString().trimmed().toStdString();
        };
        return field;
    }

    FormField& add(const char* option, const char* label, FieldKind kind, const char* help) {
        FormField field;
        field.option = field.commandLine = QString::fromUtf8(option);
        field.label = QString::fromUtf8(label);
        field.help = QString::fromUtf8(help);
        field.group = m_group;
        field.kind = kind;
        m_fields.push_back(std::move(field));
        return m_fields.back();
    }

private:
    std::vector<FormField>& m_fields;
    FieldGroup m_group;
};

std::function<QString(const RunConfig&)> always(const char* text) {
    return [text = QString::fromUtf8(text)](const RunConfig&) { return text; };
}

void appendSize(Group group) {
    group.integer("layers", "Layers", &ModelConfig::layers, 1, 256, "Transformer blocks.");
    group.integer("d-model", "Width (d-model)", &ModelConfig::dModel, 8, 16384, "Must be divisible by the heads.");
    group.integer("heads", "Heads", &ModelConfig::heads, 1, 256, "Attention heads.");
    group.integer("seq-len", "Sequence length", &ModelConfig::seqLen, 2, 16384, "Tokens per sequence.");
}

void appendSchedule(Group group) {
    group.integer("steps", "Steps", &TrainConfig::steps, 1, 1e9, "Training steps.");
    group.integer("batch", "Batch", &TrainConfig::batch, 1, 65536, "Sequences per micro-batch.");
    group.real("lr", "Learning rate", &TrainConfig::lr, "Peak; warm-up, then cosine to a tenth of it.");
    FormField& seed = group.add("seed", "Seed", FieldKind::Unsigned64,
                                "Same seed and threads: same bytes. 0 to 18446744073709551615.");
    seed.get = [](const RunConfig& c) { return QVariant(static_cast<qulonglong>(c.train.seed)); };
    seed.set = [](RunConfig& c, const QVariant& value) { c.train.seed = value.toULongLong(); };
}

void appendPrecision(Group group) {
    group
        .choice("precision", "Precision", &TrainConfig::precision, "What the matrix products compute in.",
                {{"auto", "the best this device computes in hardware"},
                 {"fp32", "32-bit floats"},
                 {"bf16", "16-bit floats with the range of FP32"},
                 {"fp8", "8-bit floats, or 4-bit with nvfp4; on a CPU exact emulation"}})
        .automatic = always("auto: best in hardware");
    FormField& recipe =
        group.choice("recipe", "Recipe", &Fp8Recipe::kind, "How scales are found and how many elements share one.",
                     {{"delayed", "One scale per tensor, from the amax of earlier steps."},
                      {"current", "One scale per tensor, from the tensor itself."},
                      {"block", "FP32 scales: one per 1×128 elements, 128×128 of a weight."},
                      {"mxfp8", "One power-of-two scale (E8M0) per 32 elements."},
                      {"nvfp4", "4-bit elements (E2M1); an E4M3 scale per 16 of them, an FP32 scale per tensor."}});
    recipe.explained = true;
    FormField& format = group.choice(
        "format", "Format", &Fp8Recipe::format, "Element format of forward and backward operands.",
        {{"auto", "the recipe's own"}, {"hybrid", "E4M3 forward, E5M2 for gradients"}, {"e4m3", "E4M3 everywhere"}});
    format.ownToRecipe = true;
    format.automatic = [](const RunConfig& c) {
        return QStringLiteral("auto: %1").arg(QString(engine::name(engine::effectiveFormat(c.recipe))));
    };
}

void appendRecipeOptions(Group group, std::vector<FormField>& fields) {
    const std::size_t first = fields.size();
    group.integer("amax-history-len", "Amax history", &Fp8Recipe::amaxHistoryLen, 1, 65536,
                  "Steps whose amax decides the next scale.");
    group.choice("amax-algo", "Amax algorithm", &Fp8Recipe::amaxAlgo, "Which amax of the history decides.",
                 {{"max", "the largest of the history"}, {"most_recent", "the last step's only"}});
    group.integer("margin", "Margin", &Fp8Recipe::margin, 0, 32, "The scale is divided by 2^margin.");
    group
        .choice("power-of-two-scales", "Power-of-two scales", &Fp8Recipe::powerOfTwoScales,
                "Rounds every scale down to a power of two.",
                {{"auto", "the recipe's own"}, {"on", "powers of two"}, {"off", "any FP32 number"}})
        .automatic = [](const RunConfig& c) {
        Fp8Recipe own = c.recipe;
        own.powerOfTwoScales = engine::Switch::Auto;
        return QStringLiteral("auto: %1").arg(engine::usesPowerOfTwoScales(own) ? "on" : "off");
    };
    group.real("amax-epsilon", "Amax epsilon", &Fp8Recipe::amaxEpsilon, "Smallest amax that a scale is made from.");
    group.flag("weight-tiles", "no-weight-tiles", "Square blocks for weights", &Fp8Recipe::weightTiles, true,
               "A weight's blocks are squares, 128×128 (block) or 16×16 (nvfp4), not rows.");
    group.flag("stochastic-rounding", "no-stochastic-rounding", "Stochastic rounding of gradients",
               &Fp8Recipe::stochasticRounding, true, "grad_output is rounded up or down by chance, not to nearest.");
    group.flag("hadamard", "no-hadamard", "Hadamard transform for wgrad", &Fp8Recipe::hadamard, true,
               "16-point transform of the operands of wgrad, which spreads outliers.");
    for (std::size_t i = first; i < fields.size(); ++i) fields[i].ownToRecipe = true;
}

void appendEdges(Group group) {
    FormField& edges = group.add("bf16-edge-layers", "First and last layers in BF16", FieldKind::OptionalCount,
                                 "This many first and as many last Transformer layers stay out of FP8.");
    edges.minimum = 1;
    edges.maximum = 256;
    edges.get = [](const RunConfig& c) { return QVariant(c.train.bf16EdgeLayers); };
    edges.set = [](RunConfig& c, const QVariant& value) { c.train.bf16EdgeLayers = value.toInt(); };
}

void appendShape(Group group) {
    group
        .integer("kv-heads", "Key/value heads", &ModelConfig::kvHeads, 0, 256,
                 "Of grouped-query attention; must divide the heads.")
        .automatic = [](const RunConfig& c) { return QStringLiteral("auto: %1, as heads").arg(c.model.heads); };
    group.integer("ffn", "MLP width", &ModelConfig::ffn, 0, 1 << 18, "Width between the two Linear layers of the MLP.")
        .automatic = [](const RunConfig& c) { return QStringLiteral("auto: %1, 4 × width").arg(4 * c.model.dModel); };
    group.integer("vocab", "Vocabulary", &ModelConfig::vocab, 0, 1 << 24, "Token values.").automatic =
        always("auto: from the data");
}

void appendParts(Group group) {
    group.choice("norm", "Normalisation", &ModelConfig::norm, "Before attention and MLP.",
                 {{"layernorm", "LayerNorm"}, {"rmsnorm", "RMSNorm: no mean, no shift"}});
    group.real("norm-epsilon", "Norm epsilon", &ModelConfig::normEpsilon, "Added to the variance.");
    group.choice("activation", "Activation", &ModelConfig::activation, "Of the MLP.",
                 {{"gelu", "GELU"},
                  {"relu", "ReLU"},
                  {"geglu", "GeGLU: gated, reads twice as many inputs"},
                  {"swiglu", "SwiGLU: gated, reads twice as many inputs"}});
    group.choice("positions", "Positions", &ModelConfig::positions, "How the model knows where a token stands.",
                 {{"learned", "an embedding of their own"}, {"rotary", "queries and keys are turned (RoPE)"}});
    group.real("rope-theta", "RoPE base", &ModelConfig::ropeTheta, "Base of the rotary angles.");
    group.flag("bias", "no-bias", "Bias in Linear and LayerNorm", &ModelConfig::bias, true,
               "Without it there are only weights.");
    group.flag("tied-head", "tied-head", "Head tied to the embedding", &ModelConfig::tiedHead, true,
               "lm_head shares the token embedding's weight.");
}

void appendKeptLayers(Group group) {
    group
        .text("keep-bf16", "Keep in BF16", &TrainConfig::keepBf16,
              "Layer names with * and ?, separated by commas: layer.0.*,lm_head")
        .placeholder = QStringLiteral("layer.0.*,lm_head");
    group
        .text("keep-fp32", "Keep in FP32", &TrainConfig::keepFp32,
              "Layer names with * and ?, separated by commas; wins over BF16.")
        .placeholder = QStringLiteral("*.mlp.fc2");
}

void appendWeights(Group group) {
    group
        .choice("weights", "Weights of FP8 layers", &TrainConfig::weights, "Where they live.",
                {{"fp32", "FP32 in the model, cast before use."},
                 {"fp8", "Only as quantised, in the optimizer too: every update is rounded back."},
                 {"fp8_keep_init", "Quantised; the optimizer's FP32 masters start from the values before that."}})
        .explained = true;
    group
        .text("init", "Start from", &TrainConfig::init,
              "A .safetensors file with weights of this shape, in GPT-2's or LLaMA's names.", FieldKind::File)
        .placeholder = QStringLiteral("random weights");
}

void appendOptimizer(Group group) {
    group.integer("accumulate", "Micro-batches per step", &TrainConfig::accumulate, 1, 4096,
                  "Their gradients add up; weights are cast once per step.");
    group.integer("warmup-steps", "Warm-up steps", &TrainConfig::warmupSteps, 0, 1e9, "Linear warm-up.");
    group.real("weight-decay", "Weight decay", &TrainConfig::weightDecay, "Decoupled, on matrices only.");
    group.real("beta1", "Adam β₁", &TrainConfig::beta1, "Decay of the first moment.");
    group.real("beta2", "Adam β₂", &TrainConfig::beta2, "Decay of the second moment.");
    group.real("grad-clip", "Gradient clip", &TrainConfig::gradClip, "Global norm; 0 switches clipping off.");
}

void appendMachine(Group group) {
    group.text("device", "Device", &TrainConfig::device, "auto, cpu, or cuda:N.");
    group.integer("threads", "Threads", &TrainConfig::threads, 0, 1024, "CPU threads.").automatic =
        always("auto: one per core");
    group.flag("unfused", "unfused", "Unfused kernels", &TrainConfig::fused, false,
               "Every operation in a pass of its own: slower, for comparison.");
}

void appendGuard(Group group) {
    group
        .choice("guard", "Guard", &TrainConfig::guard,
                "What happens when a tensor saturates, or a loss or gradient is not finite.",
                {{"off", "Nothing is checked."},
                 {"warn", "Records an event; a step with a loss or gradient that is not finite is skipped."},
                 {"skip", "As warn, and a step with a tensor that saturates is skipped too."},
                 {"fallback", "As warn, and a tensor that keeps saturating or is not finite goes to BF16."},
                 {"stop", "The run ends with an error."}})
        .explained = true;
    group.real("guard-limit", "Limit (bits)", &TrainConfig::guardLimit,
               "Bits by which amax × scale may exceed the format's largest value; 0 to 32.");
    group
        .integer("guard-steps", "Steps in BF16", &TrainConfig::guardSteps, 0, 1e9,
                 "After that a tensor that fell back is quantised again.")
        .automatic = always("the rest of the run");
}

void appendValidation(Group group) {
    group.integer("validate-every", "Validate every", &TrainConfig::validateEvery, 0, 1e9, "Steps between validations.")
        .automatic = always("at the end only");
}

void appendTensors(Group group) {
    group
        .integer("snapshot-every", "Snapshot every", &TrainConfig::snapshotEvery, 0, 1e9,
                 "Steps between snapshots: amax, scale, saturation, underflow, SQNR of each tensor.")
        .automatic = always("never");
    group.integer("snapshot-from", "From step", &TrainConfig::snapshotFrom, 0, 1e9, "First step with a snapshot.");
    group.integer("snapshot-to", "To step", &TrainConfig::snapshotTo, -1, 1e9, "Last step with a snapshot.").automatic =
        always("no end");
    group
        .integer("exponents-every", "Exponents every", &TrainConfig::exponentsEvery, 0, 1e9,
                 "Steps between exponent histograms of each tensor; taken at steps with a snapshot.")
        .automatic = always("never");
    FormField& observe = group.text("observe", "Tensors", &TrainConfig::observe,
                                    "Which tensors of each GEMM are watched.", FieldKind::Set);
    observe.choices = {{"input", "Operand of the forward product."},
                       {"weight", "Operand of the forward product."},
                       {"grad_output", "Operand of both backward products."},
                       {"output", "Result of the forward product, not cast: no scale."},
                       {"dgrad", "Gradient of the input, not cast: no scale."},
                       {"wgrad", "Gradient of the weight, not cast: no scale."}};
}

}  // namespace

QString title(FormPage page) {
    switch (page) {
        case FormPage::Main:
            return QStringLiteral("Main");
        case FormPage::Model:
            return QStringLiteral("Model");
        case FormPage::Layers:
            return QStringLiteral("Layers and weights");
        case FormPage::Training:
            return QStringLiteral("Training");
        case FormPage::Observation:
            return QStringLiteral("Guard and observation");
    }
    return {};
}

const std::vector<FormSection>& formSections() {
    static const std::vector<FormSection> sections = {
        {FieldGroup::Size, QStringLiteral("Model"), FormPage::Main, 0},
        {FieldGroup::Schedule, QStringLiteral("Training"), FormPage::Main, 0},
        {FieldGroup::Recipe, QStringLiteral("Precision and recipe"), FormPage::Main, 1},
        {FieldGroup::Shape, QStringLiteral("Shape"), FormPage::Model, 0},
        {FieldGroup::Parts, QStringLiteral("Parts"), FormPage::Model, 1},
        {FieldGroup::KeptLayers, QStringLiteral("Layers kept out of FP8"), FormPage::Layers, 0},
        {FieldGroup::Weights, QStringLiteral("Weights"), FormPage::Layers, 1},
        {FieldGroup::Optimizer, QStringLiteral("Optimizer"), FormPage::Training, 0},
        {FieldGroup::Validation, QStringLiteral("Validation"), FormPage::Training, 1},
        {FieldGroup::Machine, QStringLiteral("Machine"), FormPage::Training, 1},
        {FieldGroup::Guard, QStringLiteral("Guard"), FormPage::Observation, 0},
        {FieldGroup::Tensors, QStringLiteral("Tensors"), FormPage::Observation, 1},
    };
    return sections;
}

FormPage pageOf(FieldGroup group) {
    const auto& sections = formSections();
    return std::find_if(sections.begin(), sections.end(), [group](const FormSection& s) { return s.group == group; })
        ->page;
}

const std::vector<FormField>& formFields() {
    static const std::vector<FormField> fields = [] {
        std::vector<FormField> list;
        appendSize({list, FieldGroup::Size});
        appendSchedule({list, FieldGroup::Schedule});
        appendPrecision({list, FieldGroup::Recipe});
        appendRecipeOptions({list, FieldGroup::Recipe}, list);
        appendEdges({list, FieldGroup::Recipe});
        appendShape({list, FieldGroup::Shape});
        appendParts({list, FieldGroup::Parts});
        appendKeptLayers({list, FieldGroup::KeptLayers});
        appendWeights({list, FieldGroup::Weights});
        appendOptimizer({list, FieldGroup::Optimizer});
        appendMachine({list, FieldGroup::Machine});
        appendGuard({list, FieldGroup::Guard});
        appendValidation({list, FieldGroup::Validation});
        appendTensors({list, FieldGroup::Tensors});
        return list;
    }();
    return fields;
}

const FormField* findField(const QString& option) {
    const auto& fields = formFields();
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const FormField& field) { return field.option == option; });
    return found == fields.end() ? nullptr : &*found;
}

}  // namespace gui
