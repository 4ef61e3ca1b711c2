// What every view shows: one object that all views read and change, so that views never talk to each other.
#pragma once

#include "profiling/events.h"

#include <QObject>
#include <QString>
#include <QVector>

#include <optional>
#include <vector>

namespace gui {

class Selection : public QObject {
    Q_OBJECT
public:
    explicit Selection(QObject* parent = nullptr);

    /// Runs drawn in the comparing views, in list order.
    const std::vector<profiling::RunId>& visibleRuns() const { return m_visible; }
    void setVisibleRuns(std::vector<profiling::RunId> runs);

    /// The run that the single-run views (stability, kernels, events) show. None: value 0.
    profiling::RunId currentRun() const { return m_current; }
    void setCurrentRun(profiling::RunId run);

    /// What differences are measured against. None: value 0.
    profiling::RunId baseline() const { return m_baseline; }
    void setBaseline(profiling::RunId run);

    /// Tensors of the current run whose amax and scale are drawn.
    const std::vector<profiling::TensorId>& tensors() const { return m_tensors; }
    void setTensors(std::vector<profiling::TensorId> tensors);

    /// The step under the dashed cursor, the same in all views.
    std::optional<std::int64_t> cursorStep() const { return m_cursor; }
    bool cursorPinned() const { return m_pinned; }
    void setCursorStep(std::optional<std::int64_t> step);  // ignored while pinned
    void pinCursor(std::int64_t step);
    void freeCursor();

    /// One colour and marker per run, stable while the file is open: an index into PlotStyle::runColors().
    int colorIndex(profiling::RunId run);

    /// Back to nothing chosen, with fresh colours: another file was opened.
    void clear();

signals:
    void visibleRunsChanged();
    void currentRunChanged();
    void baselineChanged();
    void tensorsChanged();
    void cursorChanged();

private:
    std::vector<profiling::RunId> m_visible;
    profiling::RunId m_current;
    profiling::RunId m_baseline;
    std::vector<profiling::TensorId> m_tensors;
    std::optional<std::int64_t> m_cursor;
    bool m_pinned = false;
    std::vector<profiling::RunId> m_colors;
};

}  // namespace gui
