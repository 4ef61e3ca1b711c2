// What the New run and New benchmark dialogs share: name, presets, the configuration form, the estimate, and a start
// button that is off, with the reason beside it, while something is wrong. Not modal: the window stays usable.
#pragma once

#include "session_controller.h"
#include "views/config_form.h"

#include <QDialog>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace gui {

class JobDialog : public QDialog {
    Q_OBJECT
public:
    /// Jobs go into `database`. The button reads "Add to queue" while `controller` is busy.
    JobDialog(const QString& database, SessionController* controller, const QStringList& leftOut,
              QWidget* parent = nullptr);

signals:
    void jobWanted(const gui::Job& job);

protected:
    /// Lays everything out; call it at the end of the constructor.
    void build(const QString& settingsGroup);
    virtual Job makeJob() const = 0;
    /// More that can be wrong than the form knows; "" when nothing is.
    virtual QString extraProblem() const { return {}; }
    /// Settings of the last start are offered again.
    virtual void saveSettings() const;

    QString database() const { return m_database; }
    QString jobName() const;
    ConfigForm* form() const { return m_form; }
    void setNamePlaceholder(const QString& text);
    void usePreset(const QString& preset);
    void revalidate();

private:
    QString reasonOf(const std::vector<engine::ConfigIssue>& issues) const;
    /// Names the preset whose values the form holds, or "own values".
    void showPreset();
    void restoreSettings();
    void updateStartText();
    void start();

    QString m_database;
    QString m_settingsGroup;
    SessionController* m_controller;
    ConfigForm* m_form;
    QLineEdit* m_name;
    QComboBox* m_preset;
    QLabel* m_estimate;
    QLabel* m_reason;
    QPushButton* m_start;
};

}  // namespace gui
