// The form for an engine::RunConfig, made from formFields(): inputs by group in two columns, the data chooser, and
// each problem right under the input it belongs to.
#pragma once

#include "models/config_form_model.h"

#include <QHash>
#include <QStringList>
#include <QWidget>

#include <vector>

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;

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

    /// What is wrong, inputs that are no number included. Shows it too.
    std::vector<engine::ConfigIssue> check();

    /// The row on top; dialogs align their own rows with it.
    QFormLayout* dataForm() const { return m_dataForm; }

signals:
    void changed();

private:
    struct Input {
        const FormField* field;
        QWidget* editor;
        QLabel* problem;
    };

    QFormLayout* createGroup(FieldGroup group, const QStringList& leftOut);
    QWidget* createEditor(const FormField& field);
    QFormLayout* createData();
    void addRow(QFormLayout* form, const QString& text, QWidget* editor, QLabel* problem);
    void edited();
    void enableByPrecision();
    void chooseFile();

    engine::RunConfig m_config;
    std::vector<Input> m_inputs;
    QFormLayout* m_dataForm = nullptr;
    QComboBox* m_dataKind = nullptr;
    QLineEdit* m_dataPath = nullptr;
    QPushButton* m_dataBrowse = nullptr;
    QLabel* m_dataProblem = nullptr;
    bool m_filling = false;
};

}  // namespace gui
