// "Numerical stability" of the current run: amax and scale of picked tensors, the heat map tensor × step, the loss.
// All three share the step axis and the cursor.
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

namespace gui {

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
};

}  // namespace gui
