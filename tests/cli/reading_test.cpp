// Reading commands on one recorded file: runs, show, compare, export, inspect; and doctor and presets.
#include "cli_runner.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cli_test {
namespace {

class Reading : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(scratch.run(tinyTrain({"--precision", "fp32", "--steps", "8", "--name", "base"})).code, 0);
        ASSERT_EQ(
            scratch.run(tinyTrain({"--precision", "fp8", "--steps", "8", "--name", "low", "--checkpoint", "m.ckpt"}))
                .code,
            0);
    }
    std::string ok(std::vector<std::string> arguments) const {
        const Outcome outcome = scratch.run(arguments);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_EQ(outcome.err, "");
        return outcome.out;
    }
    static void expectHas(const std::string& text, const std::vector<std::string>& parts) {
        for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }
    Scratch scratch;
};

TEST_F(Reading, runsListsNewestFirst) {
    const std::string text = ok({"runs", "--db", "a.amax"});
    expectHas(text, {"status", "finished", "base", "low", "8/8"});
    EXPECT_LT(text.find("low"), text.find("base"));
    EXPECT_EQ(scratch.runs("a.amax").at(0)["name"], "low");
}

TEST_F(Reading, showTellsConfigurationResultsTensorsAndKernels) {
    expectHas(ok({"show", "2", "--db", "a.amax"}), {"run 2: low (finished)", "amax_history_len 16", "d_model 32",
                                                    "Least headroom", ".weight", "Kernels", "Results"});
    const json shown = json::parse(ok({"show", "2", "--db", "a.amax", "--json"}));
    EXPECT_EQ(shown["recipe"]["format"], "hybrid");
    EXPECT_EQ(shown["host"].is_object(), true);
    EXPECT_FALSE(shown["least_headroom"].empty());
    EXPECT_FALSE(shown["kernels_summary"].empty());
}

TEST_F(Reading, compareShowsDifferencesAgainstTheFirst) {
    const std::string text = ok({"compare", "1", "2", "--db", "a.amax"});
    expectHas(text, {"run 1", "run 2", "tokens/s", "val loss", " %)", "precision", "fp32", "fp8"});
    const std::vector<json> rows = linesOfType(ok({"compare", "1", "2", "--db", "a.amax", "--json"}), "comparison");
    ASSERT_EQ(rows.size(), 2U);
    const double first = rows[0]["loss"]["value"];
    const double second = rows[1]["loss"]["value"];
    EXPECT_DOUBLE_EQ(rows[1]["loss"]["delta"], second - first);
    EXPECT_DOUBLE_EQ(rows[1]["loss"]["share"], (second - first) / first);
}

TEST_F(Reading, inspectTellsDatabasesAndCheckpointsApart) {
    expectHas(ok({"inspect", "a.amax", "m.ckpt"}),
              {"run database, schema 2", "finished   2", "checkpoint", "fp8 delayed hybrid", "d_model"});
    const std::string lines = ok({"inspect", "a.amax", "m.ckpt", "--json"});
    EXPECT_EQ(linesOfType(lines, "database").at(0)["runs"], 2);
    EXPECT_EQ(linesOfType(lines, "checkpoint").at(0)["model"]["layers"], 1);
    EXPECT_NE(scratch.run({"inspect", "nothing"}).code, 0);
}

TEST(Doctor, namesEveryPrecisionWithAReason) {
    const Scratch scratch;
    const Outcome outcome = scratch.run({"doctor", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json doctor = json::parse(outcome.out);
    const json& cpu = doctor["devices"][0];
    EXPECT_EQ(cpu["id"], "cpu");
    EXPECT_EQ(cpu["usable"], true);
    std::vector<std::string> precisions;
    for (const json& entry : cpu["precisions"]) {
        precisions.push_back(entry["precision"]);
        EXPECT_FALSE(entry["reason"].get<std::string>().empty());
        if (entry["precision"] == "fp8") {
            EXPECT_EQ(entry["support"], "emulated");
        }
    }
    EXPECT_EQ(precisions.size(), 3U);
    EXPECT_FALSE(doctor["range_capture"].get<std::string>().empty());
    const Outcome text = scratch.run({"doctor"});
    EXPECT_NE(text.out.find("instructions"), std::string::npos);
    EXPECT_NE(text.out.find("cuda"), std::string::npos);
}

TEST(Presets, areListedWithTheirSize) {
    const Outcome outcome = Scratch().run({"presets", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const std::vector<json> presets = linesOfType(outcome.out, "preset");
    ASSERT_GE(presets.size(), 4U);
    EXPECT_EQ(presets[0]["preset"], "tutorial");
    EXPECT_GT(presets[3]["parameters"], presets[0]["parameters"]);
}

}  // namespace
}  // namespace cli_test
