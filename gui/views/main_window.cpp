// Construction of the window: which panels there are and how they are arranged.
#include "views/main_window.h"

#include "database_editor.h"
#include "models/runs_model.h"
#include "views/message_bar.h"
#include "views/rows_view.h"
#include "views/runs_panel.h"
#include "views/stability_view.h"
#include "views/status_line.h"
#include "views/summary_view.h"
#include "views/throughput_view.h"

#include <QApplication>
#include <QFrame>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

namespace gui {

namespace {

constexpr int kGap = 8;

QFrame* card(QWidget* content, int side = 1) {
    auto* frame = new QFrame;
    frame->setObjectName("card");
    auto* layout = new QVBoxLayout(frame);
    layout->setContentsMargins(side, 1, side, 1);
    layout->addWidget(content);
    return frame;
}

QSplitter* splitter(Qt::Orientation orientation, const char* name) {
    auto* result = new QSplitter(orientation);
    result->setObjectName(name);
    result->setHandleWidth(kGap);
    result->setChildrenCollapsible(false);
    return result;
}

bool isInside(const QWidget* widget, const QWidget* ancestor) {
    return widget != nullptr && (widget == ancestor || ancestor->isAncestorOf(widget));
}

}  // namespace

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent),
      m_selection(new Selection(this)),
      m_worker(new QueryWorker(this)),
      m_editor(new DatabaseEditor(this)),
      m_controller(new SessionController(this)),
      m_runsModel(new RunsModel([this](profiling::RunId run) { return m_selection->colorIndex(run); }, this)) {
    setObjectName("mainWindow");
    setAcceptDrops(true);
    createViews();
    createActions();
    connectSession();
    restoreState();
    updateActions();
}

MainWindow::~MainWindow() {
    // Jobs and questions end before the views that hear from them go.
    delete m_controller;
    delete m_worker;
}

void MainWindow::createViews() {
    m_messageBar = new MessageBar;
    m_runsPanel = new RunsPanel(m_selection, m_runsModel);
    m_runsCard = card(m_runsPanel);
    m_status = new StatusLine;
    setStatusBar(m_status);
    auto* centre = new QWidget;
    auto* layout = new QVBoxLayout(centre);
    layout->setContentsMargins(kGap, kGap, kGap, 2);
    layout->setSpacing(kGap);
    layout->addWidget(m_messageBar);
    layout->addWidget(createCentre(), 1);
    setCentralWidget(centre);
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
        if (isInside(now, m_throughput)) m_stabilityWasLast = false;
        if (isInside(now, m_stability)) m_stabilityWasLast = true;
    });
}

QWidget* MainWindow::createCentre() {
    m_throughput = new ThroughputView(m_selection, m_worker, nullptr);
    m_stability = new StabilityView(m_selection, m_worker, nullptr);
    m_summary = new SummaryView(m_selection, m_worker, nullptr);
    m_tabs = new QTabWidget;
    m_tabs->setObjectName("tabs");
    m_tabs->setDocumentMode(true);
    m_tabs->tabBar()->setDrawBase(false);
    m_tabs->addTab(m_summary, tr("Kernels"));
    m_tabs->addTab(createEventsView(m_selection, m_worker), tr("Events"));
    m_tabs->addTab(createGenerationView(m_selection, m_worker), tr("Generation"));
    connect(m_tabs, &QTabWidget::tabBarClicked, this, [this] { setBottomCollapsed(false); });

    m_viewsSplitter = splitter(Qt::Horizontal, "viewsSplitter");
    m_viewsSplitter->addWidget(card(m_throughput));
    m_viewsSplitter->addWidget(card(m_stability));
    m_viewsSplitter->setStretchFactor(0, 5);
    m_viewsSplitter->setStretchFactor(1, 6);
    m_bottomCard = card(m_tabs, 4);
    m_rowsSplitter = splitter(Qt::Vertical, "rowsSplitter");
    m_rowsSplitter->addWidget(m_viewsSplitter);
    m_rowsSplitter->addWidget(m_bottomCard);
    m_rowsSplitter->setStretchFactor(0, 3);
    m_rowsSplitter->setStretchFactor(1, 2);
    m_mainSplitter = splitter(Qt::Horizontal, "mainSplitter");
    m_mainSplitter->addWidget(m_runsCard);
    m_mainSplitter->addWidget(m_rowsSplitter);
    m_mainSplitter->setStretchFactor(0, 0);
    m_mainSplitter->setStretchFactor(1, 1);
    return m_mainSplitter;
}

void MainWindow::setBottomCollapsed(bool collapsed) {
    m_bottomCollapsed = collapsed;
    // Only the tab bar stays; a click on a tab opens the panel again.
    const int barHeight = m_tabs->tabBar()->sizeHint().height() + 4;
    m_bottomCard->setMinimumHeight(collapsed ? barHeight : barHeight * 3);
    m_bottomCard->setMaximumHeight(collapsed ? barHeight : QWIDGETSIZE_MAX);
    if (QAction* action = m_actions.value("bottomPanel")) action->setChecked(!collapsed);
}

}  // namespace gui
