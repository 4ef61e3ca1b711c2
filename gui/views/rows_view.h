// A tab with a table about the current run, asked from the database again whenever it changed: events, generations.
// A click on a row with a step pins the step cursor there.
#pragma once

#include "models/table_model.h"
#include "query_worker.h"
#include "selection.h"

#include <QTimer>
#include <QWidget>

#include <functional>
#include <vector>

class QLabel;
class QStackedWidget;
class QTableView;

namespace gui {

class RowsView : public QWidget {
    Q_OBJECT
public:
    using Question = std::function<std::vector<TableRow>(profiling::Store&, profiling::RunId)>;

    /// `question` runs on the reading thread. `emptyText` says what would be here and why it is not.
    RowsView(Selection* selection, QueryWorker* worker, std::vector<TableColumn> columns, Question question,
             const QString& emptyText, QWidget* parent = nullptr);

    QTableView* table() const { return m_table; }
    const TableModel* model() const { return m_model; }

private:
    void refresh();
    void showRows(const std::vector<TableRow>& rows);

    Selection* m_selection;
    QueryWorker* m_worker;
    Question m_question;
    TableModel* m_model;
    QTableView* m_table;
    QStackedWidget* m_stack;
    QTimer m_fitRows;
};

RowsView* createEventsView(Selection* selection, QueryWorker* worker, QWidget* parent = nullptr);
RowsView* createGenerationView(Selection* selection, QueryWorker* worker, QWidget* parent = nullptr);

}  // namespace gui
