// Exponent histogram of one tensor at one step: a bar per binade, with marks where the format ends at the scale used
// and what share of the elements lies outside.
#pragma once

#include "profiling/metrics.h"
#include "views/plot_widget.h"

#include <optional>
#include <vector>

namespace gui {

/// What is drawn. The snapshot is of the histogram's step; none: only the bars are known.
struct ExponentData {
    profiling::TensorRow tensor;
    profiling::ExponentRow exponents;
    std::optional<profiling::SnapshotRow> snapshot;
};

class ExponentPlot : public PlotWidget {
    Q_OBJECT
public:
    explicit ExponentPlot(QWidget* parent);

    void setHistogram(std::optional<ExponentData> data, const QColor& color);
    const std::optional<ExponentData>& histogram() const { return m_data; }
    void setLogarithmic(bool on);
    bool isLogarithmic() const { return m_logarithmic; }

    struct Mark {
        double exponent;  // log2 of the magnitude that the cast maps to the format's value
        QString name;
    };
    /// Smallest subnormal, smallest normal, largest value; none where nothing was cast.
    std::vector<Mark> marks() const;
    /// "0.41 % below, 0 % above": the share of elements outside the format at this scale, or why none is stated.
    QString below() const;
    QString above() const;
    /// Elements of the binade [2^exponent, 2^(exponent+1)).
    std::int64_t countAt(int exponent) const;

private:
    void redraw();
    double barTop(std::int64_t count) const;
    std::int64_t elements() const;
    bool hasBlocks() const;
    double scale() const;
    Limits binades() const;
    Limits heights() const;
    void paintOutside(QCPPainter* painter) const;
    QRectF placeOf(std::size_t i, const std::vector<Mark>& edges, const QVector<QRectF>& taken,
                   const QFontMetrics& metrics) const;
    void paintMarks(QCPPainter* painter) const;
    void paintShares(QCPPainter* painter, double top) const;
    QColor ink(int paletteIndex) const;
    std::vector<ReadoutRow> barReadout(double x) const;
    QString histogramCsv() const;

    std::optional<ExponentData> m_data;
    QColor m_color;
    bool m_logarithmic = false;
    int m_fittedHeight = 0;
    QCPBars* m_bars;
};

}  // namespace gui
