// "New benchmark…": the same model over several precisions, interleaved, with repeats.
#pragma once

#include "views/job_dialog.h"

#include <vector>

class QCheckBox;
class QSpinBox;

namespace gui {

class NewBenchmarkDialog : public JobDialog {
    Q_OBJECT
public:
    NewBenchmarkDialog(const QString& database, SessionController* controller, QWidget* parent = nullptr);

protected:
    Job makeJob() const override;
    QString extraProblem() const override;
    void saveSettings() const override;

private:
    QWidget* createExtra();
    QStringList chosen() const;

    std::vector<QCheckBox*> m_precisions;
    QSpinBox* m_warmup;
    QSpinBox* m_repeats;
    QSpinBox* m_steps;
};

}  // namespace gui
