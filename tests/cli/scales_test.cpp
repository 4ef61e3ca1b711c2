// The stored scales follow from the stored amax values, checked by a script that shares no code with the program.
#include "cli_runner.h"

#include <gtest/gtest.h>

#include <fstream>

namespace cli_test {
namespace {

Outcome recompute(const Scratch& scratch) {
    return scratch.runCommand({PYTHON3, RECOMPUTE_SCALES, scratch.path("a.amax").string()});
}

void trainFp8(const Scratch& scratch, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = tinyTrain({"--precision", "fp8", "--steps", "40"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = scratch.run(arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
}

class Scales : public ::testing::Test {
protected:
    void SetUp() override {
        if (std::string(PYTHON3).empty()) GTEST_SKIP() << "there is no python3";
    }
    Scratch scratch;
};

TEST_F(Scales, hybridScalesEqualTheOnesRecomputedFromAmax) {
    trainFp8(scratch, {"--format", "hybrid"});
    const Outcome outcome = recompute(scratch);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find(", 0 differ"), std::string::npos);
}

TEST_F(Scales, shortHistoryMarginAndMostRecentAreFollowed) {
    trainFp8(scratch, {"--format", "e4m3", "--amax-history-len", "3", "--margin", "2"});
    trainFp8(scratch, {"--amax-algo", "most_recent", "--margin", "1"});
    trainFp8(scratch, {"--amax-history-len", "1"});
    const Outcome outcome = recompute(scratch);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
}

TEST_F(Scales, theScriptFindsAChangedScale) {
    trainFp8(scratch, {});
    scratch.write("spoil.py",
                  "import sqlite3, sys\n"
                  "c = sqlite3.connect(sys.argv[1])\n"
                  "c.execute('UPDATE scale_snapshot SET scale = scale * (1 + 1.2e-7) WHERE step = 20 AND tensor_id = "
                  "(SELECT min(tensor_id) FROM scale_snapshot)')\n"
                  "c.commit()\n");
    ASSERT_EQ(scratch.runCommand({PYTHON3, "spoil.py", "a.amax"}).code, 0);
    const Outcome outcome = recompute(scratch);
    EXPECT_EQ(outcome.code, 1) << outcome.out;
    EXPECT_NE(outcome.out.find("1 differ"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace cli_test
