// The observer that the trainer calls: puts what it gets into the run's channel and nothing else, so that a call costs
// microseconds and never waits for the disk.
#pragma once

#include "capture/run_channel.h"
#include "profiling/session.h"

#include <memory>
#include <string>

namespace profiling {

/// What the recorder needs from the session: writing the rest of a run and its final status.
class RunFinisher {
public:
    virtual ~RunFinisher() = default;
    virtual void finishRun(RunId run, RunStatus status) = 0;
};

class EngineRecorder final : public RunRecorder {
public:
    EngineRecorder(RunId run, const RecordOptions& options, std::shared_ptr<RunChannel> channel,
                   std::shared_ptr<RunFinisher> finisher);
    ~EngineRecorder() override;

    RunId run() const override { return m_run; }
    void activate() override;
    void addSample(const std::string& metric, std::int64_t i, double value) override;
    std::string failure() const override { return m_channel->failure(); }
    void close(RunStatus status) override;

    void onTensors(std::span<const engine::TensorInfo> tensors) override;
    void onStepBegin(std::int64_t step) override { m_channel->beginStep(step); }
    void onStepEnd(const engine::StepStats& stats, std::span<const engine::TensorSnapshot> snapshots) override {
        m_channel->endStep(stats, snapshots);
    }
    void onValidation(std::int64_t step, double valLoss) override;
    void onEvent(const engine::EngineEvent& event) override;
    void onGeneration(const engine::GenerationSample& sample) override;

private:
    const RunId m_run;
    const RecordOptions m_options;
    const std::shared_ptr<RunChannel> m_channel;
    std::shared_ptr<RunFinisher> m_finisher;  // null once closed
};

}  // namespace profiling
