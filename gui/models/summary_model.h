// The table of kernels or ranges: one row per name, numbers right aligned, one unit per column in the header.
// Sort with a QSortFilterProxyModel on SortRole.
#pragma once

#include "profiling/queries.h"

#include <QAbstractTableModel>
#include <QModelIndexList>

#include <memory>
#include <vector>

namespace gui {

class SummaryModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, Kind, Calls, Total, Share, Mean, Median, Min, Max, Rate, ColumnCount };
    enum Role { SortRole = Qt::UserRole + 1, ShareRole };  // ShareRole: 0 … 1, for a bar behind the text

    using Rows = std::vector<profiling::SummaryRow>;

    explicit SummaryModel(QObject* parent = nullptr);

    /// Keeps the rows' places when the names are the same, so that a selection survives a live update.
    void setRows(std::shared_ptr<const Rows> rows);
    const Rows& rows() const { return *m_rows; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QVariant sortValue(const profiling::SummaryRow& row, int column) const;
    QString text(const profiling::SummaryRow& row, int column) const;
    QString toolTip(const profiling::SummaryRow& row, int column) const;

    std::shared_ptr<const Rows> m_rows;
};

/// Rows of `indexes` (of any table model) as tab separated text with a header line, for the clipboard.
QString asText(const QAbstractItemModel& model, QModelIndexList indexes);

}  // namespace gui
