// The fields of engine::RunConfig as a list that forms are made from: one entry per option, with its limits, its help
// and how to read and write it. Rules between fields stay in engine::validate().
#pragma once

#include "engine/config.h"

#include <QString>
#include <QStringList>
#include <QVariant>

#include <functional>
#include <vector>

namespace gui {

enum class FieldKind : std::uint8_t { Integer = 1, Real = 2, Text = 3, Choice = 4, Flag = 5, Unsigned64 = 6 };
enum class FieldGroup : std::uint8_t { Model = 1, Precision = 2, Training = 3, Machine = 4 };
QString title(FieldGroup group);

struct FormField {
    QString option;  // as on the command line without dashes; ConfigIssue::field uses the same word
    QString label;
    QString help;
    FieldGroup group = FieldGroup::Model;
    FieldKind kind = FieldKind::Integer;
    double minimum = 0;  // what the input accepts; engine::validate() has the last word
    double maximum = 0;
    QString zeroText;  // shown instead of the minimum: "one per core"
    QStringList choices;
    bool fp8Only = false;  // without effect unless the precision is (or may become) fp8
    std::function<QVariant(const engine::RunConfig&)> get;
    std::function<void(engine::RunConfig&, const QVariant&)> set;
};

/// All fields but the data, in form order.
const std::vector<FormField>& formFields();

/// data = "text:PATH" and the like, taken apart and put together.
struct DataChoice {
    QString kind;  // "stride" | "text" | "tokens"
    QString path;  // "" for stride
};
DataChoice parseData(const std::string& data);
std::string joinData(const DataChoice& choice);
/// Why this file cannot be trained on, "" when it can be opened and is not empty.
QString dataProblem(const DataChoice& choice);

/// Issues of the configuration and of its data; each has the option it belongs to ("data" for the file).
std::vector<engine::ConfigIssue> formIssues(const engine::RunConfig& config);

/// "3.21 M parameters · 92.1 MiB · 12.5 GFLOP/step · 1 024 tokens/step". The vocabulary that the data will give is
/// assumed (stride: 64; bytes: 256; token files: 50 272), which `assumed` names, "" when nothing was assumed.
struct EstimateText {
    QString text;
    QString assumed;
};
EstimateText estimateText(const engine::RunConfig& config);

}  // namespace gui
