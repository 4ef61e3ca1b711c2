// One unit of work for the command line and the window alike: train or bench into a run database.
// The only place where the engine's trainer and the recorder meet.
#pragma once

#include "engine/config.h"
#include "engine/trainer.h"
#include "profiling/session.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace jobs {

/// Asked for from another thread (or a signal handler); looked at between steps.
struct JobControl {
    std::atomic<bool> stop{false};
    std::atomic<bool> paused{false};
};

struct Progress {
    std::int64_t step = 0;   // steps done
    std::int64_t steps = 0;  // steps planned, all runs of a benchmark together
    double loss = 0;
    double tokensPerSecond = 0;  // of the last step
    double secondsLeft = 0;      // by the median of recent steps; negative while unknown
    std::string label;           // of the run that made this step
};

/// Called on the job's thread after each step, validation and note.
struct JobListener {
    std::function<void(profiling::RunId, const std::string& name)> runStarted;
    std::function<void(const Progress&, const engine::StepStats&)> stepped;
    std::function<void(std::int64_t step, double valLoss)> validated;
    std::function<void(const engine::EngineEvent&)> event;
    std::function<void(const engine::GenerationSample&)> generated;
};

struct TrainJob {
    engine::RunConfig config;
    std::string database;
    std::string name;        // "": made from precision and data
    std::string checkpoint;  // "": none; written at the end, on stop, and every checkpointEvery steps
    int checkpointEvery = 0;
    std::string resume;  // "": start fresh
    bool ranges = true;
};

struct RunResult {
    profiling::RunId run;
    std::string name;
    profiling::RunStatus status = profiling::RunStatus::Running;
    std::int64_t steps = 0;      // made in this job
    double loss = 0;             // of the last step
    double valLoss = 0;          // NaN when none was taken
    double seconds = 0;          // summed step time
    double tokensPerSecond = 0;  // median over steps after the first two
    engine::StrideCheck stride{0, 0};
};

/// Trains to the last step, or until control.stop: then the run is closed as `interrupted`. Throws engine::Error or
/// profiling::Error after closing the run as `failed`.
RunResult runTrainJob(const TrainJob& job, JobControl& control, const JobListener& listener);

/// One thing to compare. With record off it runs without ranges and snapshots.
struct BenchVariant {
    engine::RunConfig config;
    std::string label;
    bool record = true;
    std::string summary;     // what sets it apart, one line; "" where the label says it all
    std::string scaledDown;  // "d_model 2048 → 512, heads 32 → 8, layers 12 → 6"; "" at full size
};
/// Reads "fp32,bf16,fp8:delayed:hybrid,fp8:current,fp8:mxfp8/unfused"; see variantForms(). Labels are those items in
/// full and one spelling, with " #2" for a repetition. What the base sets for another recipe is left out of a variant.
/// Throws engine::Error (Usage) naming the bad item and the forms there are.
std::vector<BenchVariant> parseVariants(const std::string& list, const engine::RunConfig& base);
/// The grammar of an item: in one line for messages, and with a line of explanation for each part for help.
std::string variantForms();
std::string variantHelp();
/// The variants that a form offers, in parseVariants' spelling, each with one line of explanation.
struct VariantChoice {
    std::string item;
    std::string summary;
};
const std::vector<VariantChoice>& variantChoices();

/// Lists of variants that belong together (resources/presets/suites), or a user's file: names end in .toml then.
std::vector<std::string> suiteNames();
struct BenchSuite {
    std::string name;
    std::string summary;
    std::string preset;                  // that every variant starts from
    std::vector<BenchVariant> variants;  // the first is the baseline
};
/// The variants on this base, which is the suite's preset with whatever the user changes of it: what a variant sets
/// itself stays. Unless `fullSize`, a variant that is much larger than the base is scaled down on a CPU, all of one
/// size alike, until a step needs at most eight times the work of the base's and all together fit into half the memory;
/// `scaledDown` says how. Throws engine::Error (Usage) for an unknown name, an unsound file, or when the variants need
/// more memory than is available.
BenchSuite makeSuite(const std::string& name, const engine::RunConfig& base, bool fullSize);
/// The configuration that a suite starts from, and what it is, without building its variants.
engine::RunConfig suiteBase(const std::string& name);

struct BenchJob {
    std::vector<BenchVariant> variants;  // the first is the baseline
    std::string database;
    std::string name;
    int warmupSteps = 3;  // per variant, before the first repeat
    int repeats = 10;
    int stepsPerRepeat = 3;
};

/// Interleaves: every repeat runs each variant in turn (order rotated), so that drift of the machine hits all alike.
/// A sample is the median over the steps of one repeat: "tokens_per_second" and "step_ms".
std::vector<RunResult> runBenchJob(const BenchJob& job, JobControl& control, const JobListener& listener);

}  // namespace jobs
