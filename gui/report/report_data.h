// Everything a report says, collected from the database into plain structs: queries happen here, drawing elsewhere.
#pragma once

#include "profiling/metrics.h"
#include "profiling/queries.h"
#include "report/report_writer.h"

#include <optional>
#include <string>
#include <vector>

namespace gui {

struct ReportTensor {
    profiling::TensorRow tensor;
    double leastHeadroom = 0;  // bits, over all steps
    std::vector<profiling::SnapshotRow> snapshots;
};

struct ReportRun {
    profiling::RunRow row;
    int colorIndex = 0;  // place in the report; the colour of the run in every plot
    std::vector<profiling::StepRow> steps;
    std::vector<double> tokensPerSecond;  // one value per repeat of a benchmark, else per step
    bool fromRepeats = false;             // which of the two
    profiling::Spread throughput;
    double stepNs = 0;              // median
    double flopsPerSecond = 0;      // median; 0 when the run does not state its work
    double lastLoss = 0;            // NaN without steps
    std::optional<double> valLoss;  // newest
    double peakMemoryBytes = 0;
    std::int64_t skippedSteps = 0;
    profiling::HeatMap headroom;             // no tensors unless the run has FP8 snapshots
    std::vector<ReportTensor> worstTensors;  // least headroom first
    std::vector<profiling::SummaryRow> kernels;
    std::vector<profiling::EventRow> events;
    std::vector<profiling::GenerationRow> generations;
};

struct ReportData {
    profiling::FileInfo file;
    std::vector<ReportRun> runs;
    std::size_t baseline = 0;  // index into runs

    const ReportRun& baselineRun() const { return runs[baseline]; }
};

/// The runs that a request means, in report order. Throws profiling::Error for an unknown id or an empty file.
std::vector<profiling::RunRow> reportRuns(profiling::Store& store, const ReportRequest& request);

ReportData collectReportData(profiling::Store& store, const ReportRequest& request);

}  // namespace gui
