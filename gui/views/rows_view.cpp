// The events and generation tabs.
#include "views/rows_view.h"

#include "models/formatting.h"
#include "views/theme.h"

#include <QHeaderView>
#include <QLabel>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <utility>

namespace gui {

using profiling::RunId;

namespace {

/// Errors and warnings in the colour for trouble; the severity is a word in its own column too.
class SeverityDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        if (index.data(TableModel::SeverityRole).toInt() >= static_cast<int>(engine::Severity::Error)) {
            option->palette.setColor(QPalette::Text, currentColors().trouble);
        }
    }
};

QString severityText(engine::Severity severity) {
    switch (severity) {
        case engine::Severity::Info:
            return QStringLiteral("info");
        case engine::Severity::Warning:
            return QStringLiteral("warning");
        case engine::Severity::Error:
            return QStringLiteral("error");
    }
    return {};
}

QString stepText(std::int64_t step) {
    return step < 0 ? QStringLiteral("start") : QString::number(step);
}

}  // namespace

RowsView::RowsView(Selection* selection, QueryWorker* worker, std::vector<TableColumn> columns, Question question,
                   const QString& emptyText, QWidget* parent)
    : QWidget(parent),
      m_selection(selection),
      m_worker(worker),
      m_question(std::move(question)),
      m_model(new TableModel(std::move(columns), this)),
      m_table(new QTableView),
      m_stack(new QStackedWidget) {
    m_table->setModel(m_model);
    m_table->setItemDelegate(new SeverityDelegate(m_table));
    m_table->setShowGrid(false);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_table->setWordWrap(true);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setHighlightSections(false);
    auto* empty = new QLabel(emptyText);
    empty->setWordWrap(true);
    empty->setProperty("role", "caption");
    empty->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    empty->setMargin(8);
    m_stack->addWidget(m_table);
    m_stack->addWidget(empty);
    m_stack->setCurrentIndex(1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);

    // Text wraps at another place when a column's width changes; once for all columns of one change.
    m_fitRows.setSingleShot(true);
    m_fitRows.setInterval(0);
    connect(&m_fitRows, &QTimer::timeout, m_table,
            [this] { m_table->verticalHeader()->resizeSections(QHeaderView::ResizeToContents); });
    connect(m_table->horizontalHeader(), &QHeaderView::sectionResized, this, [this] { m_fitRows.start(); });
    connect(m_selection, &Selection::currentRunChanged, this, &RowsView::refresh);
    connect(m_worker, &QueryWorker::databaseChanged, this, &RowsView::refresh);
    const auto jump = [this](const QModelIndex& index) {
        const auto step = index.data(TableModel::StepRole).toLongLong();
        if (step >= 0) m_selection->pinCursor(step);
    };
    connect(m_table, &QTableView::clicked, this, jump);
    connect(m_table, &QTableView::activated, this, jump);
}

void RowsView::refresh() {
    const RunId run = m_selection->currentRun();
    if (!run) {
        showRows({});
        return;
    }
    m_worker->ask<std::vector<TableRow>>(
        this, "rows", [question = m_question, run](profiling::Store& store) { return question(store, run); },
        [this, run](const std::shared_ptr<const std::vector<TableRow>>& rows) {
            if (run == m_selection->currentRun()) showRows(*rows);
        });
}

void RowsView::showRows(const std::vector<TableRow>& rows) {
    m_model->setRows(rows);
    m_stack->setCurrentIndex(rows.empty() ? 1 : 0);
    // Rows come while the table is hidden, too.
    for (int column = 0; column + 1 < m_model->columnCount(); ++column) m_table->resizeColumnToContents(column);
    m_fitRows.start();
}

RowsView* createEventsView(Selection* selection, QueryWorker* worker, QWidget* parent) {
    const auto question = [](profiling::Store& store, RunId run) {
        std::vector<TableRow> rows;
        for (const profiling::EventRow& event : store.events(run)) {
            rows.push_back({{stepText(event.step), severityText(event.severity), QString::fromStdString(event.code),
                             QString::fromStdString(event.text)},
                            event.step,
                            static_cast<int>(event.severity)});
        }
        return rows;
    };
    auto* view = new RowsView(
        selection, worker,
        {{QObject::tr("step"), true}, {QObject::tr("severity")}, {QObject::tr("code")}, {QObject::tr("what happened")}},
        question,
        QObject::tr("Fallbacks, saturation, non-finite values and checkpoints of the selected run "
                    "are listed here. It has none, or no run is selected."),
        parent);
    view->setObjectName("eventsView");
    return view;
}

RowsView* createGenerationView(Selection* selection, QueryWorker* worker, QWidget* parent) {
    const auto question = [](profiling::Store& store, RunId run) {
        std::vector<TableRow> rows;
        for (const profiling::GenerationRow& sample : store.generations(run)) {
            const QString score =
                sample.total > 0 ? QStringLiteral("%1 of %2").arg(sample.correct).arg(sample.total) : missingText();
            rows.push_back({{stepText(sample.step), score, QString::fromStdString(sample.prompt),
                             QString::fromStdString(sample.output)},
                            sample.step,
                            0});
        }
        return rows;
    };
    auto* view =
        new RowsView(selection, worker,
                     {{QObject::tr("step"), true},
                      {QObject::tr("right")},
                      {QObject::tr("prompt")},
                      {QObject::tr("greedy continuation")}},
                     question,
                     QObject::tr("What the model writes after its training is listed here. Runs on stride data "
                                 "make it when they end; the selected run has none."),
                     parent);
    view->setObjectName("generationView");
    return view;
}

}  // namespace gui
