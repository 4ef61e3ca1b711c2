// Loss lines; see loss_plot.h.
#include "views/loss_plot.h"

#include "models/formatting.h"

#include <algorithm>
#include <cmath>

namespace gui {
namespace {

constexpr double kSmoothing = 0.9;
constexpr std::size_t kSmoothFrom = 20;  // fewer points are clear as they are

void cutAfter(Series& series, std::int64_t step) {
    while (!series.empty() && series.x.back() > static_cast<double>(step)) {
        series.x.pop_back();
        series.y.pop_back();
    }
}

}  // namespace

LossPlot::LossPlot(Selection* selection, QWidget* parent) : PlotWidget(selection, parent) {
    setCaption(tr("Loss (nats per token)"));
    setValueText([](int, std::size_t, double value) { return significant(value, 4); });
    connect(this, &PlotWidget::styleChanged, this, &LossPlot::redraw);
}

void LossPlot::setRuns(std::vector<Run> runs) {
    m_runs = std::move(runs);
    redraw();
}

void LossPlot::addSteps(profiling::RunId run, std::int64_t after, const std::vector<profiling::StepRow>& rows) {
    Data& data = m_data[run.value];
    cutAfter(data.loss, after);
    cutAfter(data.validation, after);
    for (const profiling::StepRow& row : rows) {
        const double step = static_cast<double>(row.step);
        data.loss.add(step, std::isfinite(row.loss) ? row.loss : std::nan(""));
        if (row.valLoss) data.validation.add(step, *row.valLoss);
    }
}

std::int64_t LossPlot::readFrom(profiling::RunId run) const {
    const auto found = m_data.find(run.value);
    if (found == m_data.end() || found->second.loss.empty()) return -1;
    return std::max<std::int64_t>(-1, std::llround(found->second.loss.x.back()) - kOverlap);
}

void LossPlot::setEvents(const std::vector<profiling::EventRow>& events) {
    std::vector<StepMark> marks;
    for (const profiling::EventRow& event : events) {
        if (event.step < 0) continue;  // said before the first step; the events table has it
        const QColor color = event.severity == engine::Severity::Error     ? style().trouble
                             : event.severity == engine::Severity::Warning ? style().runLineColor(1)
                                                                           : style().secondary;
        marks.push_back({static_cast<double>(event.step), color, QString::fromStdString(event.text)});
    }
    setMarks(std::move(marks));
    replot(rpQueuedReplot);
}

void LossPlot::forget() {
    m_data.clear();
    m_runs.clear();
    setMarks({});
    redraw();
}

void LossPlot::addRun(const Run& run, const Data& data) {
    const bool smooth = data.loss.size() >= kSmoothFrom;
    LineLook raw;
    raw.name = run.name;
    raw.pen = style().runPen(run.color);
    raw.inLegend = !smooth;
    if (smooth) {
        QColor faint = raw.pen.color();
        faint.setAlpha(90);
        raw.pen = QPen(faint, 1);
    }
    setData(addLine(raw), data.loss);
    if (smooth) {
        LineLook average;
        average.name = run.name;
        average.pen = style().runPen(run.color);
        average.inReadout = false;
        setData(addLine(average), smoothed(data.loss, kSmoothing));
    }
    if (data.validation.empty()) return;
    LineLook validation;
    validation.name = tr("%1, validation").arg(run.name);
    validation.pen = style().runPen(run.color);
    validation.joined = false;
    validation.inLegend = false;
    validation.scatter = QCPScatterStyle(QCPScatterStyle::ssCircle, validation.pen, QBrush(style().card), 6);
    setData(addLine(validation), data.validation);
}

void LossPlot::redraw() {
    clearLines();
    for (const Run& run : m_runs) {
        const auto found = m_data.find(run.id.value);
        if (found != m_data.end()) addRun(run, found->second);
    }
    if (group() != nullptr) group()->dataChanged(this);
}

}  // namespace gui
