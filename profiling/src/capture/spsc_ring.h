// Fixed-size ring between one producing and one consuming thread, without locks: how ranges leave the trainer's thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace profiling {

template <typename T>
class SpscRing {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    /// capacity must be a power of two.
    explicit SpscRing(std::size_t capacity) : m_mask(capacity - 1), m_items(std::make_unique<T[]>(capacity)) {}

    /// Producer only. False when the ring is full: the item is not stored.
    bool push(const T& item) {
        const std::size_t tail = m_tail.load(std::memory_order_relaxed);
        if (tail - m_cachedHead > m_mask) {
            m_cachedHead = m_head.load(std::memory_order_acquire);
            if (tail - m_cachedHead > m_mask) return false;
        }
        m_items[tail & m_mask] = item;
        m_tail.store(tail + 1, std::memory_order_release);
        return true;
    }

    /// Consumer only. Appends at most `limit` items to `out`; returns how many.
    std::size_t drain(std::vector<T>& out, std::size_t limit) {
        const std::size_t tail = m_tail.load(std::memory_order_acquire);
        const std::size_t head = m_head.load(std::memory_order_relaxed);
        const std::size_t waiting = tail - head;
        const std::size_t count = waiting < limit ? waiting : limit;
        for (std::size_t i = 0; i < count; ++i) out.push_back(m_items[(head + i) & m_mask]);
        m_head.store(head + count, std::memory_order_release);
        return count;
    }

private:
    static constexpr std::size_t kCacheLine = 64;

    const std::size_t m_mask;
    const std::unique_ptr<T[]> m_items;
    alignas(kCacheLine) std::atomic<std::size_t> m_head{0};  // written by the consumer
    alignas(kCacheLine) std::atomic<std::size_t> m_tail{0};  // written by the producer
    std::size_t m_cachedHead = 0;                            // the producer's last look at m_head
};

}  // namespace profiling
