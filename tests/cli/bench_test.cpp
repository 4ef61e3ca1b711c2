// Benchmarks: interleaved repeats, every sample stored, one run per variant in one group.
#include "cli_runner.h"

#include <gtest/gtest.h>

namespace cli_test {
namespace {

std::vector<std::string> tinyBench(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"bench", "--layers", "1", "--d-model", "32", "--heads", "2",     "--seq-len",
                                          "32",    "--batch",  "4", "--threads", "1",  "--db",    "a.amax"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

TEST(Bench, storesEverySampleOfEveryVariant) {
    const Scratch scratch;
    const Outcome outcome =
        scratch.run(tinyBench({"--precisions", "fp32,bf16,fp8:delayed:hybrid,fp8:delayed:e4m3", "--warmup", "2",
                               "--repeats", "4", "--steps-per-repeat", "3", "--name", "four", "--json"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const std::vector<json> results = linesOfType(outcome.out, "result");
    ASSERT_EQ(results.size(), 4U);
    for (const json& result : results) {
        EXPECT_EQ(result["status"], "finished");
        EXPECT_EQ(result["samples"], 4);
        EXPECT_EQ(result["steps"], 2 + 4 * 3);
        EXPECT_GE(result["tokens_per_second"], result["tokens_per_second_min"]);
        EXPECT_LE(result["tokens_per_second"], result["tokens_per_second_max"]);
    }
    EXPECT_EQ(results[0]["speedup"], 1.0);
    EXPECT_EQ(results[3]["name"], "fp8:delayed:e4m3");

    const std::vector<json> runs = scratch.runs("a.amax");
    ASSERT_EQ(runs.size(), 4U);
    int baselines = 0;
    for (const json& run : runs) {
        EXPECT_EQ(run["bench"], "four");
        EXPECT_EQ(run["steps"], 14);
        baselines += run["baseline"].get<bool>() ? 1 : 0;
    }
    EXPECT_EQ(baselines, 1);
    EXPECT_TRUE(runs.back()["baseline"].get<bool>());
    const Outcome samples = scratch.run({"export", "--table", "samples", "--db", "a.amax"});
    std::size_t lines = 0;
    for (const char c : samples.out) lines += c == '\n' ? 1 : 0;
    EXPECT_EQ(lines, 1U + 4U * 2U * 4U) << samples.out;
}

TEST(Bench, variantsTakeTurnsInRotatingOrder) {
    const Scratch scratch;
    const Outcome outcome = scratch.run(tinyBench(
        {"--precisions", "fp32,bf16", "--warmup", "1", "--repeats", "3", "--steps-per-repeat", "1", "--json"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    std::string order;
    for (const json& step : linesOfType(outcome.out, "step")) order += step["label"] == "fp32" ? 'a' : 'b';
    EXPECT_EQ(order,
              "ab"
              "ab"
              "ba"
              "ab");
}

TEST(Bench, norecordKeepsSamplesButNoSnapshotsAndNoKernels) {
    const Scratch scratch;
    const Outcome outcome =
        scratch.run(tinyBench({"--precisions", "fp8,fp8/norecord", "--warmup", "1", "--repeats", "2", "--json"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json with = json::parse(scratch.exported("a.amax", 1))["runs"][0];
    const json without = json::parse(scratch.exported("a.amax", 2))["runs"][0];
    EXPECT_FALSE(with["kernels"].empty());
    EXPECT_TRUE(without["kernels"].empty());
    std::size_t snapshots = 0;
    for (const json& tensor : without["tensors"]) snapshots += tensor["snapshots"].size();
    EXPECT_EQ(snapshots, 0U);
    EXPECT_EQ(without["samples"].size(), with["samples"].size());
    // Recording changes nothing of what is computed.
    EXPECT_EQ(with["steps"].back()["loss"], without["steps"].back()["loss"]);
}

TEST(Bench, moreStepsThanCanBeCountedAreRefused) {
    const Scratch scratch;
    const Outcome outcome = scratch.run(tinyBench({"--repeats", "100000", "--steps-per-repeat", "100000"}));
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("--repeats 100000 --steps-per-repeat 100000: together ask for 10000000003 steps"),
              std::string::npos)
        << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(scratch.path("a.amax")));
}

TEST(Bench, tableNamesEveryVariant) {
    const Scratch scratch;
    const Outcome outcome = scratch.run(tinyBench({"--precisions", "fp32,fp32", "--warmup", "0", "--repeats", "1"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("fp32 #2"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("speed-up"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace cli_test
