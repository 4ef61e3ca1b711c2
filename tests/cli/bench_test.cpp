// Benchmarks: interleaved repeats, every sample stored, one run per variant in one group.
#include "cli_runner.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(Bench, everyRecipeRunsUnderALabelOfItsOwn) {
    const Scratch scratch;
    const std::string list =
        "fp32,bf16,fp8:delayed:hybrid,fp8:current:hybrid,fp8:block,fp8:mxfp8,fp8:nvfp4,"
        "fp8:delayed:hybrid/unfused,fp8:delayed:hybrid/fp8weights,fp8:delayed:hybrid/keepinit,"
        "fp8:delayed:hybrid/edges1,fp8:delayed:hybrid/history=1024";
    const Outcome outcome =
        scratch.run(tinyBench({"--d-model", "128", "--layers", "3", "--precisions", list, "--warmup", "0", "--repeats",
                               "1", "--steps-per-repeat", "2", "--json"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    std::string names;
    for (const json& result : linesOfType(outcome.out, "result")) {
        names += (names.empty() ? "" : ",") + result["name"].get<std::string>();
        EXPECT_EQ(result["baseline"], "fp32");
        EXPECT_EQ(result["scaled_down"], nullptr);
        EXPECT_TRUE(result["loss"].is_number()) << result;
    }
    EXPECT_EQ(names, list);
    const std::vector<json> runs = scratch.runs("a.amax");
    ASSERT_EQ(runs.size(), 12U);
    const auto stored = [&runs](const std::string& name) {
        return *std::find_if(runs.begin(), runs.end(), [&](const json& run) { return run["name"] == name; });
    };
    EXPECT_EQ(stored("fp8:nvfp4")["recipe"]["recipe"], "nvfp4");
    EXPECT_EQ(stored("fp8:delayed:hybrid/unfused")["train"]["fused"], false);
    EXPECT_EQ(stored("fp8:delayed:hybrid/fp8weights")["train"]["weights"], "fp8");
    EXPECT_EQ(stored("fp8:delayed:hybrid/keepinit")["train"]["weights"], "fp8_keep_init");
    EXPECT_EQ(stored("fp8:delayed:hybrid/edges1")["train"]["bf16_edge_layers"], 1);
    EXPECT_EQ(stored("fp8:delayed:hybrid/history=1024")["recipe"]["amax_history_len"], 1024);
    EXPECT_EQ(stored("fp32")["recipe"], nullptr);
}

TEST(Bench, suiteSaysEverywhereWhatItScaledDown) {
    const Scratch scratch;
    const std::vector<std::string> tiny = tinyBench({"--suite", "tutorial-extensions", "--vocab", "256", "--warmup",
                                                     "0", "--repeats", "1", "--steps-per-repeat", "1"});
    std::vector<std::string> inJson = tiny;
    inJson.push_back("--json");
    const Outcome outcome = scratch.run(inJson);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    // Worked out by hand in jobs_test.cpp.
    const std::string scaled = "d-model 2048 → 64, heads 32 → 1, layers 12 → 3";

    const json suite = linesOfType(outcome.out, "suite").at(0);
    EXPECT_EQ(suite["suite"], "tutorial-extensions");
    EXPECT_EQ(suite["full_size"], false);
    ASSERT_EQ(suite["variants"].size(), 8U);
    EXPECT_EQ(suite["variants"][0]["scaled_down"], nullptr);
    EXPECT_EQ(suite["variants"][7]["scaled_down"], scaled);
    EXPECT_EQ(suite["variants"][7]["model"]["d_model"], 64);

    const std::vector<json> results = linesOfType(outcome.out, "result");
    ASSERT_EQ(results.size(), 8U);
    for (const json& result : results) {
        const bool large = result["name"].get<std::string>().starts_with("large");
        EXPECT_EQ(result["scaled_down"], large ? json(scaled) : json(nullptr)) << result["name"];
        EXPECT_EQ(result["baseline"], large ? "large-bf16" : "bf16");
    }

    const std::vector<json> runs = scratch.runs("a.amax");  // newest first
    ASSERT_EQ(runs.size(), 8U);
    EXPECT_EQ(runs.back()["bench"], "tutorial-extensions");
    EXPECT_EQ(runs.back()["name"], "bf16");
    EXPECT_EQ(runs.front()["model"]["layers"], 3);
    const auto notes = [&](int run) {
        std::vector<std::string> texts;
        const json file = json::parse(scratch.exported("a.amax", run));
        for (const json& event : file["runs"][0]["events"]) {
            if (event["code"] == "scaled_down") texts.push_back(event["text"]);
        }
        return texts;
    };
    EXPECT_TRUE(notes(runs.back()["run"]).empty());
    EXPECT_EQ(notes(runs.front()["run"]),
              std::vector<std::string>{"large-hybrid is scaled down for this machine: " + scaled});

    const Outcome text = scratch.run(tiny);
    ASSERT_EQ(text.code, 0) << text.err;
    EXPECT_NE(text.out.find("--full-size runs all as they are"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("large-hybrid was scaled down: " + scaled), std::string::npos) << text.out;
}

TEST(Bench, suiteOfOnesOwnRunsAtFullSizeWhenAsked) {
    const Scratch scratch;
    scratch.write("deep.toml",
                  "summary = \"deep\"\n[[variant]]\nlabel = \"flat\"\n"
                  "[[variant]]\nlabel = \"deep\"\n[variant.model]\nlayers = 20\n");
    const auto layers = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"--suite", "deep.toml", "--warmup", "0", "--repeats", "1"});
        const Outcome outcome = scratch.run(tinyBench(more));
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return scratch.runs("a.amax").front()["model"]["layers"].get<int>();
    };
    EXPECT_LT(layers({}), 20);
    EXPECT_EQ(layers({"--full-size"}), 20);
    EXPECT_EQ(scratch.runs("a.amax").size(), 4U);
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
