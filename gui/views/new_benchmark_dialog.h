// "New benchmark…": the same model in several precisions and recipes, interleaved, with repeats.
#pragma once

#include "views/job_dialog.h"

namespace gui {

class VariantsPage;

class NewBenchmarkDialog : public JobDialog {
    Q_OBJECT
public:
    NewBenchmarkDialog(const QString& database, SessionController* controller, QWidget* parent = nullptr);

protected:
    Job makeJob() const override;
    QString extraProblem() const override;
    void saveSettings() const override;

private:
    VariantsPage* m_variants;
};

}  // namespace gui
