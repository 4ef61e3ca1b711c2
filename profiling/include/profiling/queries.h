// Reading: one function per question, plain rows out. The window, the reports and the command line know no SQL.
#pragma once

#include "profiling/error.h"
#include "profiling/events.h"
#include "profiling/inspections.h"
#include "profiling/session.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace profiling {

struct RunRow {
    RunId id;
    std::string uuid;
    std::string name;
    BenchId bench;
    std::string benchName;
    bool isBaseline = false;                // of its bench
    RunStatus status = RunStatus::Running;  // `running` whose process is gone or silent reads `crashed`
    std::int64_t startedAtNs = 0;
    std::int64_t endedAtNs = 0;  // 0 while running or crashed
    RunDescription description;  // name and bench repeated
    std::string programVersion;
    std::int64_t stepsDone = 0;  // steps stored
    std::int64_t lastStep = -1;
    double lastLoss = 0;            // NaN before the first step
    std::optional<double> valLoss;  // newest validation, also when it was NaN or infinite
    // Median of the "tokens_per_second" samples of a benchmark; without any, over stored steps after the first two.
    // 0 when unknown.
    double tokensPerSecond = 0;
};

struct StepRow {
    std::int64_t step;
    std::int64_t startNs;
    std::int64_t durationNs;
    double loss;                    // NaN when it was not finite
    std::optional<double> valLoss;  // NaN: validated, and it was not a number
    double gradNorm;
    double lr;
    std::int64_t tokens;
    bool skipped;
    std::int64_t memoryBytes;
};

struct TensorRow {
    TensorId id;
    std::string layer;
    std::string role;
    std::string format;
    std::int64_t rows;
    std::int64_t cols;
    std::string fullName() const { return layer + "." + role; }
};

/// A tensor that was not cast at this step has a NaN scale, amax and count; its counters are 0 and its sums NaN.
struct SnapshotRow {
    std::int64_t step;
    double amax;   // may be infinite
    double scale;  // block recipes: of the block with the largest amax; NaN: not cast
    std::int64_t saturated;
    std::int64_t underflowed;
    std::int64_t zeros;
    std::int64_t nonFinite;
    std::int64_t count;
    double sqError;
    double sqSignal;
    // NaN: not cast, or recorded by a program that did not know of them.
    double scaleInvMin = std::numeric_limits<double>::quiet_NaN();  // smallest factor that dequantises a block
    double scaleInvMax = std::numeric_limits<double>::quiet_NaN();  // largest; both 1/scale for one per tensor
    double smallest = std::numeric_limits<double>::quiet_NaN();     // smallest |x| that is not 0; NaN: not looked for
};

/// Elements per binade of one tensor at one step: counts[i] holds those with 2^(firstExponent+i) <= |x| <
/// 2^(firstExponent+i+1). Zeros, FP32 subnormals and non-finite elements are left out.
struct ExponentRow {
    std::int64_t step = 0;
    int firstExponent = 0;
    std::vector<std::uint32_t> counts;
};

/// What a heat map cell shows. Definitions in resources/docs/numbers.md.
enum class HeatMetric : std::uint8_t {
    Headroom = 1,     // bits below saturation: log2(format max / (amax·scale)); negative: saturated
    Saturated = 2,    // share of elements, 0 … 1
    Underflowed = 3,  // share of elements, 0 … 1
    Sqnr = 4          // dB
};
const char* name(HeatMetric metric);

/// tensors × steps, row-major; NaN where there is no snapshot. Steps are binned when there are more than maxColumns:
/// a bin shows its worst value (least headroom, most saturation or underflow, lowest SQNR).
struct HeatMap {
    std::vector<TensorRow> tensors;
    std::int64_t firstStep = 0;
    std::int64_t stepsPerColumn = 1;
    int columns = 0;
    std::vector<float> values;  // [tensors][columns]
};

/// Totals of kernels (or of ranges) with one name.
struct SummaryRow {
    std::string name;
    std::string kind;  // "kernel", or the range's level "module", "layer", "phase", "step"
    std::int64_t calls = 0;
    std::int64_t totalNs = 0;
    double meanNs = 0;
    std::int64_t medianNs = 0;
    std::int64_t minNs = 0;
    std::int64_t maxNs = 0;
    double stddevNs = 0;
    double share = 0;  // of the summed step time in the window of steps, 0 … 1
    double flops = 0;  // summed; 0 when none was stated
    double bytes = 0;
};

struct RangeRow {
    std::int64_t id;
    std::int64_t parent;
    std::int64_t step;
    int thread;
    int depth;
    std::string name;
    std::string kind;
    std::int64_t startNs;
    std::int64_t durationNs;
    double flops = 0;  // 0: not stated
    double bytes = 0;
};

struct EventRow {
    std::int64_t step;
    std::int64_t atNs;
    engine::Severity severity;
    std::string code;
    std::string text;
};

struct SampleRow {
    RunId run;
    std::string metric;
    std::int64_t i;
    double value;
};

struct GenerationRow {
    std::int64_t step;
    std::string prompt;
    std::string output;
    int correct;
    int total;
};

/// What could not be recorded or imported, counted.
struct ImportIssueRow {
    std::string name;  // "ranges_dropped"
    engine::Severity severity;
    std::int64_t count;
    std::string firstExample;
};

struct FileInfo {
    std::string path;
    std::int64_t bytes = 0;  // with its WAL
    bool wal = false;        // journal mode
    int schemaVersion = 0;
    std::int64_t runs = 0;
    std::int64_t snapshots = 0;
    std::int64_t inspections = 0;
};

struct StepWindow {
    std::int64_t first = 0;
    std::int64_t last = INT64_MAX;  // inclusive
};

/// A database open for reading. One thread at a time per Store; open as many as there are threads.
/// Never writes, except that a WAL file needs its -shm companion where the folder is writable.
class Store {
public:
    /// Throws Error: missing, unreadable, not a database, not ours (names the application id), newer schema. A file of
    /// an older schema is read as it is: what it has no columns for is absent.
    static std::unique_ptr<Store> open(const std::string& path);
    virtual ~Store() = default;

    /// Changes whenever any program committed to the file: cheap enough to poll ten times a second.
    virtual std::int64_t dataVersion() = 0;
    virtual FileInfo fileInfo() = 0;

    /// Newest first.
    virtual std::vector<RunRow> runs() = 0;
    /// Throws Error (Usage) when there is no such run; the text lists the ids there are.
    virtual RunRow run(RunId run) = 0;

    /// Rows with step > after, in step order.
    virtual std::vector<StepRow> steps(RunId run, std::int64_t after = -1) = 0;
    virtual std::vector<TensorRow> tensors(RunId run) = 0;
    virtual std::vector<SnapshotRow> snapshots(RunId run, TensorId tensor, std::int64_t after = -1) = 0;
    /// The newest snapshot at `step` or before it.
    virtual std::optional<SnapshotRow> snapshotAt(RunId, TensorId, std::int64_t /*step*/) { return {}; }
    /// The newest exponent histogram at `step` or before it.
    virtual std::optional<ExponentRow> exponentsAt(RunId, TensorId, std::int64_t /*step*/) { return {}; }
    /// All histograms of a tensor, in step order.
    virtual std::vector<ExponentRow> exponents(RunId, TensorId) { return {}; }
    /// Steps that have a histogram, in order.
    virtual std::vector<std::int64_t> exponentSteps(RunId, TensorId) { return {}; }
    virtual HeatMap heatMap(RunId run, HeatMetric metric, StepWindow window, int maxColumns) = 0;

    virtual std::vector<SummaryRow> kernelSummary(RunId run, StepWindow window) = 0;  // most time first
    virtual std::vector<SummaryRow> rangeSummary(RunId run, StepWindow window) = 0;
    virtual std::vector<RangeRow> ranges(RunId run, StepWindow window) = 0;  // by start; kernels included

    virtual std::vector<EventRow> events(RunId run) = 0;
    virtual std::vector<SampleRow> samples(RunId run) = 0;
    virtual std::vector<GenerationRow> generations(RunId run) = 0;
    virtual std::vector<ImportIssueRow> importIssues(RunId) { return {}; }

    /// Newest first.
    virtual std::vector<InspectionRow> inspections() { return {}; }
    /// In the order of inspection. Throws Error (Usage) when there is no such inspection; the text lists the ids.
    virtual std::vector<InspectedTensor> inspectedTensors(InspectionId) { return {}; }

    /// A consistent copy of the whole file (SQLite backup); replaces nothing: throws Error when target exists
    /// unless overwrite.
    virtual void saveCopy(const std::string& target, bool overwrite) = 0;

protected:
    Store() = default;
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
};

}  // namespace profiling
