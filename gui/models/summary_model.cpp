// Turns summary rows into cells; see summary_model.h.
#include "models/summary_model.h"

#include "models/formatting.h"

#include <QStringList>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gui {
namespace {

double rateOf(const profiling::SummaryRow& row) {  // FLOP per ns are GFLOP/s
    if (row.flops <= 0 || row.totalNs <= 0) return std::numeric_limits<double>::quiet_NaN();
    return row.flops / static_cast<double>(row.totalNs);
}

}  // namespace

SummaryModel::SummaryModel(QObject* parent) : QAbstractTableModel(parent), m_rows(std::make_shared<const Rows>()) {}

void SummaryModel::setRows(std::shared_ptr<const Rows> rows) {
    const auto sameRow = [](const profiling::SummaryRow& a, const profiling::SummaryRow& b) {
        return a.name == b.name && a.kind == b.kind;
    };
    const bool inPlace =
        !rows->empty() && std::equal(rows->begin(), rows->end(), m_rows->begin(), m_rows->end(), sameRow);
    if (!inPlace) beginResetModel();
    m_rows = std::move(rows);
    if (inPlace) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
    } else {
        endResetModel();
    }
}

int SummaryModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows->size());
}

int SummaryModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant SummaryModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount() || index.column() >= ColumnCount) return {};
    const profiling::SummaryRow& row = (*m_rows)[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole:
            return text(row, index.column());
        case Qt::ToolTipRole:
            return toolTip(row, index.column());
        case Qt::TextAlignmentRole:
            return QVariant::fromValue<Qt::Alignment>(Qt::AlignVCenter |
                                                      (index.column() <= Kind ? Qt::AlignLeft : Qt::AlignRight));
        case SortRole:
            return sortValue(row, index.column());
        case ShareRole:
            return row.share;
        default:
            return {};
    }
}

QVariant SummaryModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) return {};
    if (role == Qt::DisplayRole) {
        const QStringList titles{tr("Name"),      tr("Kind"),        tr("Calls"),    tr("Total (ms)"), tr("Share (%)"),
                                 tr("Mean (ms)"), tr("Median (ms)"), tr("Min (ms)"), tr("Max (ms)"),   tr("GFLOP/s")};
        return titles[section];
    }
    if (role == Qt::TextAlignmentRole) {
        return QVariant::fromValue<Qt::Alignment>(Qt::AlignVCenter |
                                                  (section <= Kind ? Qt::AlignLeft : Qt::AlignRight));
    }
    if (role == Qt::ToolTipRole && section == Share) return tr("Of the summed time of the steps shown");
    if (role == Qt::ToolTipRole && section == Rate) return tr("Stated floating-point operations per time spent");
    return {};
}

QVariant SummaryModel::sortValue(const profiling::SummaryRow& row, int column) const {
    switch (column) {
        case Name:
            return QString::fromStdString(row.name);
        case Kind:
            return QString::fromStdString(row.kind);
        case Calls:
            return QVariant::fromValue<qlonglong>(row.calls);
        case Total:
            return QVariant::fromValue<qlonglong>(row.totalNs);
        case Share:
            return row.share;
        case Mean:
            return row.meanNs;
        case Median:
            return QVariant::fromValue<qlonglong>(row.medianNs);
        case Min:
            return QVariant::fromValue<qlonglong>(row.minNs);
        case Max:
            return QVariant::fromValue<qlonglong>(row.maxNs);
        default:
            return std::isnan(rateOf(row)) ? -1.0 : rateOf(row);  // unknown rates sort below all others
    }
}

QString SummaryModel::text(const profiling::SummaryRow& row, int column) const {
    switch (column) {
        case Name:
            return QString::fromStdString(row.name);
        case Kind:
            return QString::fromStdString(row.kind);
        case Calls:
            return grouped(row.calls);
        case Total:
            return milliseconds(static_cast<double>(row.totalNs));
        case Share:
            return significant(row.share * 100);
        case Mean:
            return milliseconds(row.meanNs);
        case Median:
            return milliseconds(static_cast<double>(row.medianNs));
        case Min:
            return milliseconds(static_cast<double>(row.minNs));
        case Max:
            return milliseconds(static_cast<double>(row.maxNs));
        default:
            return significant(rateOf(row));
    }
}

QString SummaryModel::toolTip(const profiling::SummaryRow& row, int column) const {
    switch (column) {
        case Name:
            return QString::fromStdString(row.name);
        case Total:
            return tr("%1 ns").arg(grouped(row.totalNs));
        case Share:
            return tr("%1 %").arg(fullNumber(row.share * 100));
        case Mean:
            return tr("%1 ns, standard deviation %2 ns").arg(fullNumber(row.meanNs), fullNumber(row.stddevNs));
        case Median:
            return tr("%1 ns").arg(grouped(row.medianNs));
        case Min:
            return tr("%1 ns").arg(grouped(row.minNs));
        case Max:
            return tr("%1 ns").arg(grouped(row.maxNs));
        case Rate:
            return row.flops > 0 ? tr("%1 FLOP, %2 moved").arg(fullNumber(row.flops), bytes(row.bytes))
                                 : tr("No operation count was stated for this name");
        default:
            return {};
    }
}

QString asText(const QAbstractItemModel& model, QModelIndexList indexes) {
    std::sort(indexes.begin(), indexes.end(), [](const QModelIndex& a, const QModelIndex& b) {
        return a.row() != b.row() ? a.row() < b.row() : a.column() < b.column();
    });
    QStringList header;
    for (int column = 0; column < model.columnCount(); ++column) {
        header += model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    }
    QStringList lines{header.join('\t')};
    int lastRow = -1;
    for (const QModelIndex& index : indexes) {
        if (index.row() == lastRow) continue;
        lastRow = index.row();
        QStringList cells;
        for (int column = 0; column < model.columnCount(); ++column) {
            cells += model.index(lastRow, column).data(Qt::DisplayRole).toString();
        }
        lines += cells.join('\t');
    }
    return lines.join('\n') + '\n';
}

}  // namespace gui
