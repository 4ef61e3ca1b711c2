// The train job: builds or resumes a trainer, records it, and steps it until it is done or asked to stop.
#include "engine/error.h"
#include "jobs/forwarding_observer.h"
#include "jobs/job_setup.h"
#include "jobs/output_files.h"
#include "jobs/pace.h"

#include <limits>

namespace jobs {
namespace {

constexpr int kStridePrompts = 20;

/// The loop of one run. Holds references only; runTrainJob owns everything.
class TrainLoop {
public:
    TrainLoop(const TrainJob& job, const JobControl& control, const JobListener& listener, engine::Trainer& trainer,
              profiling::RunRecorder& recorder)
        : m_job(job), m_control(control), m_listener(listener), m_trainer(trainer), m_recorder(recorder) {}

    /// Returns the status to close the run with.
    profiling::RunStatus run(RunResult& result);

private:
    void oneStep(RunResult& result);
    engine::StepStats trainerStep();
    void save();
    void rescueCheckpoint();
    void validate(RunResult& result);
    void finish(RunResult& result);
    bool cutShort() { return m_cut = m_control.stop.load(); }
    double secondsLeft() const;

    const TrainJob& m_job;
    const JobControl& m_control;
    const JobListener& m_listener;
    engine::Trainer& m_trainer;
    profiling::RunRecorder& m_recorder;
    Pace m_pace;
    std::int64_t m_validatedAt = -1;  // nextStep() of the newest validation
    std::int64_t m_savedAt = -1;      // nextStep() of the newest checkpoint
    bool m_cut = false;               // a validation or check ended early
    double m_validationSeconds = 0;   // of the newest validation
};

profiling::RunStatus TrainLoop::run(RunResult& result) {
    while (!m_trainer.done()) {
        waitWhilePaused(m_control);
        if (m_control.stop.load()) break;
        oneStep(result);
    }
    // Before the closing checks: whoever stops those loses nothing that was learnt.
    save();
    const bool complete = m_trainer.done();
    if (complete) finish(result);
    return complete && !m_cut ? profiling::RunStatus::Finished : profiling::RunStatus::Interrupted;
}

void TrainLoop::save() {
    if (m_job.checkpoint.empty() || m_savedAt == m_trainer.nextStep()) return;
    m_trainer.save(m_job.checkpoint);
    m_savedAt = m_trainer.nextStep();
}

void TrainLoop::rescueCheckpoint() {
    try {
        if (m_trainer.nextStep() > m_trainer.info().firstStep) save();
    } catch (const engine::Error& error) {
        // The run ends with another error, which is the one to throw.
        if (!m_listener.event) return;
        m_listener.event({-1, engine::clockNs(), engine::Severity::Error, "checkpoint", error.what()});
    }
}

engine::StepStats TrainLoop::trainerStep() {
    try {
        return m_trainer.step();
    } catch (const engine::Error&) {
        // A guard gave up. An older checkpoint of this run is the better one to go on from, so it stays.
        if (m_savedAt < 0) rescueCheckpoint();
        throw;
    }
}

void TrainLoop::oneStep(RunResult& result) {
    const engine::StepStats stats = trainerStep();
    m_pace.add(stats);
    result.steps = m_pace.steps();
    result.loss = stats.loss;
    result.seconds = m_pace.totalSeconds();
    result.tokensPerSecond = m_pace.tokensPerSecond();
    if (m_listener.stepped) {
        const Progress progress{
            stats.step + 1, m_trainer.config().train.steps, stats.loss, stepRate(stats), secondsLeft(), result.name};
        m_listener.stepped(progress, stats);
    }
    if (!m_recorder.failure().empty()) {
        rescueCheckpoint();
        requireRecording(m_recorder, m_job.database);
    }
    const int every = m_trainer.config().train.validateEvery;
    if (every > 0 && m_trainer.nextStep() % every == 0) validate(result);
    const std::int64_t saveEvery = m_job.checkpoint.empty() ? 0 : m_job.checkpointEvery;
    if (saveEvery > 0 && m_trainer.nextStep() % saveEvery == 0) save();
}

void TrainLoop::validate(RunResult& result) {
    const std::int64_t start = engine::clockNs();
    const double loss = m_trainer.validationLoss([this] { return cutShort(); });
    if (m_cut) return;
    result.valLoss = loss;
    m_validationSeconds = static_cast<double>(engine::clockNs() - start) * 1e-9;
    m_validatedAt = m_trainer.nextStep();
}

void TrainLoop::finish(RunResult& result) {
    if (m_trainer.nextStep() > 0 && m_validatedAt != m_trainer.nextStep()) validate(result);
    result.stride = m_trainer.checkStride(kStridePrompts, [this] { return cutShort(); });
}

double TrainLoop::secondsLeft() const {
    const double perStep = m_pace.recentSeconds();
    const std::int64_t left = m_trainer.config().train.steps - m_trainer.nextStep();
    const int every = m_trainer.config().train.validateEvery;
    const std::int64_t validations = every > 0 ? left / every : 0;
    return perStep < 0 ? -1
                       : perStep * static_cast<double>(left) + static_cast<double>(validations) * m_validationSeconds;
}

}  // namespace

RunResult runTrainJob(const TrainJob& job, JobControl& control, const JobListener& listener) {
    requireValid(job.config);
    requireCheckpointPath(job.checkpoint, job.database, job.config.train.data);
    std::shared_ptr<profiling::Session> session = openBeforeBuilding(job.database);
    ForwardingObserver observer(listener);
    std::unique_ptr<profiling::RunRecorder> recorder;  // outlives the trainer, which reports to it
    const std::unique_ptr<engine::Trainer> trainer = job.resume.empty()
                                                         ? engine::Trainer::create(job.config, &observer)
                                                         : engine::Trainer::resume(job.resume, job.config, &observer);
    if (!session) session = profiling::Session::open(job.database);

    RunResult result;
    result.name = job.name.empty() ? defaultRunName(trainer->config(), trainer->info().precision) : job.name;
    result.valLoss = std::numeric_limits<double>::quiet_NaN();
    result.loss = std::numeric_limits<double>::quiet_NaN();
    recorder = session->startRun(describe(*trainer, result.name, job.config.train.precision, {}), {job.ranges});
    result.run = recorder->run();
    try {
        if (listener.runStarted) listener.runStarted(result.run, result.name);
        observer.attach(recorder.get());
        recorder->activate();
        const RangesScope ranges(job.ranges);
        result.status = TrainLoop(job, control, listener, *trainer, *recorder).run(result);
    } catch (...) {
        closeAfterError(*recorder, profiling::RunStatus::Failed, listener);
        throw;
    }
    recorder->close(result.status);
    return result;
}

}  // namespace jobs
