// Checks of files that engine::validate() leaves to the trainer, presets, and the estimate; the fields themselves are
// in config_form_fields.cpp.
#include "models/config_form_model.h"

#include "models/formatting.h"

#include <QFileInfo>

namespace gui {

using engine::RunConfig;

namespace {

constexpr int kStrideVocab = 64;
constexpr int kByteVocab = 256;
constexpr int kGpt2Vocab = 50272;  // the engine rounds up to a multiple of 16

/// Fields that no preset is about: they stay as they are unless it sets them.
bool isUsersOwn(const FormField& field) {
    if (field.option == "unfused") return false;
    if (field.option == "bf16-edge-layers") return true;
    switch (field.group) {
        case FieldGroup::KeptLayers:
        case FieldGroup::Machine:
        case FieldGroup::Guard:
        case FieldGroup::Tensors:
            return true;
        default:
            return false;
    }
}

bool isAboutPrecision(const RunConfig& preset) {
    return preset.train.precision != engine::Precision::Auto;
}

QString fileProblem(const QString& path, const QString& content) {
    if (path.isEmpty()) return {};
    const QFileInfo file(path);
    if (!file.exists()) return QStringLiteral("there is no such file: check the path");
    if (!file.isFile()) return QStringLiteral("this is not a file: pick a file");
    if (!file.isReadable()) return QStringLiteral("the file cannot be read: check its permissions");
    if (file.size() == 0) return QStringLiteral("the file is empty: pick a file with %1 in it").arg(content);
    return {};
}

void appendProblem(std::vector<engine::ConfigIssue>& issues, const char* field, const QString& problem) {
    if (problem.isEmpty()) return;
    const auto colon = problem.indexOf(": ");
    issues.push_back({field, problem.left(colon).toStdString(), problem.mid(colon + 2).toStdString()});
}

bool holds(const RunConfig& config, const RunConfig& preset) {
    RunConfig sized = preset;
    sized.model.vocab = config.model.vocab;
    if (sized.model != config.model || preset.train.batch != config.train.batch) return false;
    if (!isAboutPrecision(preset)) return true;
    return preset.train.precision == config.train.precision && preset.recipe == config.recipe &&
           preset.train.weights == config.train.weights && preset.train.fused == config.train.fused;
}

}  // namespace

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
    return fileProblem(choice.path, QStringLiteral("text"));  // engine::validate() knows the empty path
}

std::vector<engine::ConfigIssue> formIssues(const RunConfig& config) {
    std::vector<engine::ConfigIssue> issues = engine::validate(config);
    appendProblem(issues, "data", dataProblem(parseData(config.train.data)));
    appendProblem(issues, "init", fileProblem(QString::fromStdString(config.train.init), QStringLiteral("weights")));
    return issues;
}

RunConfig withPreset(const RunConfig& held, const std::string& preset) {
    const RunConfig defaults;
    RunConfig config = engine::presetConfig(preset);
    const bool aboutPrecision = isAboutPrecision(config);
    config.train.data = held.train.data;
    config.train.seed = held.train.seed;
    if (config.train.init.empty()) config.train.init = held.train.init;
    for (const FormField& field : formFields()) {
        if (isUsersOwn(field) && field.get(config) == field.get(defaults)) field.set(config, field.get(held));
    }
    if (!aboutPrecision) {
        config.recipe = held.recipe;
        config.train.precision = held.train.precision;
        config.train.weights = held.train.weights;
    }
    return config;
}

std::string presetHeld(const RunConfig& config, const std::string& preferred) {
    std::string found;
    bool isSpecific = false;
    for (const std::string& name : engine::presetNames()) {
        const RunConfig preset = engine::presetConfig(name);
        if (!holds(config, preset)) continue;
        if (name == preferred) return name;
        if (!found.empty() && (isSpecific || !isAboutPrecision(preset))) continue;
        found = name;
        isSpecific = isAboutPrecision(preset);
    }
    return found;
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
