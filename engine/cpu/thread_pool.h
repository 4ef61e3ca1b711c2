// The engine's one pool of threads. Static partition only: chunk i always covers the same part of the work, so that
// sums over chunks, added in chunk order, repeat bit for bit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace engine::cpu {

class ThreadPool {
public:
    /// threads ≥ 1, the calling thread included; it runs chunk 0 itself. Throws Error when the system refuses one.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const;

    /// Runs task(chunk) for chunk 0 … threads()−1, one per thread, and waits for all. Not reentrant. What a
    /// chunk throws is thrown here, after all have ended (the first, when there are several). Workers spin for some
    /// microseconds before they sleep.
    void run(const std::function<void(int chunk)>& task);

    /// Part [first, last) of n items for one chunk, in multiples of `grain` (the last part takes the rest).
    std::pair<std::int64_t, std::int64_t> part(std::int64_t n, int chunk, std::int64_t grain = 1) const;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

}  // namespace engine::cpu
