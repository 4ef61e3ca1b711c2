// Recording: opens a run database for writing and turns a running trainer into rows.
//
//   trainer thread ── observer calls ──► queue ────────────────┬─► writer thread ──► SQLite (WAL)
//   each thread it is active on ── ranges ──► SPSC ring ─┘
#pragma once

#include "engine/observer.h"
#include "profiling/error.h"
#include "profiling/events.h"
#include "profiling/inspections.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace profiling {

enum class RunStatus : std::uint8_t { Running = 1, Finished = 2, Interrupted = 3, Failed = 4, Crashed = 5 };
const char* name(RunStatus status);

/// What is known about a run before its first step. JSON texts as engine::toJson writes them.
struct RunDescription {
    std::string name;
    BenchId bench;       // none: a run of its own
    std::string device;  // "cpu"
    std::string deviceName;
    std::string backend;
    std::string kernels;
    std::string precisionAsked;   // "auto"
    std::string precision;        // "fp8"
    std::string precisionReason;  // "" or why it differs or is emulated
    bool emulated = false;
    std::string recipeJson;  // "" unless fp8
    std::string modelJson;
    std::string trainJson;
    std::string hostJson;
    std::string data;
    std::uint64_t seed = 0;
    std::int64_t stepsPlanned = 0;
    std::int64_t firstStep = 0;
    std::int64_t parameters = 0;
    std::int64_t memoryBytes = 0;
    double flopsPerStep = 0;
    std::int64_t tokensPerStep = 0;
};

struct RecordOptions {
    bool ranges = true;
};

/// Writes one run. Observer calls come from one thread (the trainer's). Ranges are recorded of every thread that
/// activate()d the run, each through a ring of its own; a thread that activated no run records none.
/// A step is visible to readers within a second of its end.
/// Disk errors (full, read-only, vanished) do not disturb training: they surface in failure() and close().
class RunRecorder : public engine::StepObserver {
public:
    virtual RunId run() const = 0;

    /// Ranges of the calling thread go to this run until another run is activated or this one is closed.
    /// Several runs may take turns on one thread (benchmarks do), and several threads may have one run active.
    virtual void activate() = 0;

    /// A repeat of a benchmark: metric "tokens_per_second", "step_ms", …; i counts repeats from 0.
    virtual void addSample(const std::string& metric, std::int64_t i, double value) = 0;

    /// Why rows are waiting at the moment, "" while all is well. Writes are tried again with the same rows, and one
    /// that works makes this "" again. A full disk, a broken or read-only file shows at once; that another program
    /// holds the file shows only after a minute without a successful write. Thread-safe.
    virtual std::string failure() const = 0;

    /// Writes everything out and the final status; waits up to a minute for a file that another program holds.
    /// Throws Error when rows could not be written. Idempotent.
    /// A recorder destroyed without it marks the run `failed`.
    virtual void close(RunStatus status) = 0;
};

/// A database open for writing; creates the file (and its schema) when there is none. Several programs and several
/// Sessions may have one file open; each run has one writer. Thread-safe.
class Session {
public:
    /// Throws Error: not writable, not ours, newer schema (names both versions), locked, disk full.
    /// Runs left `running` by a process that is certainly gone are marked `crashed`.
    static std::shared_ptr<Session> open(const std::string& path);

    virtual ~Session() = default;
    virtual const std::string& path() const = 0;
    virtual std::unique_ptr<RunRecorder> startRun(const RunDescription& description, const RecordOptions& options) = 0;

    virtual BenchId createBench(const std::string& name) = 0;
    virtual void setBenchBaseline(BenchId bench, RunId run) = 0;

    virtual void renameRun(RunId run, const std::string& name) = 0;
    /// Hides runs from every query, or brings them back: what makes deleting undoable.
    virtual void setRunsDeleted(const std::vector<RunId>& runs, bool deleted) = 0;
    /// Removes hidden runs and inspections for good, except runs that may still be recorded, and gives their room back.
    virtual void purgeDeletedRuns() = 0;

    /// The writer keeps the session open. `beganNs`: Unix time; 0 stands for this moment.
    virtual std::unique_ptr<InspectionWriter> startInspection(const InspectionDescription& description,
                                                              std::int64_t beganNs = 0) = 0;
    /// Hides inspections from every query, or brings them back.
    virtual void setInspectionsDeleted(const std::vector<InspectionId>& inspections, bool deleted) = 0;

protected:
    Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
};

/// How ranges reach this process's recorder at the moment: "nvtx static injection", "direct sink (an outside NVTX
/// tool is attached)", "direct sink (built without NVTX)".
std::string rangeCapturePath();

}  // namespace profiling
