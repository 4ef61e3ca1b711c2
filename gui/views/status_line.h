// The status bar: on the left what is going on, on the right what file and machine this is.
#pragma once

#include "profiling/queries.h"

#include "session_controller.h"

#include <QStatusBar>

class QLabel;
class QProgressBar;

namespace gui {

class StatusLine : public QStatusBar {
    Q_OBJECT
public:
    explicit StatusLine(QWidget* parent = nullptr);

    void showJob(const SessionController& controller);
    void showFile(const profiling::FileInfo& file);
    /// Asks the machine on another thread: opening a GPU driver may take a second.
    void inspectMachine();

private:
    QLabel* m_job;
    QProgressBar* m_progress;
    QLabel* m_file;
    QLabel* m_machine;
};

}  // namespace gui
