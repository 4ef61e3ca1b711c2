// Collects the runs of a report. Only the few tensors that come closest to saturation are read in full; the heat map
// query, which bins in the database layer, finds them.
#include "report/report_data.h"

#include "models/tensor_list_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gui {

namespace {

constexpr int kHeatColumns = 240;  // a report page is about as many millimetres wide
constexpr std::size_t kWorstTensors = 4;
constexpr std::size_t kUnsteadySteps = 2;  // the first steps warm caches up and are not counted

double median(const std::vector<double>& values) {
    return profiling::spread(values).median;
}

double lastFinite(const std::vector<profiling::StepRow>& steps) {
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        if (std::isfinite(step->loss)) return step->loss;
    }
    return std::numeric_limits<double>::quiet_NaN();
}

void collectThroughput(profiling::Store& store, ReportRun& run) {
    for (const profiling::SampleRow& sample : store.samples(run.row.id)) {
        if (sample.metric == "tokens_per_second") run.tokensPerSecond.push_back(sample.value);
    }
    run.fromRepeats = !run.tokensPerSecond.empty();
    std::vector<double> stepNs;
    const std::size_t first = run.steps.size() > kUnsteadySteps ? kUnsteadySteps : 0;
    for (std::size_t i = first; i < run.steps.size(); ++i) {
        stepNs.push_back(static_cast<double>(run.steps[i].durationNs));
        if (!run.fromRepeats) run.tokensPerSecond.push_back(profiling::tokensPerSecond(run.steps[i]));
    }
    run.throughput = profiling::spread(run.tokensPerSecond);
    run.stepNs = median(stepNs);
    if (run.stepNs > 0) run.flopsPerSecond = run.row.description.flopsPerStep / (run.stepNs * 1e-9);
}

void collectTensors(profiling::Store& store, ReportRun& run) {
    run.headroom = operandsOf(store.heatMap(run.row.id, profiling::HeatMetric::Headroom, {}, kHeatColumns));
    const auto isCast = [](const profiling::TensorRow& tensor) {
        return !std::isnan(profiling::formatMax(tensor.format));
    };
    const auto& tensors = run.headroom.tensors;
    if (std::none_of(tensors.begin(), tensors.end(), isCast)) {  // nothing has headroom
        run.headroom = {};
        return;
    }
    const auto columns = static_cast<std::size_t>(std::max(run.headroom.columns, 0));
    std::vector<double> least(run.headroom.tensors.size(), std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < least.size(); ++i) {
        for (std::size_t column = 0; column < columns; ++column) {
            const double value = run.headroom.values[i * columns + column];
            if (value < least[i]) least[i] = value;
        }
    }
    std::vector<std::size_t> order(least.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return least[a] < least[b]; });
    order.erase(std::remove_if(order.begin(), order.end(), [&](std::size_t i) { return !isCast(tensors[i]); }),
                order.end());
    order.resize(std::min(order.size(), kWorstTensors));
    for (std::size_t i : order) {
        const profiling::TensorRow& tensor = run.headroom.tensors[i];
        run.worstTensors.push_back({tensor, least[i], store.snapshots(run.row.id, tensor.id)});
    }
}

ReportRun collectRun(profiling::Store& store, const profiling::RunRow& row, int colorIndex) {
    ReportRun run;
    run.row = row;
    run.colorIndex = colorIndex;
    run.steps = store.steps(row.id);
    collectThroughput(store, run);
    run.lastLoss = lastFinite(run.steps);
    run.peakMemoryBytes = static_cast<double>(row.description.memoryBytes);
    for (const profiling::StepRow& step : run.steps) {
        if (step.valLoss) run.valLoss = step.valLoss;
        if (step.skipped) ++run.skippedSteps;
        run.peakMemoryBytes = std::max(run.peakMemoryBytes, static_cast<double>(step.memoryBytes));
    }
    if (!run.valLoss) run.valLoss = row.valLoss;
    collectTensors(store, run);
    run.kernels = store.kernelSummary(row.id, {});
    run.events = store.events(row.id);
    run.generations = store.generations(row.id);
    return run;
}

std::size_t baselineIndex(const std::vector<profiling::RunRow>& rows, profiling::RunId asked) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (asked ? rows[i].id == asked : rows[i].isBaseline) return i;
    }
    if (!asked) return 0;
    throw profiling::Error(profiling::ErrorKind::Usage, "--baseline " + std::to_string(asked.value),
                           "this run is not among the runs of the report", "add it to --runs or choose one of them");
}

}  // namespace

std::vector<profiling::RunRow> reportRuns(profiling::Store& store, const ReportRequest& request) {
    std::vector<profiling::RunRow> rows;
    if (!request.runs.empty()) {
        for (profiling::RunId id : request.runs) {
            const bool twice = std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.id == id; });
            if (!twice) rows.push_back(store.run(id));
        }
        return rows;
    }
    rows = store.runs();
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    if (rows.empty()) {
        throw profiling::Error(profiling::ErrorKind::Usage, request.database.toStdString(), "holds no runs yet",
                               "record one first, for example with amaxscope-cli train --db FILE");
    }
    return rows;
}

ReportData collectReportData(profiling::Store& store, const ReportRequest& request) {
    ReportData data;
    data.file = store.fileInfo();
    const std::vector<profiling::RunRow> rows = reportRuns(store, request);
    data.baseline = baselineIndex(rows, request.baseline);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        data.runs.push_back(collectRun(store, rows[i], static_cast<int>(i)));
    }
    return data;
}

}  // namespace gui
