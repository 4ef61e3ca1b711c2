// Ctrl-C closes a run cleanly; kill -9 loses at most the newest second and never the file.
#include "kill_check.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace cli_test {
namespace {

TEST(Interrupt, ctrlCFinishesTheStepAndClosesTheRun) {
    for (const int number : {SIGINT, SIGTERM}) {
        const Scratch scratch;
        Process process(scratch.cli(tinyTrain({"--precision", "fp8", "--steps", "100000", "--checkpoint", "m.ckpt"})),
                        scratch.folder());
        ASSERT_TRUE(process.readUntil("\"step\":10,"));
        process.signal(number);
        const Outcome outcome = process.finish();
        EXPECT_EQ(outcome.code, 130) << outcome.err;
        EXPECT_EQ(outcome.err, "");
        const json result = linesOfType(outcome.out, "result").at(0);
        EXPECT_EQ(result["status"], "interrupted");
        const json stored = scratch.runs("a.amax").at(0);
        EXPECT_EQ(stored["status"], "interrupted");
        EXPECT_EQ(stored["steps"], result["steps"]);
        EXPECT_FALSE(stored["ended_at_ns"].is_null());
        EXPECT_TRUE(std::filesystem::exists(scratch.path("m.ckpt")));
    }
}

TEST(Interrupt, closingChecksCanBeStoppedAndCostNothing) {
    const Scratch scratch;
    // Validation and the prompts of this model take far longer than a signal does.
    Process process(
        scratch.cli({"train", "--layers",     "4",      "--d-model",   "256",    "--heads",   "4", "--seq-len",
                     "128",   "--batch",      "32",     "--precision", "fp32",   "--threads", "1", "--steps",
                     "1",     "--checkpoint", "m.ckpt", "--db",        "a.amax", "--json"}),
        scratch.folder());
    ASSERT_TRUE(process.readUntil("saved to m.ckpt"));
    process.signal(SIGINT);
    const Outcome outcome = process.finish();
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    const json result = linesOfType(outcome.out, "result").at(0);
    EXPECT_EQ(result["status"], "interrupted");
    EXPECT_EQ(result["steps"], 1);
    EXPECT_LT(result["stride_total"], 20);
    EXPECT_TRUE(linesOfType(outcome.out, "validation").empty());
    EXPECT_TRUE(std::filesystem::exists(scratch.path("m.ckpt")));
}

TEST(Interrupt, benchmarkIsClosedToo) {
    const Scratch scratch;
    Process process(scratch.cli({"bench", "--layers", "1", "--d-model", "32", "--heads", "2", "--seq-len", "32",
                                 "--batch", "4", "--threads", "1", "--repeats", "100000", "--db", "a.amax", "--json"}),
                    scratch.folder());
    ASSERT_TRUE(process.readUntil("\"step\":20,"));
    process.signal(SIGINT);
    EXPECT_EQ(process.finish().code, 130);
    const std::vector<json> runs = scratch.runs("a.amax");
    EXPECT_EQ(runs.size(), 3U);
    for (const json& run : runs) EXPECT_EQ(run["status"], "interrupted");
}

TEST(Interrupt, secondCtrlCEndsAtOnce) {
    const Scratch scratch;
    // A step of this model takes a second or more, so both signals arrive in the second step.
    Process process(scratch.cli({"train", "--layers", "4", "--d-model", "256", "--heads", "4", "--seq-len", "256",
                                 "--batch", "32", "--precision", "fp32", "--threads", "1", "--db", "a.amax", "--json"}),
                    scratch.folder());
    ASSERT_TRUE(process.readUntil("\"step\":0,"));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    process.signal(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    process.signal(SIGINT);
    const Outcome outcome = process.finish();
    EXPECT_EQ(outcome.code, 130);
    EXPECT_TRUE(linesOfType(outcome.out, "result").empty());
    EXPECT_EQ(scratch.runs("a.amax").at(0)["status"], "crashed");
}

TEST(Interrupt, closedPipeDoesNotStopTheRun) {
    const Scratch scratch;
    std::vector<std::string> command = {"bash", "-c", "\"$0\" \"$@\" | head -1"};
    for (const std::string& argument : scratch.cli(tinyTrain({"--steps", "200"}))) command.push_back(argument);
    scratch.runCommand(command);
    EXPECT_EQ(scratch.runs("a.amax").at(0)["status"], "finished");
}

TEST(Interrupt, killedRunsKeepTheirStepsAndReadAsCrashed) {
    killAtRandomMoments(3, 7);
}

}  // namespace
}  // namespace cli_test
