// What train and bench jobs have in common: a run's row, its name, closing after an error, waiting while paused.
#pragma once

#include "jobs/job.h"

#include <memory>
#include <string>

namespace jobs {

/// Throws engine::Error (Usage) for the first thing wrong with a configuration, before any file is touched.
void requireValid(const engine::RunConfig& config);

/// "fp8 delayed hybrid, GPL-3": precision and data.
std::string defaultRunName(const engine::RunConfig& config, engine::Precision precision);

/// The data without its kind and folders: "stride", "GPL-3".
std::string dataName(const std::string& data);

/// The row of a run that is about to start on this trainer.
profiling::RunDescription describe(const engine::Trainer& trainer, const std::string& name, engine::Precision asked,
                                   profiling::BenchId bench);

inline constexpr int kBytesVocab = 256;  // of a text, which is read as bytes
/// The size of a run; `vocab` is what to assume where the vocabulary follows the data.
engine::RunEstimate sizeOf(engine::RunConfig config, int vocab = kBytesVocab);
std::string gibibytes(double bytes);  ///< "1.5 GiB"

/// Opens the database when it is there or cannot be made, so that a wrong path costs no model's initialisation. nullptr
/// for a file that is still to be made: open it when there is a run to put into it, and a run that cannot start leaves
/// nothing behind.
std::shared_ptr<profiling::Session> openBeforeBuilding(const std::string& database);

/// Blocks while the job is paused; returns at once when it is asked to stop.
void waitWhilePaused(const JobControl& control);

/// Closes a run that ended with an error. The error at hand is the one to report, so a write error that
/// surfaces only now becomes an event for the listener.
void closeAfterError(profiling::RunRecorder& recorder, profiling::RunStatus status, const JobListener& listener);

/// When the recorder cannot write any more: closes the run as failed and throws profiling::Error, which tells whether
/// rows were lost. Training that nobody can look at is stopped.
void requireRecording(profiling::RunRecorder& recorder, const std::string& database);

/// Ranges on or off on this thread for a scope; on again afterwards.
class RangesScope {
public:
    explicit RangesScope(bool enabled) { engine::setRangesEnabled(enabled); }
    ~RangesScope() { engine::setRangesEnabled(true); }
    RangesScope(const RangesScope&) = delete;
    RangesScope& operator=(const RangesScope&) = delete;
};

}  // namespace jobs
