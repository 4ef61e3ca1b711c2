// "Precision vs throughput": one bar per visible run with every repeat as a dot, and below it what the speed costs in
// loss against the baseline.
#pragma once

#include "models/run_figures.h"
#include "views/plot_widget.h"

#include <QWidget>

#include <memory>
#include <vector>

class QComboBox;
class QLabel;

namespace gui {

class QueryWorker;
class Selection;

class ThroughputView : public QWidget {
    Q_OBJECT
public:
    enum class Metric { TokensPerSecond, StepMs, Memory };

    ThroughputView(Selection* selection, QueryWorker* worker, QWidget* parent = nullptr);

    void fit();
    bool zoomBack();
    void setMetric(Metric metric);
    Metric metric() const { return m_metric; }

    int seriesCount() const { return static_cast<int>(m_figures.size()); }
    int pointCount() const;  // repeats drawn as dots
    const std::vector<RunFigures>& figures() const { return m_figures; }
    PlotWidget* barPlot() const { return m_bars; }
    PlotWidget* scatterPlot() const { return m_scatter; }
    /// What stands above the bar of a run: its value for the baseline, else the difference to it.
    QString barLabel(int run) const;

public slots:
    void setTheme(const PlotStyle& style);
    void refresh();

signals:
    void newBenchmarkRequested();
    void problem(const QString& text);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void createHeader();
    void createPlots();
    void connectSources();
    void redraw();
    void drawBars();
    void drawScatter();
    void drawFront(const std::vector<double>& x, const std::vector<double>& y);
    void labelScatter(QCPPainter* painter) const;
    void labelBars(QCPPainter* painter) const;
    void placeNames();
    double scatterPad() const;
    const Figure& figureOf(const RunFigures& run) const;
    const RunFigures* baseline() const;
    QString valueText(double value) const;
    std::vector<ReadoutRow> barReadout(double x) const;
    std::vector<ReadoutRow> scatterReadout(double x, double y) const;
    double scatterY(const RunFigures& run) const;
    QString barCsv() const;

    Selection* m_selection;
    QueryWorker* m_worker;
    PlotStyle m_style;
    Metric m_metric = Metric::TokensPerSecond;
    std::shared_ptr<RunFiguresCache> m_cache;  // touched on the worker's thread only
    std::vector<RunFigures> m_figures;         // visible runs, in list order
    std::vector<RunFigures> m_base;            // the baseline, visible or not; empty: none
    std::vector<QCPBars*> m_barItems;

    QLabel* m_title = nullptr;
    QLabel* m_against = nullptr;
    QComboBox* m_metricBox = nullptr;
    PlotWidget* m_bars = nullptr;
    PlotWidget* m_scatter = nullptr;
};

}  // namespace gui
