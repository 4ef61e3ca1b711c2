// Parses and evaluates the search text of the runs list.
#include "models/run_filter.h"

#include <QRegularExpression>

#include <cmath>
#include <optional>

namespace gui {

namespace {

const QStringList kTextKeys = {"name", "precision", "status", "bench", "data", "device"};
const QStringList kNumberKeys = {"id", "loss", "val", "tok", "steps", "seed"};

QString textOf(const profiling::RunRow& run, const QString& key) {
    const auto& about = run.description;
    if (key == "name") return QString::fromStdString(run.name);
    if (key == "precision")
        return QString::fromStdString(about.precision + " " + about.precisionAsked + " " + about.recipeJson);
    if (key == "status") return QString::fromUtf8(profiling::name(run.status));
    if (key == "bench") return QString::fromStdString(run.benchName);
    if (key == "data") return QString::fromStdString(about.data);
    if (key == "device") return QString::fromStdString(about.device + " " + about.deviceName);
    return QString::fromStdString(run.name + " " + about.precision + " " + run.benchName + " " + about.data);
}

/// NaN where the run has no such number: every comparison is then false.
double numberOf(const profiling::RunRow& run, const QString& key) {
    if (key == "id") return static_cast<double>(run.id.value);
    if (key == "loss") return run.lastLoss;
    if (key == "val") return run.valLoss.value_or(std::nan(""));
    if (key == "tok") return run.tokensPerSecond;
    if (key == "steps") return static_cast<double>(run.stepsDone);
    return static_cast<double>(run.description.seed);
}

/// "20k" is 20000.
std::optional<double> parseNumber(QString text) {
    double factor = 1;
    if (text.endsWith('k', Qt::CaseInsensitive)) factor = 1e3;
    if (text.endsWith('M')) factor = 1e6;
    if (factor > 1) text.chop(1);
    bool ok = false;
    const double value = text.toDouble(&ok);
    return ok ? std::optional(value * factor) : std::nullopt;
}

}  // namespace

QString RunFilter::help() {
    return QStringLiteral(
               "Words look in name, precision, bench and data. Text keys: %1 (precision:fp8). Numbers: %2 (loss<2, "
               "tok>=20k).")
        .arg(kTextKeys.join(", "), kNumberKeys.join(", "));
}

RunFilter RunFilter::parse(const QString& text) {
    static const QRegularExpression conditionForm("^([a-zA-Z_]+)(:|<=|>=|<|>|=)(.*)$");
    RunFilter filter;
    for (const QString& word : text.split(' ', Qt::SkipEmptyParts)) {
        const QRegularExpressionMatch match = conditionForm.match(word);
        Condition condition;
        condition.text = word;
        if (match.hasMatch()) {
            condition.key = match.captured(1).toLower();
            condition.text = match.captured(3);
            const QString relation = match.captured(2);
            const bool isNumber = kNumberKeys.contains(condition.key);
            if (!isNumber && !kTextKeys.contains(condition.key)) {
                filter.m_problem = QStringLiteral("no key '%1': there are %2, %3")
                                       .arg(condition.key, kTextKeys.join(", "), kNumberKeys.join(", "));
                continue;
            }
            if (condition.text.isEmpty()) continue;  // still being typed
            if (isNumber) {
                const auto number = parseNumber(condition.text);
                if (!number) {
                    filter.m_problem =
                        QStringLiteral("'%1' is not a number: write %2<2").arg(condition.text, condition.key);
                    continue;
                }
                condition.number = *number;
                condition.relation = relation == "<"    ? Relation::Less
                                     : relation == "<=" ? Relation::LessOrEqual
                                     : relation == ">"  ? Relation::Greater
                                     : relation == ">=" ? Relation::GreaterOrEqual
                                                        : Relation::Equal;
            }
        }
        filter.m_conditions.push_back(condition);
    }
    return filter;
}

bool RunFilter::holds(const Condition& condition, const profiling::RunRow& run) {
    if (condition.relation == Relation::Contains) {
        return textOf(run, condition.key).contains(condition.text, Qt::CaseInsensitive);
    }
    const double value = numberOf(run, condition.key);
    switch (condition.relation) {
        case Relation::Less:
            return value < condition.number;
        case Relation::LessOrEqual:
            return value <= condition.number;
        case Relation::Greater:
            return value > condition.number;
        case Relation::GreaterOrEqual:
            return value >= condition.number;
        default:
            return value == condition.number;
    }
}

bool RunFilter::matches(const profiling::RunRow& run) const {
    for (const Condition& condition : m_conditions) {
        if (!holds(condition, run)) return false;
    }
    return true;
}

}  // namespace gui
