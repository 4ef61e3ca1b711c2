// The one class that callers hold: builds a model, trains it step by step, saves, resumes, generates.
#pragma once

#include "engine/config.h"
#include "engine/observer.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace engine {

/// What was decided when the run was built.
struct TrainerInfo {
    std::string device;  // "cpu"
    std::string deviceName;
    std::string backend;          // "cpu"
    std::string kernels;          // chosenKernels()
    Precision precision;          // after fallback
    bool emulated;                // the device has no arithmetic of this precision
    std::string precisionReason;  // why the precision differs from the one asked for, or is emulated
    std::int64_t parameters;
    std::int64_t memoryBytes;
    double flopsPerStep;
    std::int64_t tokensPerStep;
    std::int64_t firstStep;  // 0, or the step at which a resumed run goes on
};

struct StrideCheck {
    int correct;  // prompts continued with the right stride to the last token
    int total;
};

/// Not thread-safe: one thread creates, steps and destroys it. Inside a step it uses its own thread pool.
/// The observer, if any, must outlive the trainer.
class Trainer {
public:
    /// Builds and initialises the model. Throws Error: Usage for an impossible configuration, Failure for
    /// unreadable data or a missing device.
    static std::unique_ptr<Trainer> create(const RunConfig& config, StepObserver* observer);

    /// Continues a saved run, bit for bit. `changes` may differ from the saved configuration in steps, threads, the
    /// guard, what is observed, validateEvery, the data path and the length of the amax history, which is resized as
    /// Transformer Engine does; anything else throws Error (Usage).
    static std::unique_ptr<Trainer> resume(const std::string& path, const RunConfig& changes, StepObserver* observer);

    /// For generation only: a saved model with the configuration it was saved with. `path` as given to save().
    static std::unique_ptr<Trainer> load(const std::string& path);
    /// The configuration inside a checkpoint, vocab resolved. Throws Error.
    static RunConfig readConfig(const std::string& path);

    virtual ~Trainer() = default;

    virtual const RunConfig& config() const = 0;  ///< vocab resolved
    virtual const TrainerInfo& info() const = 0;

    /// One training step. Throws Error when the guard says stop.
    virtual StepStats step() = 0;
    virtual std::int64_t nextStep() const = 0;
    bool done() const { return nextStep() >= config().train.steps; }

    /// Asked between batches or prompts; true ends what is going on early.
    using Stop = std::function<bool()>;

    /// Mean loss over the held-out part (stride: over held-out sequences). Changes no state of training; reported
    /// to the observer as the validation of the step before nextStep(). Stopped early: NaN, and not reported.
    virtual double validationLoss(const Stop& stop = {}) = 0;

    /// Greedy continuation. Throws Error (Usage) when a token is outside the vocabulary or the prompt is empty.
    virtual std::vector<int> generate(const std::vector<int>& prompt, int tokens) = 0;
    /// For data "stride": greedy continuation of prompts that training never showed. 0 of 0 for other data.
    /// Each prompt is reported to the observer as a GenerationSample. Stopped early: the prompts done so far.
    virtual StrideCheck checkStride(int prompts, const Stop& stop = {}) = 0;

    /// Another length for the amax histories of delayed scaling from the next step on, as resume() does it.
    virtual void resizeAmaxHistory(int length) = 0;

    /// Writes a temporary file beside `path` and renames it: an interrupted save leaves the old file.
    virtual void save(const std::string& path) = 0;

protected:
    Trainer() = default;
    Trainer(const Trainer&) = delete;
    Trainer& operator=(const Trainer&) = delete;
};

}  // namespace engine
