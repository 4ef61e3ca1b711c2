// The window's side of the database and of jobs: opening, refreshing the runs list, starting, editing, exporting.
#include "database_editor.h"
#include "models/config_text.h"
#include "models/runs_model.h"
#include "views/export_dialog.h"
#include "views/main_window.h"
#include "views/message_bar.h"
#include "views/new_benchmark_dialog.h"
#include "views/new_run_dialog.h"
#include "views/runs_panel.h"
#include "views/stability_view.h"
#include "views/status_line.h"
#include "views/summary_view.h"
#include "views/throughput_view.h"

#include <QDateTime>
#include <QDesktopServices>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QStandardPaths>
#include <QUrl>

#include <algorithm>

namespace gui {

using profiling::RunId;
using profiling::RunRow;

namespace {

constexpr qint64 kFileInfoInterval = 2000;  // ms; counting snapshots of a big file takes a while
const QString kFileFilter = QStringLiteral("Amaxscope databases (*.amax);;All files (*)");

QString defaultDatabase() {
    return QDir(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation)).filePath("runs.amax");
}

}  // namespace

void MainWindow::connectSession() {
    connect(m_worker, &QueryWorker::databaseOpened, this, &MainWindow::databaseOpened);
    connect(m_worker, &QueryWorker::databaseChanged, this, &MainWindow::refreshRuns);
    connect(m_worker, &QueryWorker::failed, m_messageBar, &MessageBar::showTrouble);
    connect(m_editor, &DatabaseEditor::ready, m_worker, &QueryWorker::setDatabase);
    connect(m_editor, &DatabaseEditor::failed, m_messageBar, &MessageBar::showTrouble);
    connect(m_editor, &DatabaseEditor::copied, this,
            [this](const QString& target) { m_messageBar->showInfo(tr("A copy was saved as %1.").arg(target)); });
    connect(m_runsPanel, &RunsPanel::newRunWanted, this, &MainWindow::newRun);
    connect(m_throughput, &ThroughputView::newBenchmarkRequested, this, &MainWindow::newBenchmark);
    connect(m_stability, &StabilityView::newRunRequested, this, &MainWindow::newRun);
    connect(m_stability, &StabilityView::problem, m_messageBar, &MessageBar::showTrouble);
    connect(m_throughput, &ThroughputView::problem, m_messageBar, &MessageBar::showTrouble);
    connect(m_runsModel, &RunsModel::renameRequested, this,
            [this](RunId run, const QString& name) { m_editor->renameRun(m_worker->database(), run, name); });
    connect(m_selection, &Selection::currentRunChanged, this, &MainWindow::updateActions);
    connect(m_selection, &Selection::currentRunChanged, this, &MainWindow::askFallbacks);
    connect(m_worker, &QueryWorker::databaseChanged, this, &MainWindow::askFallbacks);
    connect(m_selection, &Selection::cursorChanged, this, &MainWindow::updateActions);

    connect(m_controller, &SessionController::stateChanged, this, [this] {
        m_status->showJob(*m_controller);
        updateActions();
    });
    connect(m_controller, &SessionController::queueChanged, this, [this] {
        m_status->showJob(*m_controller);
        updateActions();
    });
    connect(m_controller, &SessionController::progressed, this, [this] { m_status->showJob(*m_controller); });
    connect(m_controller, &SessionController::runStarted, this, [this](RunId run) {
        if (std::exchange(m_followNextRun, false)) m_selection->setCurrentRun(run);
    });
    connect(m_controller, &SessionController::failed, m_messageBar, &MessageBar::showTrouble);
    connect(m_controller, &SessionController::finished, m_messageBar,
            [this](const QString& text) { m_messageBar->showInfo(text); });
    connect(m_controller, &SessionController::stateChanged, this, [this] {
        if (m_closing && !m_controller->busy()) close();
    });
    m_status->showJob(*m_controller);
    m_status->inspectMachine();
}

void MainWindow::openDatabase(const QString& path) {
    if (path.isEmpty()) {
        m_editor->create(defaultDatabase());
    } else {
        m_worker->setDatabase(QFileInfo(path).absoluteFilePath());
    }
}

void MainWindow::databaseOpened(const QString& path) {
    m_haveRuns = false;
    m_fileInfoAskedAt = 0;
    m_runsModel->clear();
    m_selection->clear();
    setWindowTitle(QStringLiteral("%1 – Amaxscope").arg(QFileInfo(path).fileName()));
    setWindowFilePath(path);
    addRecentFile(path);
    updateActions();
    refreshRuns();
}

void MainWindow::refreshRuns() {
    m_worker->ask<std::vector<RunRow>>(
        this, "runs", [](profiling::Store& store) { return store.runs(); },
        [this](const std::shared_ptr<const std::vector<RunRow>>& runs) { runsArrived(*runs); });
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    if (now - m_fileInfoAskedAt < kFileInfoInterval) return;
    m_fileInfoAskedAt = now;
    m_worker->ask<profiling::FileInfo>(
        this, "file", [](profiling::Store& store) { return store.fileInfo(); },
        [this](const std::shared_ptr<const profiling::FileInfo>& file) { m_status->showFile(*file); });
}

void MainWindow::askFallbacks() {
    const RunId run = m_selection->currentRun();
    if (!run) return;
    m_worker->ask<FallbackText>(
        this, "fallbacks", [run](profiling::Store& store) { return fallbackText(store.events(run)); },
        [this, run](const std::shared_ptr<const FallbackText>& text) { m_runsPanel->setFallbacks(run, *text); });
}

void MainWindow::runsArrived(const std::vector<RunRow>& runs) {
    const bool wasListed = m_runsModel->find(m_selection->currentRun()) != nullptr;
    m_runsModel->setRuns(runs);
    if (wasListed && m_runsModel->find(m_selection->currentRun()) == nullptr) {  // another program deleted it
        m_selection->setCurrentRun(runs.empty() ? RunId{} : runs.front().id);
    }
    if (m_runsModel->find(m_selection->baseline()) == nullptr) m_selection->setBaseline(defaultBaseline(runs));
    // A run that was just started may be selected before its row has come: that is waited for.
    const bool wanted = !m_haveRuns || m_followRestored;
    if (wanted && !m_selection->currentRun() && !runs.empty()) {
        m_selection->setCurrentRun(runs.front().id);
        m_followRestored = false;
    }
    m_haveRuns = m_haveRuns || !runs.empty();
    updateActions();
}

RunId MainWindow::defaultBaseline(const std::vector<RunRow>& runs) const {
    // The baseline of the newest benchmark; else the oldest run in the widest precision.
    for (const RunRow& run : runs) {
        if (run.isBaseline) return run.id;
    }
    for (const char* precision : {"fp32", "bf16"}) {
        for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
            if (run->description.precision == precision) return run->id;
        }
    }
    return runs.empty() ? RunId{} : runs.back().id;
}

void MainWindow::chooseNewDatabase() {
    QString path = QFileDialog::getSaveFileName(this, tr("New database"), QFileInfo(m_worker->database()).path(),
                                                kFileFilter, nullptr, QFileDialog::DontConfirmOverwrite);
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += ".amax";
    if (QFileInfo::exists(path)) {
        m_messageBar->showTrouble(tr("%1: a file of this name exists: choose another name, or use Open…").arg(path));
        return;
    }
    m_editor->create(path);
}

void MainWindow::chooseOpen() {
    const QString path =
        QFileDialog::getOpenFileName(this, tr("Open"), QFileInfo(m_worker->database()).path(), kFileFilter);
    if (!path.isEmpty()) openDatabase(path);
}

void MainWindow::chooseCopy() {
    QString path =
        QFileDialog::getSaveFileName(this, tr("Save a copy"), QFileInfo(m_worker->database()).path(), kFileFilter);
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += ".amax";
    m_editor->saveCopy(m_worker->database(), path);
}

void MainWindow::exportReport() {
    ExportSource source{m_worker->database(), m_selection->visibleRuns(), m_runsPanel->selectedRuns(),
                        m_selection->baseline()};
    std::sort(source.visible.begin(), source.visible.end());
    auto* dialog = new ExportDialog(source, this);
    connect(dialog, &ExportDialog::written, this, [this](const QString& path) {
        m_messageBar->showInfo(tr("The report was written to %1.").arg(path), tr("Open"),
                               [path] { QDesktopServices::openUrl(QUrl::fromLocalFile(path)); });
    });
    dialog->show();
}

void MainWindow::newRun() {
    auto* dialog = new NewRunDialog(m_worker->database(), m_controller, this);
    connect(dialog, &JobDialog::jobWanted, this, &MainWindow::startJob);
    dialog->show();
}

void MainWindow::newBenchmark() {
    auto* dialog = new NewBenchmarkDialog(m_worker->database(), m_controller, this);
    connect(dialog, &JobDialog::jobWanted, this, &MainWindow::startJob);
    dialog->show();
}

void MainWindow::startJob(const Job& job) {
    m_followNextRun = !m_controller->busy();
    m_controller->enqueue(job);
}

void MainWindow::renameRun() {
    m_runsPanel->editName(m_selection->currentRun());
}

void MainWindow::deleteRuns() {
    const std::vector<RunId> runs = m_runsPanel->selectedRuns();
    if (runs.empty()) return;
    const bool running = std::any_of(runs.begin(), runs.end(), [this](RunId run) {
        const RunRow* row = m_runsModel->find(run);
        return row != nullptr && row->status == profiling::RunStatus::Running;
    });
    if (running) {
        m_messageBar->showTrouble(tr("Delete run: it is still running: stop it first."));
        return;
    }
    // The views leave the run before it goes, so that none of them asks about it again.
    RunId next;
    for (const RunRow& row : m_runsModel->runs()) {
        if (std::find(runs.begin(), runs.end(), row.id) == runs.end()) {
            next = row.id;
            break;
        }
    }
    m_selection->setCurrentRun(next);
    std::vector<RunId> visible = m_selection->visibleRuns();
    const auto goes = [&runs](RunId run) { return std::find(runs.begin(), runs.end(), run) != runs.end(); };
    visible.erase(std::remove_if(visible.begin(), visible.end(), goes), visible.end());
    m_selection->setVisibleRuns(visible);
    if (goes(m_selection->baseline())) m_selection->setBaseline({});
    const QString path = m_worker->database();
    m_editor->setRunsDeleted(path, runs, true);
    m_messageBar->showInfo(runs.size() == 1 ? tr("The run was deleted.") : tr("%1 runs were deleted.").arg(runs.size()),
                           tr("Undo"), [this, path, runs] {
                               m_editor->setRunsDeleted(path, runs, false);
                               if (!m_selection->currentRun()) m_followRestored = true;
                           });
}

void MainWindow::setBaseline() {
    const RunRow* run = m_runsModel->find(m_selection->currentRun());
    if (run == nullptr) return;
    m_selection->setBaseline(run->id);
    if (run->bench) m_editor->setBenchBaseline(m_worker->database(), run->bench, run->id);
}

}  // namespace gui
