// kill -9 at random moments; see kill_check.h.
#include "kill_check.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

namespace cli_test {
namespace {

/// A step is visible a second after its end; the rest is slack for a busy machine.
constexpr std::int64_t kDurableNs = 1'500'000'000;

std::int64_t nowNs() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// Steps of the exported run, which must count from 0 without a gap.
std::int64_t storedSteps(const json& run) {
    std::int64_t next = 0;
    for (const json& step : run["steps"]) {
        EXPECT_EQ(step["step"], next);
        ++next;
    }
    return next;
}

std::int64_t durableSteps(const std::string& output, std::int64_t killedAtNs) {
    std::int64_t count = 0;
    for (const json& step : linesOfType(output, "step")) {
        const std::int64_t end = step["start_ns"].get<std::int64_t>() + step["duration_ns"].get<std::int64_t>();
        if (end < killedAtNs - kDurableNs) count = step["step"].get<std::int64_t>() + 1;
    }
    return count;
}

}  // namespace

void killAtRandomMoments(int times, unsigned seed) {
    const Scratch scratch;
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> delayMs(100, 2600);
    std::string before;
    for (int i = 1; i <= times; ++i) {
        // A step of a few milliseconds: the stored run stays small enough to be read back as JSON.
        Process process(scratch.cli(tinyTrain({"--layers", "2", "--d-model", "64", "--seq-len", "64", "--batch", "16",
                                               "--precision", "fp8", "--steps", "1000000"})),
                        scratch.folder());
        ASSERT_TRUE(process.readUntil("\"type\":\"run\""));
        std::thread killer([&process, delay = std::chrono::milliseconds(delayMs(random))] {
            std::this_thread::sleep_for(delay);
            process.signal(SIGKILL);
        });
        while (process.readUntil("\n")) {
        }
        const std::int64_t killedAt = nowNs();
        killer.join();
        const Outcome outcome = process.finish();
        ASSERT_EQ(outcome.code, 128 + SIGKILL);

        const std::vector<json> runs = scratch.runs("a.amax");
        ASSERT_EQ(runs.size(), static_cast<std::size_t>(i));
        for (const json& run : runs) EXPECT_EQ(run["status"], "crashed");
        const json exported = json::parse(scratch.exported("a.amax", i));
        const std::int64_t stored = storedSteps(exported["runs"][0]);
        EXPECT_GE(stored, durableSteps(outcome.out, killedAt)) << "kill " << i;
        if (i > 1) {
            EXPECT_EQ(scratch.exported("a.amax", i - 1), before) << "kill " << i;
        }
        before = scratch.exported("a.amax", i);
    }
}

}  // namespace cli_test
