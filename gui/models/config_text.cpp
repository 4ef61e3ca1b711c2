// Stored settings in words; see config_text.h.
#include "models/config_text.h"

#include "engine/config.h"
#include "models/formatting.h"

#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStringList>

#include <algorithm>
#include <exception>
#include <optional>

namespace gui {

namespace {

using engine::RunConfig;

QJsonObject parseJson(const std::string& text) {
    return QJsonDocument::fromJson(QByteArray::fromStdString(text)).object();
}

QString numberText(const QJsonValue& value) {
    return value.isDouble() ? grouped(static_cast<std::int64_t>(value.toDouble())) : missingText();
}

/// `stored` over the defaults: shortened descriptions are fine.
std::string overDefaults(const std::string& defaults, const std::string& stored) {
    QJsonObject all = parseJson(defaults);
    const QJsonObject own = parseJson(stored);
    for (auto it = own.begin(); it != own.end(); ++it) all[it.key()] = it.value();
    return QJsonDocument(all).toJson(QJsonDocument::Compact).toStdString();
}

/// None: a word or a type in it is not ours.
std::optional<RunConfig> storedConfig(const profiling::RunDescription& about) {
    const RunConfig defaults;
    try {
        return engine::runConfigFromJson(overDefaults(engine::toJson(defaults.model), about.modelJson),
                                         overDefaults(engine::toJson(defaults.recipe), about.recipeJson),
                                         overDefaults(engine::toJson(defaults.train), about.trainJson));
    } catch (const std::exception&) {
        return {};
    }
}

QString activationName(engine::Activation activation) {
    switch (activation) {
        case engine::Activation::Gelu:
            return QStringLiteral("GELU");
        case engine::Activation::Relu:
            return QStringLiteral("ReLU");
        case engine::Activation::GeGlu:
            return QStringLiteral("GeGLU");
        case engine::Activation::SwiGlu:
            return QStringLiteral("SwiGLU");
    }
    return {};
}

void appendOptions(QStringList& parts, const engine::Fp8Recipe& recipe) {
    using engine::RecipeKind;
    switch (recipe.kind) {
        case RecipeKind::Delayed:
            parts << QStringLiteral("history %1").arg(grouped(recipe.amaxHistoryLen))
                  << QString(engine::name(recipe.amaxAlgo)) << QStringLiteral("margin %1").arg(recipe.margin);
            return;
        case RecipeKind::MxFp8:
            parts << QStringLiteral("blocks of 32");
            return;
        case RecipeKind::NvFp4:
            parts << (recipe.weightTiles ? QStringLiteral("blocks of 16, 16×16 of weights")
                                         : QStringLiteral("blocks of 16"));
            if (recipe.stochasticRounding) parts << QStringLiteral("stochastic rounding");
            if (recipe.hadamard) parts << QStringLiteral("Hadamard transform");
            return;
        case RecipeKind::Block:
            parts << (recipe.weightTiles ? QStringLiteral("blocks of 128, 128×128 of weights")
                                         : QStringLiteral("blocks of 128"));
            break;
        case RecipeKind::Current:
            break;
    }
    if (engine::usesPowerOfTwoScales(recipe)) parts << QStringLiteral("power-of-two scales");
    if (recipe.amaxEpsilon > 0) parts << QStringLiteral("amax at least %1").arg(recipe.amaxEpsilon);
}

}  // namespace

QString modelText(const profiling::RunDescription& about) {
    const QJsonObject model = parseJson(about.modelJson);
    const QJsonObject train = parseJson(about.trainJson);
    QString batch = numberText(train["batch"]);
    if (train["accumulate"].toInt(1) > 1) batch += QStringLiteral(" × ") + numberText(train["accumulate"]);
    return QStringLiteral("%1 × %2, %3 heads, T\u00a0%4, B\u00a0%5")
        .arg(numberText(model["layers"]), numberText(model["d_model"]), numberText(model["heads"]),
             numberText(model["seq_len"]), batch);
}

QString partsText(const profiling::RunDescription& about) {
    const std::optional<RunConfig> config = storedConfig(about);
    if (!config) return {};
    const engine::ModelConfig& model = config->model;
    QStringList parts{model.norm == engine::Norm::RmsNorm ? QStringLiteral("RMSNorm") : QStringLiteral("LayerNorm"),
                      QStringLiteral("%1 %2").arg(activationName(model.activation), grouped(model.ffnWidth())),
                      model.positions == engine::Positions::Rotary ? QStringLiteral("rotary positions")
                                                                   : QStringLiteral("learned positions")};
    if (model.keyValueHeads() != model.heads) {
        parts << QStringLiteral("%1 key/value heads").arg(model.keyValueHeads());
    }
    if (!model.bias) parts << QStringLiteral("no bias");
    if (model.tiedHead) parts << QStringLiteral("tied head");
    if (!config->train.fused) parts << QStringLiteral("unfused");
    return parts.join(", ");
}

QString recipeText(const profiling::RunDescription& about) {
    if (about.recipeJson.empty()) return {};
    const std::optional<RunConfig> config = storedConfig(about);
    if (!config) return QString::fromStdString(about.recipeJson);
    QStringList parts{QString::fromStdString(engine::precisionLabel(engine::Precision::Fp8, config->recipe))};
    appendOptions(parts, config->recipe);
    return parts.join(", ");
}

QString weightsText(const profiling::RunDescription& about) {
    const std::optional<RunConfig> config = storedConfig(about);
    if (!config) return {};
    QStringList parts;
    if (config->train.weights == engine::WeightStorage::Fp8) parts << QStringLiteral("only as quantised");
    if (config->train.weights == engine::WeightStorage::Fp8KeepInit) {
        parts << QStringLiteral("quantised, FP32 masters from the initial values");
    }
    if (!config->train.init.empty()) {
        parts << QStringLiteral("from %1").arg(QFileInfo(QString::fromStdString(config->train.init)).fileName());
    }
    return parts.join(", ");
}

QString keptText(const profiling::RunDescription& about) {
    const std::optional<RunConfig> config = storedConfig(about);
    if (!config) return {};
    const engine::TrainConfig& train = config->train;
    QStringList parts;
    const bool fp8 = !about.recipeJson.empty();
    if (fp8 && train.bf16EdgeLayers > 0) parts << QStringLiteral("first and last %1 in BF16").arg(train.bf16EdgeLayers);
    if (fp8 && !train.keepBf16.empty())
        parts << QStringLiteral("%1 in BF16").arg(QString::fromStdString(train.keepBf16));
    if (!train.keepFp32.empty()) parts << QStringLiteral("%1 in FP32").arg(QString::fromStdString(train.keepFp32));
    return parts.join(", ");
}

QString guardText(const profiling::RunDescription& about) {
    const std::optional<RunConfig> config = storedConfig(about);
    if (!config) return {};
    const engine::TrainConfig& train = config->train;
    const engine::TrainConfig usual;
    if (train.guard == usual.guard && train.guardLimit == usual.guardLimit) return {};
    QString text = QString(engine::name(train.guard));
    if (train.guard != engine::Guard::Off) {
        text += QStringLiteral(" above %1 %2").arg(train.guardLimit).arg(train.guardLimit == 1 ? "bit" : "bits");
    }
    if (train.guard == engine::Guard::Fallback && train.guardSteps > 0) {
        text += QStringLiteral(", for %1 steps").arg(grouped(train.guardSteps));
    }
    return text;
}

FallbackText fallbackText(const std::vector<profiling::EventRow>& events) {
    constexpr qsizetype kNamed = 2;
    struct Fallback {
        QString name;
        QString precision;
        QString text;
    };
    std::vector<Fallback> active;
    const auto end = [&active](const QString& name) {
        active.erase(std::remove_if(active.begin(), active.end(), [&](const Fallback& f) { return f.name == name; }),
                     active.end());
    };
    for (const profiling::EventRow& event : events) {
        const QString text = QString::fromStdString(event.text);
        if (event.code == "fallback_end") end(text.section(QStringLiteral(" is in "), 0, 0));
        if (event.code != "fallback") continue;
        const QString runsIn = QStringLiteral(" runs in ");
        const QString name = text.section(runsIn, 0, 0);
        const QString precision = text.section(runsIn, 1).section(' ', 0, 0).remove(':');
        end(name);
        active.push_back({name, precision, text});
    }
    QStringList shown;
    QStringList whole;
    for (const Fallback& fallback : active) {
        whole << fallback.text;
        if (shown.size() >= kNamed) continue;
        shown << (fallback.precision.isEmpty() ? fallback.name
                                               : QStringLiteral("%1 → %2").arg(fallback.name, fallback.precision));
    }
    QString text = shown.join(", ");
    if (whole.size() > shown.size()) text += QStringLiteral(" and %1 more").arg(whole.size() - shown.size());
    return {text, whole.join('\n')};
}

}  // namespace gui
