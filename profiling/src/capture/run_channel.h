// Carries one run's records from the trainer's thread to the writer thread. Ranges go through a ring of fixed size, one
// for each thread that activated the run, and are dropped (and counted) when the disk cannot keep up; everything else
// is rare and goes through a short lock into a queue that never drops.
#pragma once

#include "capture/spsc_ring.h"
#include "engine/observer.h"
#include "profiling/events.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace profiling {

struct SnapshotRecord {
    std::int64_t step;
    engine::TensorSnapshot snapshot;
};
// A histogram is copied once, out of the trainer's span; on its way to the writer it is moved.
static_assert(std::is_nothrow_move_constructible_v<SnapshotRecord>);

struct ValidationRecord {
    std::int64_t step;
    double loss;
};

struct SampleRecord {
    std::string metric;
    std::int64_t i;
    double value;
};

/// Everything but ranges, in the order of arrival within each kind.
struct RunRecords {
    std::vector<engine::TensorInfo> tensors;
    std::vector<engine::StepStats> steps;
    std::vector<SnapshotRecord> snapshots;
    std::vector<ValidationRecord> validations;
    std::vector<engine::EngineEvent> events;
    std::vector<engine::GenerationSample> generations;
    std::vector<SampleRecord> samples;

    bool empty() const;
    void clear();
    /// Moves the other's records behind these and clears it; both keep their memory.
    void take(RunRecords& other);
};

/// The ranges of one thread for one run.
class RangeRing {
public:
    RangeRing(std::size_t capacity, std::uint64_t thread, std::uint32_t number)
        : m_thread(thread), m_number(number), m_ring(capacity) {}
    std::uint64_t thread() const { return m_thread; }
    std::uint32_t number() const { return m_number; }  ///< small number of the thread within the run, from 0

private:
    friend class RunChannel;
    const std::uint64_t m_thread;
    const std::uint32_t m_number;
    SpscRing<RangeEvent> m_ring;
};

class RunChannel {
public:
    static constexpr std::size_t kRingCapacity = std::size_t{1} << 16U;  // 12 s of a 45 ms step with 250 ranges

    explicit RunChannel(std::size_t ringCapacity = kRingCapacity) : m_ringCapacity(ringCapacity) {}

    // --- the trainer's thread ---
    void beginStep(std::int64_t step);
    void endStep(const engine::StepStats& stats, std::span<const engine::TensorSnapshot> snapshots);
    /// Runs `add` on the queue under its lock.
    template <typename Add>
    void enqueue(Add add) {
        const std::lock_guard lock(m_mutex);
        add(m_queue);
    }

    // --- any thread that pushes ranges ---
    /// The ring of the thread with this token, made when it is first asked for. Lives as long as the channel.
    RangeRing& ringOf(std::uint64_t thread);
    std::int64_t currentStep() const { return m_step.load(std::memory_order_relaxed); }   ///< -1 between steps
    std::int64_t lastStep() const { return m_lastStep.load(std::memory_order_relaxed); }  ///< the step begun last
    std::uint64_t stepsBegun() const { return m_stepsBegun.load(std::memory_order_relaxed); }
    std::int64_t nextRangeId() { return m_lastRangeId.fetch_add(1, std::memory_order_relaxed) + 1; }
    /// `ring` is the one of the calling thread.
    void pushRange(RangeRing& ring, const RangeEvent& range) {
        if (!ring.m_ring.push(range)) m_dropped.fetch_add(1, std::memory_order_relaxed);
    }
    void closeRanges() { m_closed.store(true, std::memory_order_release); }
    bool rangesClosed() const { return m_closed.load(std::memory_order_acquire); }

    // --- the writer ---
    /// Records first, then ranges: the ranges of every step taken are taken with it.
    void drain(RunRecords& records, std::vector<RangeEvent>& ranges, std::size_t rangeLimit);
    std::int64_t droppedRanges() const { return m_dropped.load(std::memory_order_relaxed); }
    void setFailure(const char* text) noexcept;
    void clearFailure();
    std::string failure() const;

private:
    // Set by the trainer's thread.
    std::atomic<std::int64_t> m_step{-1};
    std::atomic<std::int64_t> m_lastStep{-1};
    std::atomic<std::uint64_t> m_stepsBegun{0};

    const std::size_t m_ringCapacity;
    std::atomic<std::int64_t> m_lastRangeId{0};
    std::atomic<std::int64_t> m_dropped{0};
    std::atomic<bool> m_closed{false};

    mutable std::mutex m_mutex;  // guards the rest
    RunRecords m_queue;
    std::string m_failure;
    std::vector<std::unique_ptr<RangeRing>> m_rings;  // index: small thread number
};

}  // namespace profiling
