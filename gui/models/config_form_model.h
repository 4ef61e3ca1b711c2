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

enum class FieldKind : std::uint8_t {
    Integer = 1,
    Real = 2,
    Text = 3,
    Choice = 4,
    Flag = 5,
    Unsigned64 = 6,
    Set = 7,            // any of `choices`, joined by commas
    OptionalCount = 8,  // 0, or with one click 1 and more
    File = 9
};

/// Pages of the form, in order: what most runs change stands on the first.
enum class FormPage : std::uint8_t { Main = 0, Model = 1, Layers = 2, Training = 3, Observation = 4 };
QString title(FormPage page);

enum class FieldGroup : std::uint8_t {
    Size = 1,
    Schedule,
    Recipe,
    Shape,
    Parts,
    KeptLayers,
    Weights,
    Optimizer,
    Machine,
    Guard,
    Validation,
    Tensors
};
/// A group of fields under a heading: where it stands.
struct FormSection {
    FieldGroup group;
    QString title;
    FormPage page;
    int column;  // 0 or 1
};
const std::vector<FormSection>& formSections();
FormPage pageOf(FieldGroup group);

struct FieldChoice {
    QString word;  // as on the command line
    QString help;
};

struct FormField {
    QString option;       // as on the command line without dashes; ConfigIssue::field uses the same word
    QString commandLine;  // where a flag reads the other way round there: "no-bias"; else as `option`
    QString label;
    QString help;
    FieldGroup group = FieldGroup::Size;
    FieldKind kind = FieldKind::Integer;
    double minimum = 0;  // what the input accepts; engine::validate() has the last word
    double maximum = 0;
    std::vector<FieldChoice> choices;
    bool explained = false;    // the help of the choice taken stands under the input
    bool ownToRecipe = false;  // without meaning under another recipe: hidden there, not just switched off
    QString placeholder;       // of a text: an example
    /// Shown instead of the minimum, or of the choice "auto": what it comes to under this configuration.
    std::function<QString(const engine::RunConfig&)> automatic;
    std::function<QVariant(const engine::RunConfig&)> get;
    std::function<void(engine::RunConfig&, const QVariant&)> set;
};

/// All fields but the data, in form order.
const std::vector<FormField>& formFields();
/// nullptr when no field has this option: "data".
const FormField* findField(const QString& option);

/// data = "text:PATH" and the like, taken apart and put together.
struct DataChoice {
    QString kind;  // "stride" | "text" | "tokens"
    QString path;  // "" for stride
};
DataChoice parseData(const std::string& data);
std::string joinData(const DataChoice& choice);
/// Why this file cannot be trained on, "" when it can be opened and is not empty.
QString dataProblem(const DataChoice& choice);

/// Issues of the configuration, of its data and of its weights file; each has the option it belongs to ("data").
std::vector<engine::ConfigIssue> formIssues(const engine::RunConfig& config);

/// `held` with the preset's values. What no preset is about stays: data, seed, machine, observation, guard, layers kept
/// out of FP8; precision and recipe stay as well unless the preset is about them.
engine::RunConfig withPreset(const engine::RunConfig& held, const std::string& preset);
/// The preset whose values `config` holds, "" when none does. Several may fit: `preferred` if it is one of them, else
/// the one that says most.
std::string presetHeld(const engine::RunConfig& config, const std::string& preferred);

/// "3.21 M parameters · 92.1 MiB · 12.5 GFLOP/step · 1 024 tokens/step". The vocabulary that the data will give is
/// assumed (stride: 64; bytes: 256; token files: 50 272), which `assumed` names, "" when nothing was assumed.
struct EstimateText {
    QString text;
    QString assumed;
};
EstimateText estimateText(const engine::RunConfig& config);

}  // namespace gui
