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

class ConfigForm : public QWidget {
    Q_OBJECT
public:
    /// Options in `left out` get no input; their values stay as setConfig() gave them.
    explicit ConfigForm(const QStringList& leftOut, QWidget* parent = nullptr);

    engine::RunConfig config() const;
    void setConfig(const engine::RunConfig& config);

    /// What is wrong, inputs that are no number included. Shows it too.
    std::vector<engine::ConfigIssue> check();

signals:
    void changed();

private:
    struct Input {
        const FormField* field;
        QWidget* editor;
        QLabel* problem;
    };

    QWidget* createGroup(FieldGroup group, const QStringList& leftOut);
    QWidget* createEditor(const FormField& field);
    QWidget* createData();
    void addRow(QFormLayout* form, const QString& text, QWidget* editor, QLabel* problem);
    void edited();
    void enableByPrecision();
    void chooseFile();

    engine::RunConfig m_config;
    std::vector<Input> m_inputs;
    QComboBox* m_dataKind = nullptr;
    QLineEdit* m_dataPath = nullptr;
    QPushButton* m_dataBrowse = nullptr;
    QLabel* m_dataProblem = nullptr;
    bool m_filling = false;
};

}  // namespace gui
