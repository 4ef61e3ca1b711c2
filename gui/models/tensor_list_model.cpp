// Picker of tensors; see tensor_list_model.h.
#include "models/tensor_list_model.h"

#include "models/formatting.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gui {

using profiling::HeatMetric;

TensorListModel::TensorListModel(QObject* parent) : QAbstractListModel(parent) {}

void TensorListModel::setItems(std::vector<TensorItem> items, HeatMetric metric) {
    const bool sameRows =
        std::equal(items.begin(), items.end(), m_items.begin(), m_items.end(),
                   [](const TensorItem& a, const TensorItem& b) { return a.tensor.id == b.tensor.id; });
    if (!sameRows) beginResetModel();
    m_items = std::move(items);
    m_metric = metric;
    if (!sameRows) {
        endResetModel();
    } else if (!m_items.empty()) {
        emit dataChanged(index(0), index(rowCount() - 1));
    }
}

void TensorListModel::setTicked(std::vector<profiling::TensorId> ticked) {
    if (ticked == m_ticked) return;
    m_ticked = std::move(ticked);
    if (!m_items.empty()) emit dataChanged(index(0), index(rowCount() - 1), {Qt::CheckStateRole});
}

int TensorListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_items.size());
}

QVariant TensorListModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const TensorItem& item = m_items[static_cast<std::size_t>(index.row())];
    const bool isTicked = std::find(m_ticked.begin(), m_ticked.end(), item.tensor.id) != m_ticked.end();
    switch (role) {
        case Qt::DisplayRole:
            return tr("%1   %2").arg(QString::fromStdString(item.tensor.fullName()),
                                     heatValueText(m_metric, item.worst));
        case Qt::ToolTipRole:
            return tr("%1: %2, %3 × %4")
                .arg(QString::fromStdString(item.tensor.fullName()), QString::fromStdString(item.tensor.format))
                .arg(item.tensor.rows)
                .arg(item.tensor.cols);
        case Qt::CheckStateRole:
            return isTicked ? Qt::Checked : Qt::Unchecked;
        case WorstRole:
            return item.worst;
        case TensorIdRole:
            return QVariant::fromValue<qlonglong>(item.tensor.id.value);
        default:
            return {};
    }
}

bool TensorListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != Qt::CheckStateRole || !index.isValid() || index.row() >= rowCount()) return false;
    const profiling::TensorId id = m_items[static_cast<std::size_t>(index.row())].tensor.id;
    const auto found = std::find(m_ticked.begin(), m_ticked.end(), id);
    const bool wanted = value.toInt() == Qt::Checked;
    if (wanted == (found != m_ticked.end())) return true;
    if (wanted) {
        m_ticked.push_back(id);
        if (m_ticked.size() > kMaxTicked) m_ticked.erase(m_ticked.begin());
    } else {
        m_ticked.erase(found);
    }
    emit dataChanged(this->index(0), this->index(rowCount() - 1), {Qt::CheckStateRole});
    emit tickedByUser();
    return true;
}

Qt::ItemFlags TensorListModel::flags(const QModelIndex& index) const {
    if (!index.isValid()) return Qt::NoItemFlags;
    return Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable | Qt::ItemNeverHasChildren;
}

QString heatValueText(HeatMetric metric, double value) {
    if (std::isnan(value)) return missingText();
    switch (metric) {
        case HeatMetric::Headroom:
            return QObject::tr("%1 bits").arg(significant(value, 2));
        case HeatMetric::Saturated:
        case HeatMetric::Underflowed:
            return percent(value);
        case HeatMetric::Sqnr:
            return QObject::tr("%1 dB").arg(significant(value));
    }
    return missingText();
}

std::vector<TensorItem> worstFirst(const profiling::HeatMap& map, HeatMetric metric) {
    const bool highIsBad = metric == HeatMetric::Saturated || metric == HeatMetric::Underflowed;
    std::vector<TensorItem> items;
    const std::size_t columns = static_cast<std::size_t>(map.columns);
    for (std::size_t row = 0; row < map.tensors.size(); ++row) {
        double worst = std::numeric_limits<double>::quiet_NaN();
        for (std::size_t column = 0; column < columns; ++column) {
            const double value = static_cast<double>(map.values[row * columns + column]);
            if (std::isnan(value)) continue;
            const bool isWorse = highIsBad ? value > worst : value < worst;
            if (std::isnan(worst) || isWorse) worst = value;
        }
        items.push_back({map.tensors[row], worst});
    }
    std::stable_sort(items.begin(), items.end(), [&](const TensorItem& a, const TensorItem& b) {
        if (std::isnan(a.worst) || std::isnan(b.worst)) return std::isnan(b.worst) && !std::isnan(a.worst);
        return highIsBad ? a.worst > b.worst : a.worst < b.worst;
    });
    return items;
}

}  // namespace gui
