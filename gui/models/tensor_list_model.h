// The tensors of one run for the picker: ticked ones are drawn, each with the worst value of the metric shown.
#pragma once

#include "profiling/queries.h"

#include <QAbstractListModel>

#include <vector>

namespace gui {

struct TensorItem {
    profiling::TensorRow tensor;
    double worst = 0;  // NaN: nothing recorded
};

class TensorListModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role { WorstRole = Qt::UserRole + 1, TensorIdRole, NameRole, RoleRole };
    /// Selecting more keeps the plot readable no longer: the oldest tick goes.
    static constexpr int kMaxTicked = 8;

    explicit TensorListModel(QObject* parent = nullptr);

    /// `items` in the order they are listed (worst first). Ticks of tensors that are still there stay.
    void setItems(std::vector<TensorItem> items, profiling::HeatMetric metric);
    const std::vector<TensorItem>& items() const { return m_items; }

    void setTicked(std::vector<profiling::TensorId> ticked);
    const std::vector<profiling::TensorId>& ticked() const { return m_ticked; }

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

signals:
    void tickedByUser();

private:
    QString valueText(const TensorItem& item) const;

    std::vector<TensorItem> m_items;
    std::vector<profiling::TensorId> m_ticked;
    profiling::HeatMetric m_metric = profiling::HeatMetric::Headroom;
};

/// "1.2 bits", "0.41 %", "31.5 dB": one value of a heat map with its unit.
QString heatValueText(profiling::HeatMetric metric, double value);

/// `map` without the results of GEMMs (output, dgrad, wgrad), which are never cast and would be empty rows. Operands
/// that stayed in BF16 or FP32 keep their rows: that they are empty tells which layers are not quantised.
profiling::HeatMap operandsOf(const profiling::HeatMap& map);

/// Each tensor with its worst value in `map`, worst first; tensors without data last, by name.
std::vector<TensorItem> worstFirst(const profiling::HeatMap& map, profiling::HeatMetric metric);

}  // namespace gui
