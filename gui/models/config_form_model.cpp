// The list of form fields, and checks of the data file that engine::validate() leaves to the trainer.
#include "models/config_form_model.h"

#include "models/formatting.h"

#include <QFileInfo>

#include <utility>

namespace gui {

using engine::RunConfig;

namespace {

constexpr int kStrideVocab = 64;
constexpr int kByteVocab = 256;
constexpr int kGpt2Vocab = 50272;  // the engine rounds up to a multiple of 16

FormField integer(const char* option, const char* label, FieldGroup group, double minimum, double maximum,
                  std::function<int&(RunConfig&)> member, const char* help, const char* zeroText = "") {
    FormField field;
    field.option = QString::fromUtf8(option);
    field.label = QString::fromUtf8(label);
    field.help = QString::fromUtf8(help);
    field.zeroText = QString::fromUtf8(zeroText);
    field.group = group;
    field.kind = FieldKind::Integer;
    field.minimum = minimum;
    field.maximum = maximum;
    field.get = [member](const RunConfig& config) {
        RunConfig copy = config;
        return QVariant(member(copy));
    };
    field.set = [member](RunConfig& config, const QVariant& value) { member(config) = value.toInt(); };
    return field;
}

FormField real(const char* option, const char* label, double minimum, double maximum,
               double engine::TrainConfig::*member, const char* help) {
    FormField field;
    field.option = QString::fromUtf8(option);
    field.label = QString::fromUtf8(label);
    field.help = QString::fromUtf8(help);
    field.group = FieldGroup::Training;
    field.kind = FieldKind::Real;
    field.minimum = minimum;
    field.maximum = maximum;
    field.get = [member](const RunConfig& config) { return QVariant(config.train.*member); };
    field.set = [member](RunConfig& config, const QVariant& value) { config.train.*member = value.toDouble(); };
    return field;
}

FormField choice(const char* option, const char* label, FieldGroup group, QStringList choices,
                 const std::function<const char*(const RunConfig&)>& get,
                 const std::function<void(RunConfig&, const std::string&)>& set, const char* help) {
    FormField field;
    field.option = QString::fromUtf8(option);
    field.label = QString::fromUtf8(label);
    field.help = QString::fromUtf8(help);
    field.group = group;
    field.kind = FieldKind::Choice;
    field.choices = std::move(choices);
    field.get = [get](const RunConfig& config) { return QVariant(QString::fromUtf8(get(config))); };
    field.set = [set](RunConfig& config, const QVariant& value) { set(config, value.toString().toStdString()); };
    return field;
}

void appendModelFields(std::vector<FormField>& fields) {
    const auto group = FieldGroup::Model;
    fields.push_back(integer(
        "layers", "Layers", group, 1, 256, [](RunConfig& c) -> int& { return c.model.layers; }, "Transformer blocks."));
    fields.push_back(integer(
        "d-model", "Width (d-model)", group, 8, 16384, [](RunConfig& c) -> int& { return c.model.dModel; },
        "Must be divisible by the heads."));
    fields.push_back(integer(
        "heads", "Heads", group, 1, 256, [](RunConfig& c) -> int& { return c.model.heads; }, "Attention heads."));
    fields.push_back(integer(
        "seq-len", "Sequence length", group, 2, 16384, [](RunConfig& c) -> int& { return c.model.seqLen; },
        "Tokens per sequence."));
    fields.push_back(integer(
        "vocab", "Vocabulary", group, 0, 1 << 24, [](RunConfig& c) -> int& { return c.model.vocab; }, "Token values.",
        "from the data"));
}

void appendPrecisionFields(std::vector<FormField>& fields) {
    const auto group = FieldGroup::Precision;
    fields.push_back(choice(
        "precision", "Precision", group, {"auto", "fp32", "bf16", "fp8"},
        [](const RunConfig& c) { return engine::name(c.train.precision); },
        [](RunConfig& c, const std::string& text) { c.train.precision = engine::parse<engine::Precision>(text); },
        "auto: the best this device computes in hardware. On a CPU, fp8 is exact emulation."));
    fields.push_back(choice(
        "format", "FP8 format", group, {"hybrid", "e4m3"},
        [](const RunConfig& c) { return engine::name(c.recipe.format); },
        [](RunConfig& c, const std::string& text) { c.recipe.format = engine::parse<engine::RecipeFormat>(text); },
        "hybrid: E4M3 forward, E5M2 for gradients. e4m3: everywhere."));
    fields.back().fp8Only = true;
    fields.push_back(integer(
        "amax-history-len", "Amax history", group, 1, 65536,
        [](RunConfig& c) -> int& { return c.recipe.amaxHistoryLen; }, "Steps whose amax decides the next scale."));
    fields.back().fp8Only = true;
    fields.push_back(choice(
        "amax-algo", "Amax algorithm", group, {"max", "most_recent"},
        [](const RunConfig& c) { return engine::name(c.recipe.amaxAlgo); },
        [](RunConfig& c, const std::string& text) { c.recipe.amaxAlgo = engine::parse<engine::AmaxAlgo>(text); },
        "max: of the history. most_recent: the last step only."));
    fields.back().fp8Only = true;
    fields.push_back(integer(
        "margin", "Margin", group, 0, 32, [](RunConfig& c) -> int& { return c.recipe.margin; },
        "The scale is divided by 2^margin."));
    fields.back().fp8Only = true;
    FormField keep;
    keep.option = "keep-bf16";
    keep.label = "Keep in BF16";
    keep.help = "Layer names with * and ?, separated by commas: layer.0.*,lm_head";
    keep.group = group;
    keep.kind = FieldKind::Text;
    keep.fp8Only = true;
    keep.get = [](const RunConfig& c) { return QVariant(QString::fromStdString(c.train.keepBf16)); };
    keep.set = [](RunConfig& c, const QVariant& value) { c.train.keepBf16 = value.toString().trimmed().toStdString(); };
    fields.push_back(keep);
    fields.push_back(choice(
        "guard", "Guard", group, {"off", "warn", "fallback", "stop"},
        [](const RunConfig& c) { return engine::name(c.train.guard); },
        [](RunConfig& c, const std::string& text) { c.train.guard = engine::parse<engine::Guard>(text); },
        "What happens when a tensor saturates, or a loss or gradient is not finite."));
}

void appendTrainingFields(std::vector<FormField>& fields) {
    const auto group = FieldGroup::Training;
    fields.push_back(integer(
        "batch", "Batch", group, 1, 65536, [](RunConfig& c) -> int& { return c.train.batch; }, "Sequences per step."));
    fields.push_back(integer(
        "steps", "Steps", group, 1, 1e9, [](RunConfig& c) -> int& { return c.train.steps; }, "Training steps."));
    fields.push_back(
        real("lr", "Learning rate", 0, 100, &engine::TrainConfig::lr, "Peak; warm-up, then cosine to a tenth of it."));
    fields.push_back(integer(
        "warmup-steps", "Warm-up steps", group, 0, 1e9, [](RunConfig& c) -> int& { return c.train.warmupSteps; },
        "Linear warm-up."));
    fields.push_back(
        real("weight-decay", "Weight decay", 0, 10, &engine::TrainConfig::weightDecay, "Decoupled, on matrices only."));
    fields.push_back(real("beta1", "Adam β₁", 0, 1, &engine::TrainConfig::beta1, "Decay of the first moment."));
    fields.push_back(real("beta2", "Adam β₂", 0, 1, &engine::TrainConfig::beta2, "Decay of the second moment."));
    fields.push_back(real("grad-clip", "Gradient clip", 0, 1e6, &engine::TrainConfig::gradClip,
                          "Global norm; 0 switches clipping off."));
    FormField seed;
    seed.option = "seed";
    seed.label = "Seed";
    seed.help = "Same seed and threads: same bytes. 0 to 18446744073709551615.";
    seed.group = group;
    seed.kind = FieldKind::Unsigned64;
    seed.get = [](const RunConfig& c) { return QVariant(static_cast<qulonglong>(c.train.seed)); };
    seed.set = [](RunConfig& c, const QVariant& value) { c.train.seed = value.toULongLong(); };
    fields.push_back(seed);
}

void appendMachineFields(std::vector<FormField>& fields) {
    const auto group = FieldGroup::Machine;
    FormField device;
    device.option = "device";
    device.label = "Device";
    device.help = "auto, cpu, or cuda:N.";
    device.group = group;
    device.kind = FieldKind::Text;
    device.get = [](const RunConfig& c) { return QVariant(QString::fromStdString(c.train.device)); };
    device.set = [](RunConfig& c, const QVariant& value) { c.train.device = value.toString().trimmed().toStdString(); };
    fields.push_back(device);
    fields.push_back(integer(
        "threads", "Threads", group, 0, 1024, [](RunConfig& c) -> int& { return c.train.threads; }, "CPU threads.",
        "one per core"));
    FormField fused;
    fused.option = "unfused";
    fused.label = "Unfused kernels";
    fused.help = "Every operation in a pass of its own: slower, for comparison.";
    fused.group = group;
    fused.kind = FieldKind::Flag;
    fused.get = [](const RunConfig& c) { return QVariant(!c.train.fused); };
    fused.set = [](RunConfig& c, const QVariant& value) { c.train.fused = !value.toBool(); };
    fields.push_back(fused);
    fields.push_back(integer(
        "snapshot-every", "Snapshot every", group, 0, 1e9, [](RunConfig& c) -> int& { return c.train.snapshotEvery; },
        "Steps between tensor snapshots.", "never"));
    fields.push_back(integer(
        "validate-every", "Validate every", group, 0, 1e9, [](RunConfig& c) -> int& { return c.train.validateEvery; },
        "Steps between validations.", "at the end only"));
}

}  // namespace

QString title(FieldGroup group) {
    switch (group) {
        case FieldGroup::Model:
            return QStringLiteral("Model");
        case FieldGroup::Precision:
            return QStringLiteral("Precision");
        case FieldGroup::Training:
            return QStringLiteral("Training");
        case FieldGroup::Machine:
            return QStringLiteral("Machine and recording");
    }
    return {};
}

const std::vector<FormField>& formFields() {
    static const std::vector<FormField> fields = [] {
        std::vector<FormField> list;
        appendModelFields(list);
        appendPrecisionFields(list);
        appendTrainingFields(list);
        appendMachineFields(list);
        return list;
    }();
    return fields;
}

DataChoice parseData(const std::string& data) {
    const QString text = QString::fromStdString(data);
    for (const char* kind : {"text", "tokens"}) {
        const QString prefix = QString::fromUtf8(kind) + ':';
        if (text.startsWith(prefix)) return {QString::fromUtf8(kind), text.mid(prefix.size())};
    }
    return {QStringLiteral("stride"), {}};
}

std::string joinData(const DataChoice& choice) {
    return choice.kind == "stride" ? std::string("stride") : (choice.kind + ':' + choice.path).toStdString();
}

QString dataProblem(const DataChoice& choice) {
    if (choice.kind == "stride") return {};
    if (choice.path.isEmpty()) return {};  // engine::validate() says so
    const QFileInfo file(choice.path);
    if (!file.exists()) return QStringLiteral("there is no such file: check the path");
    if (!file.isFile()) return QStringLiteral("this is not a file: pick a file");
    if (!file.isReadable()) return QStringLiteral("the file cannot be read: check its permissions");
    if (file.size() == 0) return QStringLiteral("the file is empty: pick a file with text in it");
    return {};
}

std::vector<engine::ConfigIssue> formIssues(const RunConfig& config) {
    std::vector<engine::ConfigIssue> issues = engine::validate(config);
    const QString problem = dataProblem(parseData(config.train.data));
    if (!problem.isEmpty()) {
        const auto colon = problem.indexOf(": ");
        issues.push_back({"data", problem.left(colon).toStdString(), problem.mid(colon + 2).toStdString()});
    }
    return issues;
}

EstimateText estimateText(const RunConfig& config) {
    RunConfig sized = config;
    EstimateText result;
    if (sized.model.vocab == 0) {
        const QString kind = parseData(config.train.data).kind;
        sized.model.vocab = kind == "tokens" ? kGpt2Vocab : kind == "text" ? kByteVocab : kStrideVocab;
        result.assumed = QStringLiteral("with a vocabulary of %1").arg(grouped(sized.model.vocab));
    }
    const engine::RunEstimate size = engine::estimate(sized);
    result.text = QStringLiteral("%1 parameters · %2 memory · %3FLOP per step · %4 tokens per step")
                      .arg(siNumber(static_cast<double>(size.parameters)), bytes(static_cast<double>(size.memoryBytes)),
                           siNumber(size.flopsPerStep), grouped(size.tokensPerStep));
    return result;
}

}  // namespace gui
