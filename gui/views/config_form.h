// The form for an engine::RunConfig, made from formFields(): the data chooser, and pages of inputs by group in two
// columns. Each problem stands right under the input it belongs to, and its page is marked.
#pragma once

#include "models/config_form_model.h"
#include "views/field_editor.h"

#include <QStringList>
#include <QWidget>

#include <functional>
#include <memory>
#include <vector>

class QComboBox;
class QFormLayout;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QTabWidget;

namespace gui {

/// Labels as wide as the widest of them, so that the fields of several forms stand in one line.
void alignLabels(const QList<QFormLayout*>& forms);

class ConfigForm : public QWidget {
    Q_OBJECT
public:
    /// Options in `left out` get no input; their values stay as setConfig() gave them.
    explicit ConfigForm(const QStringList& leftOut, QWidget* parent = nullptr);

    engine::RunConfig config() const;
    void setConfig(const engine::RunConfig& config);

    /// What the configuration is made into before it is used (the variants of a benchmark); itself by default. A field
    /// is on when it matters to any of them, and the problems of all are shown.
    using Uses = std::function<std::vector<engine::RunConfig>(const engine::RunConfig&)>;
    void setUses(Uses uses);
    /// What setUses() was given depends on something that changed.
    void refresh();

    /// What is wrong, inputs that are no number included. Shows it too.
    std::vector<engine::ConfigIssue> check();

    /// Another page, before those of the fields.
    void addFirstPage(QWidget* content, const QString& title);
    /// Title of the page that has this option's input; "" when none has.
    QString pageTitle(const QString& option) const;
    /// Turns to the input of this option and gives it the keyboard.
    void showField(const QString& option);

    /// The row on top; dialogs align their own rows with it.
    QFormLayout* dataForm() const { return m_dataForm; }

signals:
    void changed();

private:
    struct Input {
        const FormField* field;
        std::unique_ptr<FieldEditor> editor;
        QLabel* label;  // nullptr: the editor names itself
        QLabel* note;   // the help of the choice taken; nullptr for most
        QLabel* problem;
        QWidget* cell;
        QWidget* page;
    };

    void createPages(const QStringList& leftOut);
    QWidget* createPage(FormPage page, const QStringList& leftOut);
    void addSection(const FormSection& section, const QStringList& leftOut, QGridLayout* column, QWidget* page);
    void addField(const FormField& field, QGridLayout* column, QWidget* page);
    static void showRow(const Input& input, bool visible);
    QFormLayout* createData();
    void edited();
    void showWhatApplies();
    void markPages(const std::vector<engine::ConfigIssue>& issues);
    void chooseFile();
    std::vector<engine::ConfigIssue> collectIssues() const;

    engine::RunConfig m_config;
    Uses m_uses;
    std::vector<Input> m_inputs;
    QTabWidget* m_pages;
    QFormLayout* m_dataForm = nullptr;
    QComboBox* m_dataKind = nullptr;
    QLineEdit* m_dataPath = nullptr;
    QPushButton* m_dataBrowse = nullptr;
    QLabel* m_dataProblem = nullptr;
    bool m_filling = false;
};

}  // namespace gui
