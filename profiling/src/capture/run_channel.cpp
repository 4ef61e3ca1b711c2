// Implementation of the channel between the trainer's thread and the writer.
#include "capture/run_channel.h"

#include <exception>
#include <iterator>

namespace profiling {

namespace {

template <typename T>
void moveBehind(std::vector<T>& target, std::vector<T>& source) {
    if (target.empty()) {
        target.swap(source);
    } else {
        target.insert(target.end(), std::make_move_iterator(source.begin()), std::make_move_iterator(source.end()));
    }
    source.clear();
}

}  // namespace

bool RunRecords::empty() const {
    return tensors.empty() && steps.empty() && snapshots.empty() && validations.empty() && events.empty() &&
           generations.empty() && samples.empty();
}

void RunRecords::clear() {
    tensors.clear();
    steps.clear();
    snapshots.clear();
    validations.clear();
    events.clear();
    generations.clear();
    samples.clear();
}

void RunRecords::take(RunRecords& other) {
    moveBehind(tensors, other.tensors);
    moveBehind(steps, other.steps);
    moveBehind(snapshots, other.snapshots);
    moveBehind(validations, other.validations);
    moveBehind(events, other.events);
    moveBehind(generations, other.generations);
    moveBehind(samples, other.samples);
}

void RunChannel::beginStep(std::int64_t step) {
    m_step.store(step, std::memory_order_relaxed);
    m_lastStep.store(step, std::memory_order_relaxed);
    m_stepsBegun.fetch_add(1, std::memory_order_relaxed);
}

void RunChannel::endStep(const engine::StepStats& stats, std::span<const engine::TensorSnapshot> snapshots) {
    m_step.store(-1, std::memory_order_relaxed);
    enqueue([&](RunRecords& queue) {
        queue.steps.push_back(stats);
        for (const engine::TensorSnapshot& snapshot : snapshots) queue.snapshots.push_back({stats.step, snapshot});
    });
}

RangeRing& RunChannel::ringOf(std::uint64_t thread) {
    const std::lock_guard lock(m_mutex);
    for (const auto& ring : m_rings) {
        if (ring->thread() == thread) return *ring;
    }
    const auto number = static_cast<std::uint32_t>(m_rings.size());
    m_rings.push_back(std::make_unique<RangeRing>(m_ringCapacity, thread, number));
    return *m_rings.back();
}

void RunChannel::drain(RunRecords& records, std::vector<RangeEvent>& ranges, std::size_t rangeLimit) {
    std::vector<RangeRing*> rings;
    {
        const std::lock_guard lock(m_mutex);
        records.take(m_queue);
        for (const auto& ring : m_rings) rings.push_back(ring.get());
    }
    for (RangeRing* ring : rings) rangeLimit -= ring->m_ring.drain(ranges, rangeLimit);
}

void RunChannel::setFailure(const char* text) noexcept {
    const std::lock_guard lock(m_mutex);
    try {
        m_failure = text;
    } catch (const std::exception&) {
        m_failure = "out of memory";  // short enough to need none
    }
}

void RunChannel::clearFailure() {
    const std::lock_guard lock(m_mutex);
    m_failure.clear();
}

std::string RunChannel::failure() const {
    const std::lock_guard lock(m_mutex);
    return m_failure;
}

}  // namespace profiling
