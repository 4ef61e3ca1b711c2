// Label and value pairs of one run, read from the JSON that was stored with it.
#include "models/run_details.h"

#include "models/config_text.h"
#include "models/formatting.h"

#include <QFileInfo>

#include <cmath>

namespace gui {

namespace {

QString dataText(const std::string& data) {
    const QString text = QString::fromStdString(data);
    const auto colon = text.indexOf(':');
    return colon < 0 ? text : text.left(colon) + QStringLiteral(": ") + QFileInfo(text.mid(colon + 1)).fileName();
}

QString statusLine(const profiling::RunRow& run) {
    QString status = QString::fromUtf8(profiling::name(run.status));
    if (run.lastStep < 0) return status;
    return QStringLiteral("%1, %2 of %3 steps")
        .arg(status, grouped(run.lastStep + 1),
             run.description.stepsPlanned > 0 ? grouped(run.description.stepsPlanned) : missingText());
}

}  // namespace

std::vector<Detail> runDetails(const profiling::RunRow& run, const profiling::RunRow* baseline,
                               const FallbackText& fallbacks) {
    const profiling::RunDescription& about = run.description;
    std::vector<Detail> details;
    const auto add = [&details](const char* label, const QString& value, const QString& toolTip = {}) {
        if (!value.isEmpty()) details.push_back({QString::fromUtf8(label), value, toolTip.isEmpty() ? value : toolTip});
    };
    add("run", QStringLiteral("%1 · %2").arg(run.id.value).arg(QString::fromStdString(run.name)));
    add("status", statusLine(run));
    add("model", modelText(about), QString::fromStdString(about.modelJson));
    add("parts", partsText(about));
    add("recipe", recipeText(about), QString::fromStdString(about.recipeJson));
    add("weights", weightsText(about));
    add("kept out", keptText(about));
    add("asked / used", QStringLiteral("%1 / %2%3")
                            .arg(QString::fromStdString(about.precisionAsked), QString::fromStdString(about.precision),
                                 about.emulated ? QStringLiteral(" (emulated)") : QString()));
    add("because", QString::fromStdString(about.precisionReason));
    add("fallbacks", fallbacks.text, fallbacks.whole);
    add("guard", guardText(about));
    add("device", QString::fromStdString(about.deviceName.empty() ? about.device : about.deviceName),
        QString::fromStdString(about.deviceName + "\n" + about.kernels));
    add("data", dataText(about.data), QString::fromStdString(about.data));
    add("size",
        QStringLiteral("%1 parameters, %2")
            .arg(siNumber(static_cast<double>(about.parameters)), bytes(static_cast<double>(about.memoryBytes))));
    if (run.tokensPerSecond > 0) {
        QString text = siNumber(run.tokensPerSecond) + QStringLiteral(" tokens/s");
        if (baseline != nullptr && baseline->id != run.id && baseline->tokensPerSecond > 0) {
            text += QStringLiteral("  %1 vs ★").arg(difference(run.tokensPerSecond, baseline->tokensPerSecond));
        }
        add("throughput", text, fullNumber(run.tokensPerSecond) + QStringLiteral(" tokens/s"));
    }
    if (run.lastStep >= 0) add("training loss", significant(run.lastLoss, 4), fullNumber(run.lastLoss));
    if (run.valLoss) {
        QString text = significant(*run.valLoss, 4);
        if (baseline != nullptr && baseline->id != run.id && baseline->valLoss) {
            text += QStringLiteral("  %1 vs ★").arg(difference(*run.valLoss, *baseline->valLoss));
        }
        add("validation loss", text, fullNumber(*run.valLoss));
    }
    if (run.startedAtNs > 0) add("started", dateTime(run.startedAtNs));
    add("bench", QString::fromStdString(run.benchName));
    add("seed", QString::number(about.seed));
    add("program", QString::fromStdString(run.programVersion));
    return details;
}

QString detailsText(const std::vector<Detail>& details) {
    QString text;
    for (const Detail& detail : details) text += detail.label + QStringLiteral(": ") + detail.toolTip + '\n';
    return text;
}

}  // namespace gui
