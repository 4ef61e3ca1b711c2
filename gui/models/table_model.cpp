// Read-only table of texts.
#include "models/table_model.h"

#include <algorithm>
#include <utility>

namespace gui {

TableModel::TableModel(std::vector<TableColumn> columns, QObject* parent)
    : QAbstractTableModel(parent), m_columns(std::move(columns)) {}

void TableModel::setRows(std::vector<TableRow> rows) {
    const auto same = [](const TableRow& a, const TableRow& b) { return a.step == b.step && a.cells == b.cells; };
    const bool grew = rows.size() >= m_rows.size() && std::equal(m_rows.begin(), m_rows.end(), rows.begin(), same);
    if (!grew) {
        beginResetModel();
        m_rows = std::move(rows);
        endResetModel();
        return;
    }
    if (rows.size() == m_rows.size()) return;
    beginInsertRows({}, static_cast<int>(m_rows.size()), static_cast<int>(rows.size()) - 1);
    m_rows = std::move(rows);
    endInsertRows();
}

QString TableModel::toText() const {
    QStringList titles;
    for (const TableColumn& column : m_columns) titles << column.title;
    QString text = titles.join('\t') + '\n';
    for (const TableRow& row : m_rows) text += row.cells.join('\t') + '\n';
    return text;
}

int TableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_columns.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const TableRow& row = m_rows[static_cast<std::size_t>(index.row())];
    const bool number = m_columns[static_cast<std::size_t>(index.column())].number;
    switch (role) {
        case Qt::DisplayRole:
        case Qt::ToolTipRole:
            return row.cells.value(index.column());
        case Qt::TextAlignmentRole:
            return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        case StepRole:
            return QVariant::fromValue<qlonglong>(row.step);
        case SeverityRole:
            return row.severity;
        default:
            return {};
    }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
    const TableColumn& column = m_columns[static_cast<std::size_t>(section)];
    if (role == Qt::DisplayRole) return column.title;
    if (role == Qt::TextAlignmentRole) {
        return QVariant((column.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    return {};
}

}  // namespace gui
