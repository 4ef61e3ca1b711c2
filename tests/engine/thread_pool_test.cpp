// The engine's thread pool: every chunk once, every item once, and nothing lost over many runs.
#include "cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace engine::cpu {
namespace {

TEST(ThreadPool, runsEveryChunkOnceAndEachOnItsOwnThread) {
    for (const int threads : {1, 2, 3, 7}) {
        ThreadPool pool(threads);
        ASSERT_EQ(pool.threads(), threads);
        std::vector<int> calls(static_cast<std::size_t>(threads));
        std::vector<std::thread::id> ids(calls.size());
        pool.run([&](int chunk) {
            ++calls[static_cast<std::size_t>(chunk)];
            ids[static_cast<std::size_t>(chunk)] = std::this_thread::get_id();
        });
        for (const int count : calls) EXPECT_EQ(count, 1);
        EXPECT_EQ(ids[0], std::this_thread::get_id());
        EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), ids.size());
    }
}

TEST(ThreadPool, aChunkStaysOnItsThread) {
    ThreadPool pool(3);
    std::vector<std::thread::id> first(3);
    pool.run([&](int chunk) { first[static_cast<std::size_t>(chunk)] = std::this_thread::get_id(); });
    for (int round = 0; round < 20; ++round)
        pool.run([&](int chunk) { EXPECT_EQ(first[static_cast<std::size_t>(chunk)], std::this_thread::get_id()); });
}

TEST(ThreadPool, makesAtLeastOneThread) {
    ThreadPool pool(0);
    EXPECT_EQ(pool.threads(), 1);
    int calls = 0;
    pool.run([&](int) { ++calls; });
    EXPECT_EQ(calls, 1);
}

TEST(ThreadPool, partsCoverEveryItemOnceInOrder) {
    for (const int threads : {1, 2, 3, 8}) {
        const ThreadPool pool(threads);
        for (const std::int64_t n : {0, 1, 2, 5, 31, 64, 65, 1000})
            for (const std::int64_t grain : {1, 3, 32}) {
                std::int64_t next = 0;
                for (int chunk = 0; chunk < threads; ++chunk) {
                    const auto [first, last] = pool.part(n, chunk, grain);
                    ASSERT_EQ(first, next) << n << ' ' << grain;
                    ASSERT_LE(first, last);
                    if (first < n) {
                        ASSERT_EQ(first % grain, 0);
                    }
                    next = last;
                }
                ASSERT_EQ(next, n) << grain;
            }
    }
}

TEST(ThreadPool, partsAreBalancedToOneGrain) {
    const ThreadPool pool(3);
    for (int chunk = 0; chunk < 3; ++chunk) {
        const auto [first, last] = pool.part(100, chunk, 8);
        EXPECT_GE(last - first, 28);
        EXPECT_LE(last - first, 40);
    }
}

TEST(ThreadPool, losesNothingOverManyRunsAndSeesWhatTheRunBeforeWrote) {
    ThreadPool pool(3);
    std::vector<std::int64_t> counters(3);
    std::int64_t total = 0;
    constexpr int kRuns = 20000;
    for (int run = 0; run < kRuns; ++run) {
        pool.run([&](int chunk) { counters[static_cast<std::size_t>(chunk)] = total / 3 + 1; });
        total = counters[0] + counters[1] + counters[2];
        ASSERT_EQ(total, 3 * (run + 1));
    }
}

TEST(ThreadPool, wakesWorkersThatFellAsleep) {
    ThreadPool pool(3);
    std::atomic<int> calls{0};
    for (int run = 0; run < 3; ++run) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // far beyond the spin
        pool.run([&](int) { ++calls; });
    }
    EXPECT_EQ(calls.load(), 9);
}

TEST(ThreadPool, waitsForASlowWorker) {
    ThreadPool pool(2);
    std::atomic<bool> finished{false};
    pool.run([&](int chunk) {
        if (chunk == 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        finished = true;
    });
    EXPECT_TRUE(finished.load());
}

TEST(ThreadPool, twoPoolsDoNotDisturbEachOther) {
    ThreadPool outer(2);
    ThreadPool other(2);
    std::atomic<int> calls{0};
    outer.run([&](int chunk) {
        if (chunk == 0) other.run([&](int) { ++calls; });
        ++calls;
    });
    EXPECT_EQ(calls.load(), 4);
}

TEST(ThreadPool, endsCleanlyWithoutEverRunning) {
    for (int round = 0; round < 50; ++round) ThreadPool pool(4);
}

}  // namespace
TEST(ThreadPool, throwsWhatAChunkThrewAfterAllHaveEnded) {
    for (int thrower = 0; thrower < 3; ++thrower) {
        ThreadPool pool(3);
        std::atomic<int> ended{0};
        const auto task = [&](int chunk) {
            if (chunk == thrower) throw std::runtime_error("chunk " + std::to_string(chunk));
            ++ended;
        };
        EXPECT_THROW(pool.run(task), std::runtime_error) << thrower;
        EXPECT_EQ(ended, 2);
        pool.run([&](int) { ++ended; });
        EXPECT_EQ(ended, 5) << "the pool goes on working";
    }
}

}  // namespace engine::cpu
