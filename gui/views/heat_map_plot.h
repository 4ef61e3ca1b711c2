// The heat map tensor × step: magnitude as colour, hatching where nothing was recorded, the colour scale in the header.
#pragma once

#include "profiling/queries.h"
#include "views/plot_widget.h"

#include <memory>
#include <vector>

namespace gui {

class HeatMapPlot : public PlotWidget {
    Q_OBJECT
public:
    HeatMapPlot(Selection* selection, QWidget* parent);

    void setMap(std::shared_ptr<const profiling::HeatMap> map, profiling::HeatMetric metric);
    const profiling::HeatMap* map() const { return m_map.get(); }
    /// Colour limits; the upper one may be exceeded by a few very good cells.
    QCPRange colorRange() const { return m_colors->dataRange(); }
    /// Colour of a cell as drawn; an invalid colour where it is hatched.
    QColor cellColor(int row, int column) const;

    /// Rows whose tensors are drawn as lines, with the lines' colours.
    void setPicked(std::vector<std::pair<profiling::TensorId, QColor>> picked);
    void setCividis(bool on);

signals:
    void tensorClicked(profiling::TensorId tensor);

private:
    double cell(int row, int column) const;
    int rowAt(double y) const;
    int columnAt(double x) const;
    void updateColors();
    void paintHatching(QCPPainter* painter) const;
    void paintFrame(QCPPainter* painter) const;
    void paintScale(QCPPainter* painter) const;
    void paintGroups(QCPPainter* painter) const;
    std::vector<ReadoutRow> cellReadout(double x, double y) const;
    QString mapCsv() const;

    std::shared_ptr<const profiling::HeatMap> m_map;
    profiling::HeatMetric m_metric = profiling::HeatMetric::Headroom;
    QCPColorMap* m_colors;
    bool m_cividis = false;
    bool m_clampedHigh = false;
    std::vector<std::pair<profiling::TensorId, QColor>> m_picked;
};

/// "layer.3" of "layer.3.mlp.fc1"; other names up to their first dot.
QString layerGroup(const std::string& layer);

}  // namespace gui
