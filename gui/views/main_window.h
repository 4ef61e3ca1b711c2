// The window: menus and tool bar, runs on the left, two views side by side, tabs below, status bar.
// Views read the database through the QueryWorker; jobs run in the SessionController; neither waits for the other.
#pragma once

#include "query_worker.h"
#include "selection.h"
#include "session_controller.h"
#include "views/theme.h"

#include <QMainWindow>

class QActionGroup;
class QLabel;
class QProgressBar;
class QSplitter;
class QTabWidget;

namespace gui {

class DatabaseEditor;
class MessageBar;
class RunsModel;
class RunsPanel;
class StabilityView;
class StatusLine;
class SummaryView;
class ThroughputView;

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(QWidget* parent = nullptr);
    ~MainWindow() override;

    /// Opens a file, or the per-user database (made when there is none) for "".
    void openDatabase(const QString& path);
    /// The theme for this window only; the settings keep the user's choice.
    void overrideTheme(Theme theme);

    Selection* selection() const { return m_selection; }
    QueryWorker* worker() const { return m_worker; }
    SessionController* controller() const { return m_controller; }
    MessageBar* messageBar() const { return m_messageBar; }
    RunsModel* runsModel() const { return m_runsModel; }

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    // main_window.cpp: what there is
    void createViews();
    QWidget* createCentre();
    void setBottomCollapsed(bool collapsed);

    // main_window_actions.cpp: what can be done
    void createActions();
    void createFileMenu();
    void createEditMenu();
    void createViewMenu();
    void createRunMenu();
    void createHelpMenu();
    void createToolBar();
    QAction* addAction(const char* name, const QString& text, const QKeySequence& keys, std::function<void()> function);
    void updateActions();
    void updateQueueMenu();
    void updateIcons();
    void copy();
    void zoomBack();
    void fit();
    void showKeyboard();
    void showAbout();

    // main_window_session.cpp: database and jobs
    void connectSession();
    void databaseOpened(const QString& path);
    void refreshRuns();
    void askFallbacks();
    void runsArrived(const std::vector<profiling::RunRow>& runs);
    void chooseNewDatabase();
    void chooseOpen();
    void chooseCopy();
    void exportReport();
    void newRun();
    void newBenchmark();
    void startJob(const Job& job);
    void renameRun();
    void deleteRuns();
    void setBaseline();
    profiling::RunId defaultBaseline(const std::vector<profiling::RunRow>& runs) const;

    // main_window_state.cpp: what is remembered
    void restoreState();
    void saveState();
    void setTheme(Theme theme);
    void addRecentFile(const QString& path);
    void updateRecentMenu();

    Selection* m_selection;
    QueryWorker* m_worker;
    DatabaseEditor* m_editor;
    SessionController* m_controller;
    RunsModel* m_runsModel;

    MessageBar* m_messageBar = nullptr;
    RunsPanel* m_runsPanel = nullptr;
    QWidget* m_runsCard = nullptr;
    ThroughputView* m_throughput = nullptr;
    StabilityView* m_stability = nullptr;
    SummaryView* m_summary = nullptr;
    QTabWidget* m_tabs = nullptr;
    QWidget* m_bottomCard = nullptr;
    QSplitter* m_mainSplitter = nullptr;
    QSplitter* m_viewsSplitter = nullptr;
    QSplitter* m_rowsSplitter = nullptr;
    StatusLine* m_status = nullptr;

    QHash<QString, QAction*> m_actions;
    QMenu* m_recentMenu = nullptr;
    QMenu* m_queueMenu = nullptr;
    QActionGroup* m_themeGroup = nullptr;
    bool m_bottomCollapsed = false;
    bool m_stabilityWasLast = false;  // which view zoom commands mean
    bool m_closing = false;
    bool m_followNextRun = false;   // a job was just started: select its first run
    bool m_followRestored = false;  // deleting the last run was undone: select what comes back
    bool m_haveRuns = false;        // the first answer of this file has come
    qint64 m_fileInfoAskedAt = 0;
};

}  // namespace gui
