// Stands between trainer and recorder; see forwarding_observer.h.
#include "jobs/forwarding_observer.h"

#include <utility>

namespace jobs {

void ForwardingObserver::attach(profiling::RunRecorder* recorder) {
    m_recorder = recorder;
    if (!recorder) return;
    if (m_waitingTensors) recorder->onTensors(*m_waitingTensors);
    m_waitingTensors.reset();
    for (const engine::EngineEvent& event : std::exchange(m_waitingEvents, {})) onEvent(event);
}

void ForwardingObserver::onTensors(std::span<const engine::TensorInfo> tensors) {
    if (m_recorder) {
        m_recorder->onTensors(tensors);
    } else {
        m_waitingTensors.emplace(tensors.begin(), tensors.end());
    }
}

void ForwardingObserver::onStepBegin(std::int64_t step) {
    if (m_recorder) m_recorder->onStepBegin(step);
}

void ForwardingObserver::onStepEnd(const engine::StepStats& stats, std::span<const engine::TensorSnapshot> snapshots) {
    if (m_recorder) m_recorder->onStepEnd(stats, snapshots);
}

void ForwardingObserver::onValidation(std::int64_t step, double valLoss) {
    if (m_recorder) m_recorder->onValidation(step, valLoss);
    if (m_listener.validated) m_listener.validated(step, valLoss);
}

void ForwardingObserver::onEvent(const engine::EngineEvent& event) {
    if (!m_recorder) {
        m_waitingEvents.push_back(event);
        return;
    }
    m_recorder->onEvent(event);
    if (m_listener.event) m_listener.event(event);
}

void ForwardingObserver::onGeneration(const engine::GenerationSample& sample) {
    if (m_recorder) m_recorder->onGeneration(sample);
    if (m_listener.generated) m_listener.generated(sample);
}

}  // namespace jobs
