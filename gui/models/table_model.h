// A small read-only table of finished texts: events, generations. Big tables have models of their own.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <vector>

namespace gui {

struct TableColumn {
    QString title;
    bool number = false;  // right aligned
};

struct TableRow {
    QStringList cells;
    std::int64_t step = -1;  // −1: belongs to no step
    int severity = 0;        // of engine::Severity; 0: none
};

class TableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role : int { StepRole = Qt::UserRole + 1, SeverityRole };

    explicit TableModel(std::vector<TableColumn> columns, QObject* parent = nullptr);

    /// Rows that are already there stay; only new ones at the end are inserted. Anything else starts over.
    void setRows(std::vector<TableRow> rows);
    const std::vector<TableRow>& rows() const { return m_rows; }

    /// The whole table, tab separated with a header line: what Copy puts on the clipboard.
    QString toText() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<TableColumn> m_columns;
    std::vector<TableRow> m_rows;
};

}  // namespace gui
