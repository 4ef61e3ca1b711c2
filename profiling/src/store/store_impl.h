// The one implementation of Store, spread over a few files by question.
#pragma once

#include "profiling/queries.h"
#include "store/sqlite.h"

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace profiling {

/// Parameters: run, tensor, first step, last step. Columns as StoreImpl::readSnapshot takes them.
inline constexpr std::string_view kSnapshotsOfTensor =
    "SELECT step, amax, scale, saturated, underflowed, zeros, non_finite, count, sq_error, sq_signal"
    " FROM scale_snapshot WHERE run_id = ? AND tensor_id = ? AND step BETWEEN ? AND ? ORDER BY step";

class StoreImpl final : public Store {
public:
    explicit StoreImpl(const std::string& path);

    std::int64_t dataVersion() override;
    FileInfo fileInfo() override;
    std::vector<RunRow> runs() override;
    RunRow run(RunId id) override;
    std::vector<StepRow> steps(RunId run, std::int64_t after) override;
    std::vector<TensorRow> tensors(RunId run) override;
    std::vector<SnapshotRow> snapshots(RunId run, TensorId tensor, std::int64_t after) override;
    HeatMap heatMap(RunId run, HeatMetric metric, StepWindow window, int maxColumns) override;
    std::vector<SummaryRow> kernelSummary(RunId run, StepWindow window) override;
    std::vector<SummaryRow> rangeSummary(RunId run, StepWindow window) override;
    std::vector<RangeRow> ranges(RunId run, StepWindow window) override;
    std::vector<EventRow> events(RunId run) override;
    std::vector<SampleRow> samples(RunId run) override;
    std::vector<GenerationRow> generations(RunId run) override;
    std::vector<ImportIssueRow> importIssues(RunId run) override;
    void saveCopy(const std::string& target, bool overwrite) override;

private:
    /// What a run's steps add up to, so that listing the runs of a live file reads only steps not seen before.
    struct Progress {
        std::int64_t steps = 0;
        std::int64_t lastStep = -1;
        double lastLoss = std::numeric_limits<double>::quiet_NaN();
        std::vector<double> rates;    // tokens per second of every step after the first two
        std::size_t ratesSummed = 0;  // how many of them tokensPerSecond is the median of
        double tokensPerSecond = 0;
    };

    static SnapshotRow readSnapshot(const Statement& row);
    void addProgress(RunRow& run);
    std::vector<double> repeats(RunId run);
    bool isHidden(RunId run);
    std::vector<SummaryRow> summarize(RunId run, StepWindow window, std::string_view sql);

    const std::string m_path;
    const std::unique_ptr<Database> m_database;
    std::map<RunId, Progress> m_progress;
};

}  // namespace profiling
