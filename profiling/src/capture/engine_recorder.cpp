// Implementation of the recorder.
#include "capture/engine_recorder.h"

#include "capture/range_capture.h"

#include <utility>

namespace profiling {

EngineRecorder::EngineRecorder(RunId run, const RecordOptions& options, std::shared_ptr<RunChannel> channel,
                               std::shared_ptr<RunFinisher> finisher)
    : m_run(run), m_options(options), m_channel(std::move(channel)), m_finisher(std::move(finisher)) {}

EngineRecorder::~EngineRecorder() {
    try {
        close(RunStatus::Failed);
    } catch (const std::exception& error) {
        // A destructor cannot throw; the run is found `crashed` later, with the steps that were committed.
        m_channel->setFailure(error.what());
    }
}

void EngineRecorder::activate() {
    if (m_options.ranges) connectRanges();
    engine::setRangesEnabled(m_options.ranges);
    activateChannel(m_options.ranges ? m_channel : nullptr);
}

void EngineRecorder::addSample(const std::string& metric, std::int64_t i, double value) {
    m_channel->enqueue([&](RunRecords& queue) { queue.samples.push_back({metric, i, value}); });
}

void EngineRecorder::close(RunStatus status) {
    const std::shared_ptr<RunFinisher> finisher = std::exchange(m_finisher, nullptr);
    if (!finisher) return;
    m_channel->closeRanges();
    deactivateChannel(m_channel.get());
    engine::setRangesEnabled(true);
    finisher->finishRun(m_run, status);
}

void EngineRecorder::onTensors(std::span<const engine::TensorInfo> tensors) {
    m_channel->enqueue([&](RunRecords& queue) { queue.tensors.assign(tensors.begin(), tensors.end()); });
}

void EngineRecorder::onValidation(std::int64_t step, double valLoss) {
    m_channel->enqueue([&](RunRecords& queue) { queue.validations.push_back({step, valLoss}); });
}

void EngineRecorder::onEvent(const engine::EngineEvent& event) {
    m_channel->enqueue([&](RunRecords& queue) { queue.events.push_back(event); });
}

void EngineRecorder::onGeneration(const engine::GenerationSample& sample) {
    m_channel->enqueue([&](RunRecords& queue) { queue.generations.push_back(sample); });
}

}  // namespace profiling
