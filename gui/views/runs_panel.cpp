// Wires the runs list to the Selection: current row ↔ current run, check boxes → visible runs.
#include "views/runs_panel.h"

#include "models/run_details.h"
#include "views/run_delegate.h"
#include "views/run_details_panel.h"

#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace gui {

using profiling::RunId;

namespace {

RunId runOf(const QModelIndex& index) {
    return RunId{index.data(RunsModel::RunIdRole).toLongLong()};
}

QLabel* titleLabel(const QString& text) {
    auto* label = new QLabel(text);
    label->setProperty("role", "title");
    return label;
}

}  // namespace

RunsPanel::RunsPanel(Selection* selection, RunsModel* model, QWidget* parent)
    : QWidget(parent), m_selection(selection), m_model(model), m_filter(new RunsFilterModel(this)) {
    m_filter->setSourceModel(model);
    createWidgets();
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_filter->setFilter(text);
        m_problem->setText(m_filter->filter().problem());
        m_problem->setVisible(!m_problem->text().isEmpty());
        showEmptyOrList();
    });
    connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& current) {
        if (current.isValid()) m_selection->setCurrentRun(runOf(current));
    });
    connect(m_selection, &Selection::currentRunChanged, this, &RunsPanel::showCurrent);
    connect(m_selection, &Selection::baselineChanged, this, [this] {
        m_model->setBaseline(m_selection->baseline());
        showDetails();
    });
    connect(m_model, &RunsModel::checkedRunsChanged, this,
            [this] { m_selection->setVisibleRuns(m_model->checkedRuns()); });
    for (const auto changed : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved}) {
        connect(m_filter, changed, this, &RunsPanel::showCurrent);
        connect(m_filter, changed, this, &RunsPanel::showEmptyOrList);
    }
    connect(m_filter, &QAbstractItemModel::modelReset, this, &RunsPanel::showCurrent);
    connect(m_filter, &QAbstractItemModel::modelReset, this, &RunsPanel::showEmptyOrList);
    connect(m_filter, &QAbstractItemModel::dataChanged, this, &RunsPanel::showDetails);
    showEmptyOrList();
}

void RunsPanel::createWidgets() {
    m_search = new QLineEdit;
    m_search->setObjectName("runSearch");
    m_search->setPlaceholderText(tr("filter: precision:fp8 loss<2"));
    m_search->setToolTip(RunFilter::help());
    m_search->setClearButtonEnabled(true);
    m_search->setAccessibleName(tr("Filter runs"));
    m_problem = new QLabel;
    m_problem->setProperty("role", "problem");
    m_problem->setWordWrap(true);
    m_problem->hide();

    m_list = new QListView;
    m_list->setObjectName("runsList");
    m_list->setAccessibleName(tr("Runs"));
    m_list->setModel(m_filter);
    m_list->setItemDelegate(new RunDelegate(m_list));
    m_list->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_list->setEditTriggers(QAbstractItemView::EditKeyPressed);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setMouseTracking(true);
    m_list->setContextMenuPolicy(Qt::ActionsContextMenu);
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_list);
    m_stack->addWidget(createEmptyPage());

    m_details = new RunDetailsPanel;
    auto* top = new QWidget;
    auto* topLayout = new QVBoxLayout(top);
    topLayout->setContentsMargins(0, 0, 0, 0);
    topLayout->addWidget(titleLabel(tr("Runs")));
    topLayout->addWidget(m_search);
    topLayout->addWidget(m_problem);
    topLayout->addWidget(m_stack, 1);
    auto* bottom = new QWidget;
    auto* bottomLayout = new QVBoxLayout(bottom);
    bottomLayout->setContentsMargins(0, 8, 0, 0);
    bottomLayout->addWidget(titleLabel(tr("Selected run")));
    bottomLayout->addWidget(m_details, 1);

    auto* splitter = new QSplitter(Qt::Vertical);
    splitter->setObjectName("runsSplitter");
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(top);
    splitter->addWidget(bottom);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(10, 8, 10, 8);
    layout->addWidget(splitter);
}

QWidget* RunsPanel::createEmptyPage() {
    auto* page = new QWidget;
    m_emptyText = new QLabel;
    m_emptyText->setWordWrap(true);
    m_emptyText->setProperty("role", "caption");
    auto* button = new QPushButton(tr("New run…"));
    button->setObjectName("emptyNewRun");
    m_emptyButton = button;
    connect(button, &QPushButton::clicked, this, &RunsPanel::newRunWanted);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 8, 0, 0);
    layout->addWidget(m_emptyText);
    layout->addWidget(button, 0, Qt::AlignLeft);
    layout->addStretch(1);
    return page;
}

void RunsPanel::showEmptyOrList() {
    const bool empty = m_filter->rowCount() == 0;
    const bool filteredAway = empty && m_model->rowCount() > 0;
    const bool buttonHadFocus = m_emptyButton->hasFocus();
    m_stack->setCurrentIndex(empty ? 1 : 0);
    if (!empty && buttonHadFocus) m_list->setFocus();  // not the filter, which is next in line
    m_emptyButton->setVisible(!filteredAway);
    m_emptyText->setText(
        filteredAway ? tr("None of the %1 runs passes the filter. Clear the field to see all.").arg(m_model->rowCount())
                     : tr("Training runs and benchmarks of this file are listed here. It has none yet: start one, "
                          "or open a file recorded elsewhere."));
}

void RunsPanel::showCurrent() {
    const RunId wanted = m_selection->currentRun();
    for (int row = 0; wanted && row < m_filter->rowCount(); ++row) {
        const QModelIndex index = m_filter->index(row, 0);
        if (runOf(index) != wanted) continue;
        if (m_list->currentIndex() != index) m_list->setCurrentIndex(index);
        break;
    }
    showDetails();
}

void RunsPanel::showDetails() {
    const profiling::RunRow* run = m_model->find(m_selection->currentRun());
    if (run == nullptr) {
        m_details->setDetails({{tr("none"), QString(), QString()}});
        return;
    }
    const FallbackText fallbacks = m_fallbacksOf == run->id ? m_fallbacks : FallbackText{};
    m_details->setDetails(runDetails(*run, m_model->find(m_selection->baseline()), fallbacks));
}

void RunsPanel::setFallbacks(RunId run, const FallbackText& fallbacks) {
    m_fallbacksOf = run;
    m_fallbacks = fallbacks;
    showDetails();
}

std::vector<RunId> RunsPanel::selectedRuns() const {
    std::vector<RunId> runs;
    for (const QModelIndex& index : m_list->selectionModel()->selectedIndexes()) runs.push_back(runOf(index));
    const auto current = std::find(runs.begin(), runs.end(), m_selection->currentRun());
    if (current != runs.end()) std::rotate(runs.begin(), current, current + 1);
    return runs;
}

void RunsPanel::editName(RunId run) {
    for (int row = 0; row < m_filter->rowCount(); ++row) {
        const QModelIndex index = m_filter->index(row, 0);
        if (runOf(index) != run) continue;
        m_list->setFocus();
        m_list->setCurrentIndex(index);
        m_list->edit(index);
        return;
    }
}

void RunsPanel::setListActions(const QList<QAction*>& actions) {
    m_list->addActions(actions);
}

void RunsPanel::focusList() {
    if (m_stack->currentIndex() == 0) {
        m_list->setFocus();
    } else {
        m_emptyButton->setFocus();
    }
}

void RunsPanel::focusSearch() {
    m_search->setFocus();
    m_search->selectAll();
}

}  // namespace gui
