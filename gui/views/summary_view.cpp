// Table of kernels and ranges; see summary_view.h.
#include "views/summary_view.h"

#include "models/formatting.h"
#include "query_worker.h"
#include "selection.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

#include <array>

namespace gui {

SummaryView::SummaryView(Selection* selection, QueryWorker* worker, QWidget* parent)
    : QWidget(parent),
      m_selection(selection),
      m_worker(worker),
      m_model(new SummaryModel(this)),
      m_sorted(new QSortFilterProxyModel(this)) {
    setObjectName(QStringLiteral("summaryView"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 4, 8, 4);
    layout->setSpacing(4);
    createControls();
    createTable();
    connect(m_selection, &Selection::currentRunChanged, this, &SummaryView::refresh);
    connect(m_selection, &Selection::cursorChanged, this, [this, last = std::optional<std::int64_t>()]() mutable {
        const auto pinned = m_selection->cursorPinned() ? m_selection->cursorStep() : std::nullopt;
        if (pinned == last) return;  // only the pinned step matters, not the mouse
        last = pinned;
        refresh();
    });
    connect(m_worker, &QueryWorker::databaseChanged, this, &SummaryView::refresh);
    connect(m_worker, &QueryWorker::databaseOpened, this, &SummaryView::refresh);
    setTheme(PlotStyle::light());
    updateStatus();
}

void SummaryView::createControls() {
    m_what = new QComboBox(this);
    m_what->setObjectName(QStringLiteral("summaryWhat"));
    m_what->setAccessibleName(tr("Rows of the table"));
    m_what->addItems({tr("Kernels"), tr("Ranges")});
    m_filter = new QLineEdit(this);
    m_filter->setObjectName(QStringLiteral("summaryFilter"));
    m_filter->setPlaceholderText(tr("Filter by name"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setMaximumWidth(260);
    m_status = new QLabel(this);
    m_status->setObjectName(QStringLiteral("summaryStatus"));
    auto* row = new QHBoxLayout;
    row->addWidget(m_what);
    row->addWidget(m_filter, 1);
    row->addStretch();
    row->addWidget(m_status);
    static_cast<QVBoxLayout*>(layout())->addLayout(row);
    connect(m_what, &QComboBox::currentIndexChanged, this, &SummaryView::refresh);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_sorted->setFilterFixedString(text);
        updateStatus();
    });
}

void SummaryView::createTable() {
    m_sorted->setSourceModel(m_model);
    m_sorted->setSortRole(SummaryModel::SortRole);
    m_sorted->setFilterKeyColumn(SummaryModel::Name);
    m_sorted->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_table = new QTableView(this);
    m_table->setObjectName(QStringLiteral("summaryTable"));
    m_table->setModel(m_sorted);
    m_table->setSortingEnabled(true);
    m_table->sortByColumn(SummaryModel::Total, Qt::DescendingOrder);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setShowGrid(false);
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setWordWrap(false);
    m_table->setTextElideMode(Qt::ElideMiddle);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setSectionResizeMode(SummaryModel::Name, QHeaderView::Stretch);
    auto* copy = new QAction(tr("Copy rows"), m_table);
    copy->setObjectName(QStringLiteral("summaryCopy"));
    copy->setShortcut(QKeySequence::Copy);
    copy->setShortcutContext(Qt::WidgetShortcut);
    connect(copy, &QAction::triggered, this, &SummaryView::copySelection);
    m_table->addAction(copy);
    m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
    static_cast<QVBoxLayout*>(layout())->addWidget(m_table, 1);
}

int SummaryView::rowCount() const {
    return m_sorted->rowCount();
}

void SummaryView::copySelection() const {
    QModelIndexList rows = m_table->selectionModel()->selectedRows();
    if (rows.isEmpty()) {  // nothing chosen: the whole table
        for (int row = 0; row < m_sorted->rowCount(); ++row) rows += m_sorted->index(row, 0);
    }
    QApplication::clipboard()->setText(asText(*m_sorted, rows));
}

void SummaryView::refresh() {
    const profiling::RunId run = m_selection->currentRun();
    if (!run) {
        m_model->setRows(std::make_shared<const SummaryModel::Rows>());
        updateStatus();
        return;
    }
    profiling::StepWindow window;
    if (m_selection->cursorPinned() && m_selection->cursorStep()) {
        window = {*m_selection->cursorStep(), *m_selection->cursorStep()};
    }
    const bool kernels = m_what->currentIndex() == 0;
    m_worker->ask<SummaryModel::Rows>(
        this, "summary",
        [run, window, kernels](profiling::Store& store) {
            return kernels ? store.kernelSummary(run, window) : store.rangeSummary(run, window);
        },
        [this](std::shared_ptr<const SummaryModel::Rows> rows) {
            m_model->setRows(std::move(rows));
            if (!m_columnsSized && m_model->rowCount() > 0) fit();
            updateStatus();
        });
}

void SummaryView::fit() {
    for (int column = SummaryModel::Kind; column < SummaryModel::ColumnCount; ++column) {
        m_table->resizeColumnToContents(column);
        m_table->setColumnWidth(column, m_table->columnWidth(column) + 12);  // values grow while a run is live
    }
    m_columnsSized = m_model->rowCount() > 0;
    dropColumns();
}

/// Nothing scrolls sideways: where the names would have no room, the columns that say least go first.
void SummaryView::dropColumns() {
    constexpr int kNameChars = 22;
    constexpr std::array kOrder{SummaryModel::Min, SummaryModel::Median, SummaryModel::Kind, SummaryModel::Max,
                                SummaryModel::Mean};
    for (const auto column : kOrder) m_table->setColumnHidden(column, false);
    int room = m_table->viewport()->width() - m_table->fontMetrics().averageCharWidth() * kNameChars;
    for (int column = SummaryModel::Kind; column < SummaryModel::ColumnCount; ++column) {
        room -= m_table->columnWidth(column);
    }
    for (const auto column : kOrder) {
        if (room >= 0) break;
        room += m_table->columnWidth(column);
        m_table->setColumnHidden(column, true);
    }
}

void SummaryView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (m_columnsSized) dropColumns();
}

void SummaryView::updateStatus() {
    QString steps = tr("all steps");
    if (m_selection->cursorPinned() && m_selection->cursorStep()) {
        steps = tr("step %1 (Esc in a plot: all steps)").arg(grouped(*m_selection->cursorStep()));
    }
    if (!m_selection->currentRun()) {
        m_status->setText(tr("Time per kernel and range. No run is selected: choose one in the list."));
    } else if (m_model->rowCount() == 0) {
        m_status->setText(tr("Nothing was recorded in %1: the run was recorded without ranges, or has not finished a "
                             "step yet.")
                              .arg(steps));
    } else {
        m_status->setText(tr("%1 of %2 names, %3").arg(rowCount()).arg(m_model->rowCount()).arg(steps));
    }
}

void SummaryView::setTheme(const PlotStyle& style) {
    QPalette palette = m_status->palette();
    palette.setColor(QPalette::WindowText, style.secondary);
    m_status->setPalette(palette);
    m_status->setFont(style.captionFont());
    m_table->setFont(style.textFont());
    m_table->horizontalHeader()->setFont(style.captionFont());
}

}  // namespace gui
