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
    std::optional<SnapshotRow> snapshotAt(RunId run, TensorId tensor, std::int64_t step) override;
    std::optional<ExponentRow> exponentsAt(RunId run, TensorId tensor, std::int64_t step) override;
    std::vector<ExponentRow> exponents(RunId run, TensorId tensor) override;
    std::vector<std::int64_t> exponentSteps(RunId run, TensorId tensor) override;
    HeatMap heatMap(RunId run, HeatMetric metric, StepWindow window, int maxColumns) override;
    std::vector<SummaryRow> kernelSummary(RunId run, StepWindow window) override;
    std::vector<SummaryRow> rangeSummary(RunId run, StepWindow window) override;
    std::vector<RangeRow> ranges(RunId run, StepWindow window) override;
    std::vector<EventRow> events(RunId run) override;
    std::vector<SampleRow> samples(RunId run) override;
    std::vector<GenerationRow> generations(RunId run) override;
    std::vector<ImportIssueRow> importIssues(RunId run) override;
    std::vector<InspectionRow> inspections() override;
    std::vector<InspectedTensor> inspectedTensors(InspectionId inspection) override;
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

    /// Parameters: run, tensor, first step, last step. Columns as readSnapshot takes them.
    std::string snapshotsSql(std::string_view order);
    static SnapshotRow readSnapshot(const Statement& row);
    /// Asked each time: another program may migrate the file while it is open here.
    bool hasVersion2();
    void addProgress(RunRow& run);
    std::vector<double> repeats(RunId run);
    bool isHidden(RunId run);
    std::vector<SummaryRow> summarize(RunId run, StepWindow window, std::string_view sql);

    const std::string m_path;
    const std::unique_ptr<Database> m_database;
    std::map<RunId, Progress> m_progress;
};

}  // namespace profiling
