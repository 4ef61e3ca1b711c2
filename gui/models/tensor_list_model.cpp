// Picker of tensors; see tensor_list_model.h.
#include "models/tensor_list_model.h"

#include "models/formatting.h"
#include "profiling/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gui {

using profiling::HeatMetric;

namespace {

QString formatText(const profiling::TensorRow& tensor) {
    const QString format = QString::fromStdString(tensor.format);
    return std::isnan(profiling::formatMax(tensor.format)) ? QObject::tr("%1, not cast").arg(format) : format;
}

}  // namespace

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

QString TensorListModel::valueText(const TensorItem& item) const {
    const bool neverCast = std::isnan(profiling::formatMax(item.tensor.format));
    return neverCast ? formatText(item.tensor) : heatValueText(m_metric, item.worst);
}

QVariant TensorListModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const TensorItem& item = m_items[static_cast<std::size_t>(index.row())];
    const bool isTicked = std::find(m_ticked.begin(), m_ticked.end(), item.tensor.id) != m_ticked.end();
    switch (role) {
        case Qt::DisplayRole:
            return tr("%1   %2").arg(QString::fromStdString(item.tensor.fullName()), valueText(item));
        case Qt::ToolTipRole:
            return tr("%1: %2, %3 × %4")
                .arg(QString::fromStdString(item.tensor.fullName()), formatText(item.tensor))
                .arg(item.tensor.rows)
                .arg(item.tensor.cols);
        case NameRole:
            return QString::fromStdString(item.tensor.fullName());
        case RoleRole:
            return QString::fromStdString(item.tensor.role);
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
            // Below this it is rounding in amax · scale.
            return QObject::tr("%1 bits").arg(significant(std::abs(value) < 0.005 ? 0.0 : value, 2));
        case HeatMetric::Saturated:
        case HeatMetric::Underflowed:
            return percent(value);
        case HeatMetric::Sqnr:
            return QObject::tr("%1 dB").arg(significant(value));
    }
    return missingText();
}

profiling::HeatMap operandsOf(const profiling::HeatMap& map) {
    profiling::HeatMap result;
    result.firstStep = map.firstStep;
    result.stepsPerColumn = map.stepsPerColumn;
    result.columns = map.columns;
    for (std::size_t row = 0; row < map.tensors.size(); ++row) {
        const std::string& role = map.tensors[row].role;
        if (role == "output" || role == "dgrad" || role == "wgrad") continue;
        result.tensors.push_back(map.tensors[row]);
        const auto first = map.values.begin() + static_cast<std::ptrdiff_t>(row) * map.columns;
        result.values.insert(result.values.end(), first, first + map.columns);
    }
    return result;
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
