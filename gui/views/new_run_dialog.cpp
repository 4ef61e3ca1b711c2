// Turns the form into a TrainJob.
#include "views/new_run_dialog.h"

namespace gui {

NewRunDialog::NewRunDialog(const QString& database, SessionController* controller, QWidget* parent)
    : JobDialog(database, controller, {}, parent) {
    setObjectName("newRunDialog");
    setWindowTitle(tr("New run"));
    build(QStringLiteral("newRun"));
}

Job NewRunDialog::makeJob() const {
    jobs::TrainJob job;
    job.config = form()->config();
    job.database = database().toStdString();
    job.name = jobName().toStdString();
    return job;
}

}  // namespace gui
