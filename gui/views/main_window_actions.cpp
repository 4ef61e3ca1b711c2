// Menus, tool bar and shortcuts. Every command is an action with a name; the tool bar and the tests use the same ones.
#include "models/run_details.h"
#include "models/runs_model.h"
#include "views/help_dialog.h"
#include "views/main_window.h"
#include "views/message_bar.h"
#include "views/rows_view.h"
#include "views/run_details_panel.h"
#include "views/runs_panel.h"
#include "views/stability_view.h"
#include "views/throughput_view.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QMenuBar>
#include <QTabWidget>
#include <QTableView>
#include <QToolBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace gui {

namespace {

/// Selected rows of a table, or all of it when none is, tab separated with the titles on top.
QString tableText(const QTableView& view) {
    const QAbstractItemModel* model = view.model();
    const QModelIndexList selected = view.selectionModel()->selectedRows();
    QStringList lines;
    QStringList cells;
    for (int column = 0; column < model->columnCount(); ++column) {
        cells << model->headerData(column, Qt::Horizontal).toString();
    }
    lines << cells.join('\t');
    for (int row = 0; row < model->rowCount(); ++row) {
        const bool wanted = selected.isEmpty() || std::any_of(selected.begin(), selected.end(),
                                                              [row](const QModelIndex& i) { return i.row() == row; });
        if (!wanted) continue;
        cells.clear();
        for (int column = 0; column < model->columnCount(); ++column)
            cells << model->index(row, column).data().toString();
        lines << cells.join('\t');
    }
    return lines.join('\n') + '\n';
}

/// A window of its own with text to read; closes with Esc.
void showText(QWidget* parent, const char* name, const QString& title, const QString& html) {
    auto* dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(name);
    dialog->setWindowTitle(title);
    auto* label = new QLabel(html);
    label->setTextFormat(Qt::RichText);
    label->setWordWrap(true);
    label->setOpenExternalLinks(true);
    label->setTextInteractionFlags(Qt::TextBrowserInteraction);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    auto* layout = new QVBoxLayout(dialog);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->addWidget(label);
    layout->addWidget(buttons);
    dialog->show();
}

}  // namespace

QAction* MainWindow::addAction(const char* name, const QString& text, const QKeySequence& keys,
                               std::function<void()> function) {
    auto* action = new QAction(text, this);
    action->setObjectName(name);
    action->setShortcut(keys);
    connect(action, &QAction::triggered, this, [function = std::move(function)] { function(); });
    m_actions.insert(QString::fromUtf8(name), action);
    return action;
}

void MainWindow::createActions() {
    createFileMenu();
    createEditMenu();
    createViewMenu();
    createRunMenu();
    createHelpMenu();
    createToolBar();
}

void MainWindow::createFileMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&File"));
    menu->addAction(addAction("newDatabase", tr("&New database…"), QKeySequence::New, [this] { chooseNewDatabase(); }));
    menu->addAction(addAction("open", tr("&Open…"), QKeySequence::Open, [this] { chooseOpen(); }));
    m_recentMenu = menu->addMenu(tr("Open &recent"));
    menu->addAction(addAction("saveCopy", tr("&Save a copy…"), QKeySequence::SaveAs, [this] { chooseCopy(); }));
    menu->addSeparator();
    menu->addAction(
        addAction("exportReport", tr("&Export report…"), QKeySequence(tr("Ctrl+E")), [this] { exportReport(); }));
    menu->addSeparator();
    menu->addAction(addAction("quit", tr("&Quit"), QKeySequence(tr("Ctrl+Q")), [this] { close(); }));
}

void MainWindow::createEditMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&Edit"));
    menu->addAction(addAction("copy", tr("&Copy"), QKeySequence::Copy, [this] { copy(); }));
    menu->addAction(addAction("findRun", tr("&Find runs"), QKeySequence::Find, [this] { m_runsPanel->focusSearch(); }));
    menu->addSeparator();
    menu->addAction(addAction("renameRun", tr("&Rename run"), QKeySequence(Qt::Key_F2), [this] { renameRun(); }));
    menu->addAction(addAction("deleteRun", tr("&Delete run"), {}, [this] { deleteRuns(); }));
    menu->addAction(
        addAction("setBaseline", tr("Set as &baseline"), QKeySequence(tr("Ctrl+B")), [this] { setBaseline(); }));
    menu->addSeparator();
    menu->addAction(addAction("showAllRuns", tr("Draw &all runs"), {}, [this] { m_runsModel->setAllChecked(true); }));
    menu->addAction(addAction("hideAllRuns", tr("Draw &no runs"), {}, [this] { m_runsModel->setAllChecked(false); }));
    QList<QAction*> listActions;
    for (const char* name : {"renameRun", "deleteRun", "setBaseline", "copy", "showAllRuns", "hideAllRuns"}) {
        listActions << m_actions.value(name);
    }
    m_runsPanel->setListActions(listActions);
    // Del and Copy belong to the list and the tables: text fields and plots have their own.
    m_actions.value("deleteRun")->setShortcut(QKeySequence::Delete);
    m_actions.value("deleteRun")->setShortcutContext(Qt::WidgetShortcut);
    m_actions.value("copy")->setShortcutContext(Qt::WidgetShortcut);
    for (RowsView* view : m_tabs->findChildren<RowsView*>()) view->table()->addAction(m_actions.value("copy"));
}

void MainWindow::createViewMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&View"));
    QMenu* themeMenu = menu->addMenu(tr("&Theme"));
    m_themeGroup = new QActionGroup(this);
    const std::pair<Theme, QString> themes[] = {
        {Theme::System, tr("As the &system")}, {Theme::Light, tr("&Light")}, {Theme::Dark, tr("&Dark")}};
    for (const auto& [theme, text] : themes) {
        const QByteArray actionName = "theme_" + name(theme).toUtf8();
        QAction* action = addAction(actionName.constData(), text, {}, [this, chosen = theme] { setTheme(chosen); });
        action->setCheckable(true);
        action->setActionGroup(m_themeGroup);
        themeMenu->addAction(action);
    }
    menu->addSeparator();
    // The plots have these keys themselves while they have the focus; the tab only shows them here.
    menu->addAction(addAction("zoomBack", tr("Zoom &back") + "\tAlt+Left", {}, [this] { zoomBack(); }));
    menu->addAction(addAction("fit", tr("&Fit plots to the data"), QKeySequence(tr("Ctrl+0")), [this] { fit(); }));
    menu->addAction(addAction("freeCursor", tr("Free the step &cursor"), {}, [this] { m_selection->freeCursor(); }));
    menu->addSeparator();
    QAction* runs = addAction("runsPanel", tr("&Runs panel"), QKeySequence(tr("Ctrl+1")),
                              [this] { m_runsCard->setVisible(m_actions.value("runsPanel")->isChecked()); });
    runs->setCheckable(true);
    runs->setChecked(true);
    QAction* bottom = addAction("bottomPanel", tr("&Tables panel"), QKeySequence(tr("Ctrl+2")),
                                [this] { setBottomCollapsed(!m_actions.value("bottomPanel")->isChecked()); });
    bottom->setCheckable(true);
    bottom->setChecked(true);
    menu->addActions({runs, bottom});
}

void MainWindow::createRunMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&Run"));
    menu->addAction(addAction("newRun", tr("&New run…"), QKeySequence(tr("Ctrl+R")), [this] { newRun(); }));
    menu->addAction(
        addAction("newBenchmark", tr("New &benchmark…"), QKeySequence(tr("Ctrl+Shift+R")), [this] { newBenchmark(); }));
    menu->addSeparator();
    menu->addAction(addAction("pause", tr("&Pause"), QKeySequence(tr("Ctrl+P")), [this] {
        if (m_controller->state() == SessionController::State::Paused) {
            m_controller->resume();
        } else {
            m_controller->pause();
        }
    }));
    menu->addAction(addAction("stop", tr("&Stop"), QKeySequence(tr("Ctrl+.")), [this] { m_controller->stop(); }));
    m_queueMenu = menu->addMenu(tr("&Queue"));
}

void MainWindow::createHelpMenu() {
    QMenu* menu = menuBar()->addMenu(tr("&Help"));
    menu->addAction(addAction("userGuide", tr("&User guide"), QKeySequence::HelpContents,
                              [this] { (new HelpDialog(this))->show(); }));
    menu->addAction(
        addAction("keyboard", tr("&Keyboard and mouse"), QKeySequence(tr("Ctrl+F1")), [this] { showKeyboard(); }));
    menu->addAction(addAction("about", tr("&About Amaxscope"), {}, [this] { showAbout(); }));
}

void MainWindow::createToolBar() {
    auto* bar = addToolBar(tr("Commands"));
    bar->setObjectName("toolBar");
    bar->setMovable(false);
    const int icon = fontMetrics().height() - 2;
    bar->setIconSize({icon, icon});
    bar->setContextMenuPolicy(Qt::PreventContextMenu);
    auto* space = new QWidget;  // the style sheet's padding does not move the buttons
    space->setFixedWidth(4);
    bar->addWidget(space);
    for (const char* name : {"newRun", "newBenchmark", "pause", "stop", "open", "exportReport"}) {
        QAction* action = m_actions.value(name);
        bar->addAction(action);
        auto* button = qobject_cast<QToolButton*>(bar->widgetForAction(action));
        button->setObjectName(QStringLiteral("button_") + name);
        button->setFocusPolicy(Qt::TabFocus);
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        if (action->objectName().startsWith("new")) button->setProperty("role", "main");
    }
    updateIcons();
}

void MainWindow::updateIcons() {
    const ThemeColors& colors = currentColors();
    const bool paused = m_controller->state() == SessionController::State::Paused;
    m_actions["newRun"]->setIcon(themedIcon("new_run", colors.accentText));
    m_actions["newBenchmark"]->setIcon(themedIcon("new_benchmark", colors.accentText));
    m_actions["pause"]->setIcon(themedIcon(paused ? "resume" : "pause", colors.text));
    m_actions["stop"]->setIcon(themedIcon("stop", colors.text));
    for (QAction* action : m_actions) action->setIconVisibleInMenu(false);
}

void MainWindow::updateActions() {
    using State = SessionController::State;
    const State state = m_controller->state();
    const bool open = !m_worker->database().isEmpty();
    const bool haveRun = m_runsModel->find(m_selection->currentRun()) != nullptr;
    for (const char* name : {"newRun", "newBenchmark", "saveCopy"}) m_actions[name]->setEnabled(open && !m_closing);
    m_actions["exportReport"]->setEnabled(open && m_runsModel->rowCount() > 0);
    for (const char* name : {"renameRun", "deleteRun", "setBaseline"}) m_actions[name]->setEnabled(haveRun);
    m_actions["pause"]->setEnabled(state == State::Running || state == State::Paused);
    m_actions["pause"]->setText(state == State::Paused ? tr("&Resume") : tr("&Pause"));
    m_actions["stop"]->setEnabled(state == State::Running || state == State::Paused);
    m_actions["freeCursor"]->setEnabled(m_selection->cursorPinned());
    updateIcons();
    updateQueueMenu();
}

void MainWindow::updateQueueMenu() {
    const QStringList queue = m_controller->queue();
    m_queueMenu->clear();
    for (int i = 0; i < queue.size(); ++i) {
        m_queueMenu->addAction(tr("Remove %1").arg(queue[i]), this, [this, i] { m_controller->removeQueued(i); });
    }
    if (queue.size() > 1) m_queueMenu->addAction(tr("Remove all"), this, [this] { m_controller->clearQueue(); });
    m_queueMenu->setEnabled(!queue.isEmpty());
}

void MainWindow::copy() {
    QWidget* focus = QApplication::focusWidget();
    if (const auto* table = qobject_cast<QTableView*>(focus)) {
        QApplication::clipboard()->setText(tableText(*table));
    } else if (auto* line = qobject_cast<QLineEdit*>(focus)) {
        line->copy();
    } else if (const auto* label = qobject_cast<QLabel*>(focus); label != nullptr && label->hasSelectedText()) {
        QApplication::clipboard()->setText(label->selectedText());
    } else if (m_runsModel->find(m_selection->currentRun()) != nullptr) {
        QApplication::clipboard()->setText(m_runsPanel->details()->text());
        m_messageBar->showInfo(tr("The description of the selected run was copied."));
    }
}

void MainWindow::zoomBack() {
    if (m_stabilityWasLast) {
        m_stability->zoomBack();
    } else {
        m_throughput->zoomBack();
    }
}

void MainWindow::fit() {
    m_throughput->fit();
    m_stability->fit();
}

void MainWindow::showKeyboard() {
    const std::pair<QString, QString> own[] = {
        {tr("wheel, + and −"), tr("zoom at the cursor (Ctrl: the other axis)")},
        {tr("drag, Shift+drag"), tr("move, zoom to a box")},
        {tr("double click, F"), tr("fit to the data")},
        {tr("Backspace, Alt+Left"), tr("undo the last zoom")},
        {tr("click, Space, Esc"), tr("pin and free the step cursor, the same step in all views")},
        {tr("Left, Right"), tr("move the step cursor, or the plot")},
        {tr("Space in the runs list"), tr("draw the run or not")},
    };
    QString rows;
    for (const auto& [keys, text] : own)
        rows += QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>").arg(keys, text);
    for (const QAction* action : findChildren<QAction*>()) {
        if (action->shortcut().isEmpty() || action->text().isEmpty() || action->parent() != this) continue;
        rows += QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>")
                    .arg(action->shortcut().toString(QKeySequence::NativeText), action->text().remove('&'));
    }
    showText(this, "keyboardDialog", tr("Keyboard and mouse"),
             QStringLiteral("<table cellpadding=\"3\">%1</table>").arg(rows));
}

void MainWindow::showAbout() {
    showText(this, "aboutDialog", tr("About Amaxscope"),
             tr("<h3>Amaxscope %1</h3><p>Profiler and training visualizer for low-precision (FP8) Transformer "
                "training.</p><p>Free software under the GNU General Public License, version 3 or later, without any "
                "warranty. Uses Qt %2, QCustomPlot and SQLite.</p>")
                 .arg(QApplication::applicationVersion(), QString::fromUtf8(qVersion())));
}

}  // namespace gui
