// Loss of the visible runs: raw values faintly, smoothed on top, validation as dots, events as triangles.
#pragma once

#include "profiling/queries.h"
#include "views/plot_widget.h"

#include <map>
#include <vector>

namespace gui {

class LossPlot : public PlotWidget {
    Q_OBJECT
public:
    struct Run {
        profiling::RunId id;
        QString name;
        int color = 0;
    };
    /// Steps before the newest that are read again: a validation is stored after its step.
    static constexpr std::int64_t kOverlap = 8;

    LossPlot(Selection* selection, QWidget* parent);

    void setRuns(std::vector<Run> runs);
    /// Rows with step > after replace what there was of them.
    void addSteps(profiling::RunId run, std::int64_t after, const std::vector<profiling::StepRow>& rows);
    /// From where to read on; −1: from the start.
    std::int64_t readFrom(profiling::RunId run) const;
    void setEvents(const std::vector<profiling::EventRow>& events);
    void forget();
    void redraw();

private:
    struct Data {
        Series loss;
        Series validation;
    };
    void addRun(const Run& run, const Data& data);

    std::vector<Run> m_runs;
    std::map<std::int64_t, Data> m_data;  // by run id
};

}  // namespace gui
