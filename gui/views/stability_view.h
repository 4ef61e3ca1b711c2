// "Numerical stability" of the current run: amax and scale of picked tensors, the heat map tensor × step, and below
// them the loss or the exponents of one tensor. The cursor is the same in all; all but the exponents share the step
// axis.
#pragma once

#include "views/heat_map_plot.h"
#include "views/loss_plot.h"
#include "views/tensor_plot.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include <memory>
#include <vector>

class QComboBox;
class QLabel;
class QStackedWidget;
class QTabBar;

namespace gui {

class ExponentsView;
class QueryWorker;
class Selection;
class TensorPicker;

class StabilityView : public QWidget {
    Q_OBJECT
public:
    StabilityView(Selection* selection, QueryWorker* worker, QWidget* parent = nullptr);

    void fit();
    bool zoomBack();
    void setHeatMetric(profiling::HeatMetric metric);

    int seriesCount() const { return m_amax->lineCount() + m_loss->lineCount(); }
    int pointCount() const { return static_cast<int>(m_amax->pointCount() + m_loss->pointCount()); }
    TensorPlot* tensorPlot() const { return m_amax; }
    HeatMapPlot* heatPlot() const { return m_heat; }
    LossPlot* lossPlot() const { return m_loss; }
    ExponentsView* exponents() const { return m_exponents; }
    TensorPicker* picker() const { return m_picker; }

public slots:
    void setTheme(const PlotStyle& style);
    void refresh();

signals:
    void newRunRequested();
    void problem(const QString& text);

private:
    struct RunAnswer;
    struct HeatAnswer;
    struct SnapshotsAnswer;

    void createHeader();
    void createPlots();
    QWidget* createLower();
    void connectSources();
    void currentRunChanged();
    void askSteps();
    void askHeat();
    void askSnapshots();
    void takeSteps(const RunAnswer& answer);
    void takeHeat(std::shared_ptr<const HeatAnswer> answer);
    void takeSnapshots(const SnapshotsAnswer& answer);
    void chooseTensors();
    void showTensors();
    void showExponentsOf(const std::vector<profiling::TensorRow>& tensors);
    void toggleTensor(profiling::TensorId tensor);
    void userPicked(const std::vector<profiling::TensorId>& tensors);
    void updateEmptyState();

    Selection* m_selection;
    QueryWorker* m_worker;
    PlotStyle m_style;
    profiling::HeatMetric m_metric = profiling::HeatMetric::Headroom;

    std::vector<profiling::TensorRow> m_tensors;  // of the current run
    QStringList m_userNames;                      // picked by hand; the same names are picked in the next run
    bool m_tensorsKnown = false;
    bool m_anyCast = false;  // some tensor was cast: there are scales and headroom
    QString m_precision;
    QElapsedTimer m_heatAge;
    QTimer m_heatTimer;

    QLabel* m_title = nullptr;
    QComboBox* m_modeBox = nullptr;
    QComboBox* m_metricBox = nullptr;
    TensorPicker* m_picker = nullptr;
    PlotGroup* m_group = nullptr;
    TensorPlot* m_amax = nullptr;
    HeatMapPlot* m_heat = nullptr;
    LossPlot* m_loss = nullptr;
    ExponentsView* m_exponents = nullptr;
    QTabBar* m_lowerTabs = nullptr;
    QStackedWidget* m_lower = nullptr;
};

}  // namespace gui
