// amax and scale of the picked tensors on a log2 axis, with the bands where the format saturates and underflows.
#pragma once

#include "profiling/metrics.h"
#include "views/plot_widget.h"

#include <map>
#include <vector>

namespace gui {

class TensorPlot : public PlotWidget {
    Q_OBJECT
public:
    enum class Mode {
        Amax,   // amax, with what the format can hold at the scale used
        Scale,  // the scales; where each block has its own, that of the block with the largest amax and a band for all
        Scaled  // amax × scale ÷ format max: 1 is where saturation begins
    };

    TensorPlot(Selection* selection, QWidget* parent);

    void setMode(Mode mode);
    Mode mode() const { return m_mode; }
    /// What is drawn, in this order; the bands of the first with a scale are shown.
    void setTensors(std::vector<profiling::TensorRow> tensors);
    const std::vector<profiling::TensorRow>& tensors() const { return m_tensors; }
    /// Rows with step > after replace what there was of them.
    void addSnapshots(profiling::TensorId tensor, std::int64_t after, const std::vector<profiling::SnapshotRow>& rows);
    std::int64_t lastStep(profiling::TensorId tensor) const;
    void forget();
    void redraw();

    QColor tensorColor(int index) const;

private:
    using Rows = std::vector<profiling::SnapshotRow>;
    const Rows& rowsOf(const profiling::TensorRow& tensor) const;
    template <typename Value>
    Series seriesOf(const profiling::TensorRow& tensor, Value value) const;
    Series valuesOf(const profiling::TensorRow& tensor) const;
    Series limitOf(const profiling::TensorRow& tensor, double edge) const;
    const profiling::TensorRow* bandTensor() const;
    Limits blockLimits() const;
    void paintBlockScales(QCPPainter* painter, int index) const;
    void paintBands(QCPPainter* painter) const;
    void paintBand(QCPPainter* painter, const Series& edge, bool above, const QColor& color, const QString& name) const;
    QString pointText(int line, std::size_t point) const;

    Mode m_mode = Mode::Amax;
    std::vector<profiling::TensorRow> m_tensors;
    std::map<std::int64_t, Rows> m_rows;  // by tensor id
};

/// Magnitudes up to this become 0 in the cast: half of the least subnormal. NaN where nothing is cast.
double underflowEdge(const std::string& format);

}  // namespace gui
