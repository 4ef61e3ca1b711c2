// The bench job: all variants are built first and stay alive; repeats visit them in a rotating order, so that drift
// of the machine (temperature, other programs) hits all alike. Every sample is stored.
#include "engine/device.h"
#include "engine/error.h"
#include "jobs/forwarding_observer.h"
#include "jobs/job_setup.h"
#include "jobs/pace.h"

#include <limits>

namespace jobs {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000;  // of one run, as engine::validate has it

/// One variant while the benchmark runs. Members are destroyed from the last to the first: the trainer goes
/// before the recorder and the observer that it reports to.
struct Lane {
    explicit Lane(const JobListener& listener) : observer(listener) {}

    ForwardingObserver observer;
    std::unique_ptr<profiling::RunRecorder> recorder;
    std::unique_ptr<engine::Trainer> trainer;
    bool record = true;
    Pace pace;
    std::vector<double> rates;  // samples, tokens per second
    RunResult result;
};

class Bench {
public:
    Bench(const BenchJob& job, const JobControl& control, const JobListener& listener)
        : m_job(job), m_control(control), m_listener(listener) {}

    std::vector<RunResult> run();

private:
    std::vector<std::unique_ptr<Lane>> build() const;
    void startRuns(profiling::Session& session, std::vector<std::unique_ptr<Lane>> lanes);
    void measure();
    bool stopped() const { return m_control.stop.load(); }
    std::vector<double> steps(Lane& lane, int count);
    void repeat(Lane& lane, std::int64_t index);
    void report(const Lane& lane, const engine::StepStats& stats);
    double secondsLeft() const;
    void closeAllAfterError();

    const BenchJob& m_job;
    const JobControl& m_control;
    const JobListener& m_listener;
    std::vector<std::unique_ptr<Lane>> m_lanes;
    Lane* m_active = nullptr;
    std::int64_t m_stepsPerLane = 0;
    std::int64_t m_stepsDone = 0;
};

std::int64_t stepsPerLane(const BenchJob& job) {
    return job.warmupSteps + static_cast<std::int64_t>(job.repeats) * job.stepsPerRepeat;
}

void requireBench(const BenchJob& job) {
    const auto require = [](bool good, const char* field, int value, const char* why, const char* fix) {
        if (good) return;
        throw engine::Error(engine::ErrorKind::Usage, std::string("--") + field + " " + std::to_string(value), why,
                            fix);
    };
    require(!job.variants.empty(), "precisions", 0, "names nothing to run", "list at least one precision");
    require(job.warmupSteps >= 0, "warmup", job.warmupSteps, "is negative", "use 0 or more steps");
    require(job.repeats >= 1, "repeats", job.repeats, "gives no sample", "use 1 or more");
    require(job.stepsPerRepeat >= 1, "steps-per-repeat", job.stepsPerRepeat, "gives no sample", "use 1 or more");
    if (stepsPerLane(job) > kMostSteps) {
        throw engine::Error(
            engine::ErrorKind::Usage,
            "--repeats " + std::to_string(job.repeats) + " --steps-per-repeat " + std::to_string(job.stepsPerRepeat),
            "together ask for " + std::to_string(stepsPerLane(job)) + " steps, more than " + std::to_string(kMostSteps),
            "use fewer repeats or fewer steps per repeat");
    }
    for (const BenchVariant& variant : job.variants) requireValid(variant.config);
}

// Part of the run, so that nobody takes it for the full size later.
void noteScaling(Lane& lane, const BenchVariant& variant) {
    if (variant.scaledDown.empty()) return;
    lane.observer.onEvent({-1, engine::clockNs(), engine::Severity::Info, "scaled_down",
                           variant.label + " is scaled down for this machine: " + variant.scaledDown});
}

std::vector<RunResult> Bench::run() {
    requireBench(m_job);
    m_stepsPerLane = stepsPerLane(m_job);
    std::shared_ptr<profiling::Session> session = openBeforeBuilding(m_job.database);
    // Nothing is written before all are built: a variant that cannot be leaves no half benchmark behind.
    std::vector<std::unique_ptr<Lane>> lanes = build();
    if (!session) session = profiling::Session::open(m_job.database);
    try {
        startRuns(*session, std::move(lanes));
        measure();
    } catch (...) {
        closeAllAfterError();
        throw;
    }
    std::vector<RunResult> results;
    for (const std::unique_ptr<Lane>& lane : m_lanes) {
        lane->result.status = stopped() ? profiling::RunStatus::Interrupted : profiling::RunStatus::Finished;
        lane->recorder->close(lane->result.status);
        results.push_back(lane->result);
    }
    return results;
}

/// All variants stay in memory together, but each trainer asks for itself alone, and much of what it was granted is not
/// in use before its first step.
void requireMemory(const std::vector<BenchVariant>& variants, int vocab, std::int64_t available) {
    double together = 0;
    for (const BenchVariant& variant : variants) {
        together += static_cast<double>(sizeOf(variant.config, vocab).memoryBytes);
    }
    if (available < 0 || together <= static_cast<double>(available)) return;
    throw engine::Error(engine::ErrorKind::Failure, "memory",
                        "the variants need " + gibibytes(together) + " together and " +
                            gibibytes(static_cast<double>(available)) + " are available",
                        "compare fewer, use a smaller model, --batch or --seq-len, or end other programs");
}

std::vector<std::unique_ptr<Lane>> Bench::build() const {
    std::vector<std::unique_ptr<Lane>> lanes;
    const std::int64_t available = engine::availableMemoryBytes();
    requireMemory(m_job.variants, kBytesVocab, available);
    for (const BenchVariant& variant : m_job.variants) {
        auto lane = std::make_unique<Lane>(m_listener);
        engine::RunConfig config = variant.config;
        config.train.steps = static_cast<int>(m_stepsPerLane);
        if (!variant.record) config.train.snapshotEvery = 0;
        lane->record = variant.record;
        lane->trainer = engine::Trainer::create(config, &lane->observer);
        lanes.push_back(std::move(lane));
        if (lanes.size() == 1) {  // which knows the vocabulary of the data
            requireMemory(m_job.variants, lanes.front()->trainer->config().model.vocab, available);
        }
    }
    return lanes;
}

void Bench::startRuns(profiling::Session& session, std::vector<std::unique_ptr<Lane>> lanes) {
    const std::string& data = m_job.variants.front().config.train.data;
    const profiling::BenchId bench =
        session.createBench(m_job.name.empty() ? "benchmark, " + dataName(data) : m_job.name);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        Lane& lane = *lanes[i];
        const BenchVariant& variant = m_job.variants[i];
        lane.result.name = variant.label;
        lane.result.loss = lane.result.valLoss = std::numeric_limits<double>::quiet_NaN();
        lane.recorder = session.startRun(describe(*lane.trainer, variant.label, variant.config.train.precision, bench),
                                         {variant.record});
        lane.result.run = lane.recorder->run();
        m_lanes.push_back(std::move(lanes[i]));
        if (m_listener.runStarted) m_listener.runStarted(lane.result.run, variant.label);
        lane.observer.attach(lane.recorder.get());
        noteScaling(lane, variant);
    }
    session.setBenchBaseline(bench, m_lanes.front()->result.run);
}

void Bench::measure() {
    for (const std::unique_ptr<Lane>& lane : m_lanes) steps(*lane, m_job.warmupSteps);
    const std::size_t count = m_lanes.size();
    for (int index = 0; index < m_job.repeats; ++index) {
        for (std::size_t i = 0; i < count; ++i) repeat(*m_lanes[(static_cast<std::size_t>(index) + i) % count], index);
    }
    for (const std::unique_ptr<Lane>& lane : m_lanes) {
        if (stopped()) return;
        lane->recorder->activate();
        const RangesScope ranges(false);  // validation is no part of what is compared
        lane->result.valLoss = lane->trainer->validationLoss([this] { return stopped(); });
    }
}

std::vector<double> Bench::steps(Lane& lane, int count) {
    m_active = &lane;
    lane.recorder->activate();
    const RangesScope ranges(lane.record);
    std::vector<double> seconds;
    for (int i = 0; i < count; ++i) {
        waitWhilePaused(m_control);
        if (stopped()) break;
        const engine::StepStats stats = lane.trainer->step();
        ++m_stepsDone;
        lane.pace.add(stats);
        lane.result.steps = lane.pace.steps();
        lane.result.loss = stats.loss;
        lane.result.seconds = lane.pace.totalSeconds();
        seconds.push_back(static_cast<double>(stats.durationNs) * 1e-9);
        report(lane, stats);
        requireRecording(*lane.recorder, m_job.database);
    }
    return seconds;
}

void Bench::repeat(Lane& lane, std::int64_t index) {
    const std::vector<double> seconds = steps(lane, m_job.stepsPerRepeat);
    if (seconds.size() != static_cast<std::size_t>(m_job.stepsPerRepeat)) return;  // cut short: not a sample
    const double middle = median(seconds);
    const double rate = middle > 0 ? static_cast<double>(lane.trainer->info().tokensPerStep) / middle : 0;
    lane.recorder->addSample("tokens_per_second", index, rate);
    lane.recorder->addSample("step_ms", index, middle * 1e3);
    lane.rates.push_back(rate);
    lane.result.tokensPerSecond = median(lane.rates);
}

void Bench::report(const Lane& lane, const engine::StepStats& stats) {
    if (!m_listener.stepped) return;
    const std::int64_t planned = m_stepsPerLane * static_cast<std::int64_t>(m_lanes.size());
    m_listener.stepped({m_stepsDone, planned, stats.loss, stepRate(stats), secondsLeft(), lane.result.name}, stats);
}

double Bench::secondsLeft() const {
    double left = 0;
    for (const std::unique_ptr<Lane>& lane : m_lanes) {
        const double perStep = lane->pace.recentSeconds();
        if (perStep < 0) return -1;  // a variant that has not run yet may be much slower
        left += perStep * static_cast<double>(m_stepsPerLane - lane->pace.steps());
    }
    return left;
}

void Bench::closeAllAfterError() {
    for (const std::unique_ptr<Lane>& lane : m_lanes) {
        const bool failed = !m_active || lane.get() == m_active;
        closeAfterError(*lane->recorder, failed ? profiling::RunStatus::Failed : profiling::RunStatus::Interrupted,
                        m_listener);
    }
}

}  // namespace

std::vector<RunResult> runBenchJob(const BenchJob& job, JobControl& control, const JobListener& listener) {
    return Bench(job, control, listener).run();
}

}  // namespace jobs
