// What the window remembers between starts, and how it closes.
#include "views/main_window.h"
#include "views/message_bar.h"
#include "views/runs_panel.h"
#include "views/stability_view.h"
#include "views/summary_view.h"
#include "views/throughput_view.h"

#include <QActionGroup>
#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMenu>
#include <QMimeData>
#include <QSettings>
#include <QSplitter>
#include <QTabWidget>
#include <QUrl>

#include <algorithm>

namespace gui {

namespace {

constexpr int kRecentFiles = 8;
constexpr int kRunsWidth = 300;
constexpr int kLowWindow = 800;  // below this height the tables start as a row of tabs

QString droppedFile(const QMimeData* data) {
    for (const QUrl& url : data->urls()) {
        if (url.isLocalFile() && QFileInfo(url.toLocalFile()).isFile()) return url.toLocalFile();
    }
    return {};
}

}  // namespace

void MainWindow::restoreState() {
    const QSettings settings;
    if (!restoreGeometry(settings.value("window/geometry").toByteArray())) resize(1400, 860);
    for (QSplitter* splitter : {m_mainSplitter, m_viewsSplitter, m_rowsSplitter}) {
        splitter->restoreState(settings.value("window/" + splitter->objectName()).toByteArray());
    }
    if (!settings.contains("window/mainSplitter")) {
        m_mainSplitter->setSizes({kRunsWidth, width() - kRunsWidth});
        m_viewsSplitter->setSizes({5, 6});
        m_rowsSplitter->setSizes({height() * 3 / 5, height() * 2 / 5});
    }
    m_tabs->setCurrentIndex(settings.value("window/tab", 0).toInt());
    setBottomCollapsed(settings.value("window/bottomCollapsed", false).toBool());
    const bool runsShown = settings.value("window/runsPanel", true).toBool();
    m_runsCard->setVisible(runsShown);
    m_actions["runsPanel"]->setChecked(runsShown);
    const Theme theme = themeFromName(settings.value("window/theme").toString());
    m_actions["theme_" + name(theme)]->setChecked(true);
    applyTheme(*qApp, theme);
    setWindowIcon(QIcon(":/icons/amaxscope.svg"));
    updateRecentMenu();
}

void MainWindow::saveState() {
    QSettings settings;
    settings.setValue("window/geometry", saveGeometry());
    for (QSplitter* splitter : {m_mainSplitter, m_viewsSplitter, m_rowsSplitter}) {
        settings.setValue("window/" + splitter->objectName(), splitter->saveState());
    }
    settings.setValue("window/tab", m_tabs->currentIndex());
    settings.setValue("window/bottomCollapsed", m_bottomCollapsed);
    settings.setValue("window/runsPanel", m_actions["runsPanel"]->isChecked());
}

void MainWindow::setTheme(Theme theme) {
    QSettings().setValue("window/theme", name(theme));
    applyTheme(*qApp, theme);
}

void MainWindow::overrideTheme(Theme theme) {
    applyTheme(*qApp, theme);
}

void MainWindow::addRecentFile(const QString& path) {
    QSettings settings;
    QStringList files = settings.value("recentFiles").toStringList();
    files.removeAll(path);
    files.prepend(path);
    settings.setValue("recentFiles", files.mid(0, kRecentFiles));
    updateRecentMenu();
}

void MainWindow::updateRecentMenu() {
    m_recentMenu->clear();
    const QStringList files = QSettings().value("recentFiles").toStringList();
    for (const QString& file : files) {
        m_recentMenu->addAction(QDir::toNativeSeparators(file), this, [this, file] { openDatabase(file); });
    }
    m_recentMenu->setEnabled(!files.isEmpty());
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (m_controller->busy()) {
        // The job ends after the step it is in and closes its run; the window goes then.
        m_closing = true;
        m_controller->clearQueue();
        m_controller->stop();
        m_messageBar->showNotice(tr("Stopping the job and writing what it measured; the window closes then."));
        updateActions();
        event->ignore();
        return;
    }
    saveState();
    event->accept();
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    if (event->type() != QEvent::PaletteChange || m_actions.isEmpty()) return;
    updateIcons();
    const PlotStyle style = isDarkTheme() ? PlotStyle::dark() : PlotStyle::light();
    m_throughput->setTheme(style);
    m_stability->setTheme(style);
    m_summary->setTheme(style);
}

void MainWindow::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    m_runsPanel->focusList();  // a text field would take keys such as Ctrl+E for itself
    // On a low screen the plots get the room, until the user decides otherwise.
    if (!QSettings().contains("window/bottomCollapsed") && height() < kLowWindow) setBottomCollapsed(true);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!droppedFile(event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QString file = droppedFile(event->mimeData());
    if (!file.isEmpty()) openDatabase(file);
}

}  // namespace gui
