// What is painted over and around a plot's data. PlotOverlay: the step cursor and its read-out, on a layer of its own,
// so that moving the mouse does not redraw the data. PlotDecoration: caption, legend, marks of events and of values
// that have no place on the axis.
#pragma once

#include <qcustomplot.h>

#include "views/plot_widget.h"

#include <functional>
#include <vector>

namespace gui {

class PlotOverlay : public QCPLayerable {
    Q_OBJECT
public:
    explicit PlotOverlay(PlotWidget* plot);

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    QRect clipRect() const override;

private:
    void drawCursor(QCPPainter* painter, double step);
    void drawReadout(QCPPainter* painter, const QString& title, const std::vector<ReadoutRow>& rows, double atPixel);

    PlotWidget* m_plot;
};

class PlotDecoration : public QCPLayerable {
    Q_OBJECT
public:
    explicit PlotDecoration(PlotWidget* plot);

    /// Height of the strip above the axes that holds caption and legend.
    static int headerHeight(const PlotStyle& style);

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    QRect clipRect() const override;

private:
    int drawCaption(QCPPainter* painter);
    void drawLegend(QCPPainter* painter, int left);
    void drawStepMarks(QCPPainter* painter);
    void drawEdgeMarks(QCPPainter* painter);

    PlotWidget* m_plot;
};

/// What a view paints itself, on the layer it names: bands and hatching below the data, labels above it.
class PlotPainter : public QCPLayerable {
    Q_OBJECT
public:
    enum class Area { Axes, WholePlot };
    PlotPainter(PlotWidget* plot, const QString& layer, Area area, std::function<void(QCPPainter*)> paint);

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    QRect clipRect() const override;

private:
    PlotWidget* m_plot;
    Area m_area;
    std::function<void(QCPPainter*)> m_paint;
};

}  // namespace gui
