// The table of kernels or ranges of the current run: sortable, filtered, copied as text; for all steps or for the one
// under the pinned cursor.
#pragma once

#include "models/summary_model.h"
#include "views/plot_style.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QTableView;

namespace gui {

class QueryWorker;
class Selection;

class SummaryView : public QWidget {
    Q_OBJECT
public:
    SummaryView(Selection* selection, QueryWorker* worker, QWidget* parent = nullptr);

    int rowCount() const;  // after the filter
    SummaryModel* model() const { return m_model; }
    QTableView* table() const { return m_table; }
    void copySelection() const;

    /// Same interface as the plots; a table has nothing to zoom: fit() makes the columns as wide as their text.
    void fit();
    bool zoomBack() { return false; }
    int seriesCount() const { return rowCount(); }

public slots:
    void setTheme(const PlotStyle& style);
    void refresh();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void dropColumns();
    void createControls();
    void createTable();
    void updateStatus();

    Selection* m_selection;
    QueryWorker* m_worker;
    SummaryModel* m_model;
    QSortFilterProxyModel* m_sorted;
    QComboBox* m_what = nullptr;
    QLineEdit* m_filter = nullptr;
    QLabel* m_status = nullptr;
    QTableView* m_table = nullptr;
    bool m_columnsSized = false;
};

}  // namespace gui
