// The pool: workers wait for a new generation number, run their chunk, and count themselves out.
#include "cpu/thread_pool.h"

#include "cpu/isa.h"
#include "engine/error.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace engine::cpu {

namespace {

/// About ten microseconds: longer than the gap between two kernels of a step, shorter than anyone would notice.
constexpr int kSpins = 400;

void pauseCpu() {
#if AMAXSCOPE_X86
    _mm_pause();
#endif
}

/// Waits until `value` differs from `old`: a short spin first, then asleep.
template <typename T>
void waitWhile(const std::atomic<T>& value, T old) {
    for (int i = 0; i < kSpins; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        pauseCpu();
    }
    value.wait(old, std::memory_order_acquire);
}

}  // namespace

struct ThreadPool::State {
    int threads = 1;
    std::atomic<std::uint32_t> generation{0};
    std::atomic<int> running{0};  // workers still busy with the present generation
    // Both are written before generation is raised and read after it was seen to rise.
    const std::function<void(int)>* task = nullptr;
    bool stop = false;
    std::vector<std::thread> workers;
    std::mutex errorMutex;
    std::exception_ptr error;  // the first that a chunk threw

    void runChunk(int chunk, const std::function<void(int)>& task);
    void work(int chunk);
    void start();
};

void ThreadPool::State::start() {
    generation.fetch_add(1, std::memory_order_release);
    generation.notify_all();
}

void ThreadPool::State::runChunk(int chunk, const std::function<void(int)>& toRun) {
    try {
        toRun(chunk);
    } catch (...) {
        const std::lock_guard lock(errorMutex);
        if (!error) error = std::current_exception();
    }
}

void ThreadPool::State::work(int chunk) {
    std::uint32_t seen = 0;
    for (;;) {
        waitWhile(generation, seen);
        ++seen;  // run() waits for every worker, so no generation can be missed
        if (stop) return;
        runChunk(chunk, *task);
        if (running.fetch_sub(1, std::memory_order_acq_rel) == 1) running.notify_one();
    }
}

ThreadPool::ThreadPool(int threads) : m_state(std::make_unique<State>()) {
    m_state->threads = std::max(threads, 1);
    m_state->workers.reserve(static_cast<std::size_t>(m_state->threads - 1));
    try {
        for (int chunk = 1; chunk < m_state->threads; ++chunk)
            m_state->workers.emplace_back([state = m_state.get(), chunk] { state->work(chunk); });
    } catch (const std::system_error& refusal) {
        // The system refused a thread: those that exist must end before the state does.
        m_state->stop = true;
        m_state->start();
        for (std::thread& worker : m_state->workers) worker.join();
        throw Error(ErrorKind::Failure, "--threads " + std::to_string(threads),
                    std::string("the system refused a thread: ") + refusal.code().message(), "use fewer threads");
    }
}

ThreadPool::~ThreadPool() {
    m_state->stop = true;
    m_state->start();
    for (std::thread& worker : m_state->workers) worker.join();
}

int ThreadPool::threads() const {
    return m_state->threads;
}

void ThreadPool::run(const std::function<void(int chunk)>& task) {
    State& state = *m_state;
    if (state.threads > 1) {
        state.task = &task;
        state.running.store(state.threads - 1, std::memory_order_relaxed);
        state.start();
    }
    state.runChunk(0, task);
    for (int left = state.running.load(std::memory_order_acquire); left != 0;
         left = state.running.load(std::memory_order_acquire))
        waitWhile(state.running, left);
    if (state.error) std::rethrow_exception(std::exchange(state.error, nullptr));
}

std::pair<std::int64_t, std::int64_t> ThreadPool::part(std::int64_t n, int chunk, std::int64_t grain) const {
    const std::int64_t count = m_state->threads;
    const std::int64_t units = (n + grain - 1) / grain;
    const auto edge = [&](std::int64_t index) { return std::min(n, units * index / count * grain); };
    return {edge(chunk), edge(chunk + 1)};
}

}  // namespace engine::cpu
