// "New run…": one training run.
#pragma once

#include "views/job_dialog.h"

namespace gui {

class NewRunDialog : public JobDialog {
    Q_OBJECT
public:
    NewRunDialog(const QString& database, SessionController* controller, QWidget* parent = nullptr);

protected:
    Job makeJob() const override;
};

}  // namespace gui
