// Implementation of the channel between the trainer's thread and the writer.
#include "capture/run_channel.h"

#include <algorithm>
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
    m_step = step;
    m_lastStep = step;
    ++m_stepsBegun;
}

void RunChannel::endStep(const engine::StepStats& stats, std::span<const engine::TensorSnapshot> snapshots) {
    m_step = -1;
    enqueue([&](RunRecords& queue) {
        queue.steps.push_back(stats);
        for (const engine::TensorSnapshot& snapshot : snapshots) queue.snapshots.push_back({stats.step, snapshot});
    });
}

void RunChannel::setOwner(std::uint64_t thread) {
    const std::lock_guard lock(m_mutex);
    auto known = std::find(m_owners.begin(), m_owners.end(), thread);
    if (known == m_owners.end()) known = m_owners.insert(m_owners.end(), thread);
    m_ownerNumber.store(static_cast<std::uint32_t>(known - m_owners.begin()), std::memory_order_relaxed);
    m_owner.store(thread, std::memory_order_relaxed);
}

void RunChannel::drain(RunRecords& records, std::vector<RangeEvent>& ranges, std::size_t rangeLimit) {
    {
        const std::lock_guard lock(m_mutex);
        records.take(m_queue);
    }
    m_ring.drain(ranges, rangeLimit);
}

void RunChannel::setFailure(const std::string& text) {
    const std::lock_guard lock(m_mutex);
    if (m_failure.empty()) m_failure = text;
}

std::string RunChannel::failure() const {
    const std::lock_guard lock(m_mutex);
    return m_failure;
}

}  // namespace profiling
