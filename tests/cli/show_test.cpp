// show --tensors and --exponents on a run with known numbers, recorded here and read by the program.
#include "cli_runner.h"
#include "recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace cli_test {
namespace {

/// Steps 0, 5 and 10. "head.input" is cast to E4M3 with one scale, "head.weight" to E2M1 in blocks, "head.output" is
/// not cast. Histograms of the input at steps 0 and 10.
void record(const std::string& path) {
    const auto session = profiling::Session::open(path);
    const auto recorder = session->startRun(test::describeRun("known"), profiling::RecordOptions{false});
    const std::vector<engine::TensorInfo> tensors{{0, "head", "input", "E4M3", 10, 10},
                                                  {1, "head", "weight", "E2M1", 5, 20},
                                                  {2, "head", "output", "FP32", 10, 5}};
    recorder->onTensors(tensors);
    for (std::int64_t step = 0; step <= 10; step += 5) {
        engine::TensorSnapshot input = test::snapshot(0, 1.75F, 64.0F);
        input.zeros = 80;
        if (step != 5) {
            input.smallest = 0.125F;
            input.firstExponent = -3;
            input.exponents = {2, 3, 5, 10};
        }
        engine::TensorSnapshot weight = test::snapshot(1, 3.0F, 1.0F);
        weight.scaleInvMin = 0.25F;
        weight.scaleInvMax = 1.0F;
        recorder->onStepEnd(test::stepStats(step),
                            std::vector{input, weight, test::uncastSnapshot(2, static_cast<float>(step))});
    }
    recorder->close(profiling::RunStatus::Finished);
}

class Show : public ::testing::Test {
protected:
    void SetUp() override { record(scratch.path("a.amax").string()); }
    Outcome show(std::vector<std::string> more) const {
        std::vector<std::string> arguments{"show", "1", "--db", "a.amax"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return scratch.run(arguments);
    }
    std::string shown(const std::vector<std::string>& more) const {
        const Outcome outcome = show(more);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_EQ(outcome.err, "");
        return outcome.out;
    }
    void expectRefused(const std::vector<std::string>& more, const std::string& part) const {
        const Outcome outcome = show(more);
        EXPECT_EQ(outcome.code, 2) << part;
        EXPECT_EQ(outcome.out, "") << part;
        EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    }
    Scratch scratch;
};

TEST_F(Show, tensorsGivesTheFiguresOfEachAtTheLastStep) {
    const json answer = json::parse(shown({"--tensors", "--json"}));
    EXPECT_EQ(answer["type"], "tensors");
    EXPECT_EQ(answer["run"], 1);
    ASSERT_EQ(answer["tensors"].size(), 3U);
    const json& input = answer["tensors"][0];
    EXPECT_EQ(input["tensor"], "head.input");
    EXPECT_EQ(input["format"], "E4M3");
    EXPECT_EQ(input["step"], 10);
    EXPECT_EQ(input["headroom_bits"], 2.0) << "448 / (1.75 * 64) = 4";
    EXPECT_EQ(input["saturated_share"], 0.01);
    EXPECT_EQ(input["underflowed_share"], 0.02);
    EXPECT_EQ(input["sqnr_db"], 20.0);
    EXPECT_EQ(input["scale_inv_min"], 1.0 / 64);
    EXPECT_DOUBLE_EQ(input["dynamic_range_bits"], std::log2(14.0));
    const json& weight = answer["tensors"][1];
    EXPECT_EQ(weight["headroom_bits"], 1.0) << "6 / 3";
    EXPECT_EQ(weight["scale_inv_min"], 0.25);
    EXPECT_EQ(weight["scale_inv_max"], 1.0);
    EXPECT_TRUE(weight["dynamic_range_bits"].is_null());
    const json& output = answer["tensors"][2];
    EXPECT_EQ(output["amax"], 10.0);
    for (const char* absent : {"scale", "scale_inv_min", "headroom_bits", "saturated_share", "sqnr_db"}) {
        EXPECT_TRUE(output[absent].is_null()) << absent;
    }
}

TEST_F(Show, tensorsOfAnEarlierStepAreThoseOfTheSnapshotBeforeIt) {
    const std::string text = shown({"--tensors", "--step", "9"});
    EXPECT_NE(text.find("newest snapshots up to step 9;"), std::string::npos) << text;
    EXPECT_NE(text.find("0.25 .. 1"), std::string::npos) << text;
    EXPECT_EQ(text.find("nan"), std::string::npos) << text;
    const json answer = json::parse(shown({"--tensors", "--step", "9", "--json"}));
    EXPECT_EQ(answer["tensors"][0]["step"], 5);
    EXPECT_EQ(answer["tensors"][2]["amax"], 5.0);
    EXPECT_TRUE(answer["tensors"][0]["smallest"].is_null()) << "not looked for at step 5";
}

TEST_F(Show, exponentsIsTheNewestHistogramWithWhatFormatsWouldLose) {
    const json answer = json::parse(shown({"--exponents", "head.input", "--step", "9", "--json"}));
    EXPECT_EQ(answer["type"], "exponents");
    EXPECT_EQ(answer["step"], 0);
    EXPECT_EQ(answer["steps"], (std::vector<int>{0, 10}));
    EXPECT_EQ(answer["first_exponent"], -3);
    EXPECT_EQ(answer["counts"], (std::vector<int>{2, 3, 5, 10}));
    ASSERT_EQ(answer["formats"].size(), 4U);
    EXPECT_EQ(answer["formats"][0]["scale_is"], "used");
    EXPECT_EQ(answer["formats"][0]["scale"], 64.0);
    EXPECT_EQ(answer["formats"][1]["scale"], 256.0) << "448 / 1.75";
    // E2M1: scale 6 / 1.75, smallest value 0.5, so the limit is 0.1458, inside the lowest binade.
    const json& e2m1 = answer["formats"][3];
    EXPECT_EQ(e2m1["format"], "E2M1");
    EXPECT_EQ(e2m1["below_subnormal"], json({{"at_least", 0.0}, {"at_most", 0.02}}));
    EXPECT_EQ(e2m1["above_max"], json({{"at_least", 0.0}, {"at_most", 0.0}}));
}

TEST_F(Show, exponentsAsTextAreBarsFromTheLargestBinadeDown) {
    const std::string text = shown({"--exponents", "head.input"});
    EXPECT_EQ(text.rfind("head.input (E4M3, 10x10) at step 10\n", 0), 0U) << text;
    EXPECT_NE(text.find("  amax 1.75, smallest 0.125, dynamic range 3.81 bits\n"), std::string::npos) << text;
    const std::string full(40, '#');
    EXPECT_NE(text.find("   0        10   10 %  " + full + "\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  -3         2    2 %  ########\n"), std::string::npos) << text;
    EXPECT_LT(text.find(full), text.find(" -3 "));
    EXPECT_NE(text.find("in no binade: 80 "), std::string::npos) << text;
    EXPECT_NE(text.find("0 % to 2 %"), std::string::npos) << text;
}

TEST_F(Show, exportHasTheHistogramsAsATable) {
    const Outcome outcome = scratch.run({"export", "1", "--table", "exponents", "--db", "a.amax"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out.substr(0, outcome.out.find("0,-2")),
              "run,tensor,role,format,step,exponent,elements\r\n1,head,input,E4M3,0,-3,2\r\n1,head,input,E4M3,");
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 9);
    EXPECT_EQ(json::parse(scratch.exported("a.amax", 1))["runs"][0]["tensors"][0]["exponents"].size(), 2U);
}

TEST_F(Show, mistakesAreToldWithWhatToDo) {
    expectRefused({"--exponents", "head.imput"}, "did you mean head.input? see amaxscope-cli show 1 --tensors");
    expectRefused({"--exponents", ""}, "run 1 has no such tensor");
    expectRefused({"--exponents", "head.weight"}, "record the run with --exponents-every 10");
    expectRefused({"--exponents", "head.input", "--tensors"}, "use one of them at a time");
    expectRefused({"--step", "3"}, "add --tensors or --exponents TENSOR");
    expectRefused({"--tensors", "--step", "-1"}, "steps count from 0");
    expectRefused({"--tensors", "--step", "three"}, "is not a whole number");
}

TEST_F(Show, aRunWithoutSnapshotsSaysSo) {
    const auto session = profiling::Session::open(scratch.path("a.amax").string());
    const auto recorder = session->startRun(test::describeRun("bare"), {});
    recorder->close(profiling::RunStatus::Finished);
    const Outcome outcome = scratch.run({"show", "2", "--tensors", "--db", "a.amax"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "run 2 has no tensor snapshots\n");
}

}  // namespace
}  // namespace cli_test
