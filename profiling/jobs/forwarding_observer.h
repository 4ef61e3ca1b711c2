// Stands between trainer and recorder. A run's row needs what only a built trainer knows, yet building may already
// report tensors and events: they wait here until the recorder exists. Events and samples also go to the listener.
#pragma once

#include "jobs/job.h"

#include <optional>
#include <span>
#include <vector>

namespace jobs {

class ForwardingObserver : public engine::StepObserver {
public:
    /// The listener must outlive the observer.
    explicit ForwardingObserver(const JobListener& listener) : m_listener(listener) {}

    /// Sends what has waited, then everything else as it comes. nullptr detaches.
    void attach(profiling::RunRecorder* recorder);

    void onTensors(std::span<const engine::TensorInfo> tensors) override;
    void onStepBegin(std::int64_t step) override;
    void onStepEnd(const engine::StepStats& stats, std::span<const engine::TensorSnapshot> snapshots) override;
    void onValidation(std::int64_t step, double valLoss) override;
    void onEvent(const engine::EngineEvent& event) override;
    void onGeneration(const engine::GenerationSample& sample) override;

private:
    const JobListener& m_listener;
    profiling::RunRecorder* m_recorder = nullptr;
    std::optional<std::vector<engine::TensorInfo>> m_waitingTensors;
    std::vector<engine::EngineEvent> m_waitingEvents;
};

}  // namespace jobs
