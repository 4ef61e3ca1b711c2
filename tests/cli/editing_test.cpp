// Renaming and deleting runs, and names that would drive a terminal.
#include "cli_runner.h"

#include <gtest/gtest.h>

namespace cli_test {
namespace {

class Editing : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(scratch.run(tinyTrain({"--precision", "fp32", "--steps", "3", "--name", "one"})).code, 0);
        ASSERT_EQ(scratch.run(tinyTrain({"--precision", "fp32", "--steps", "3", "--name", "two"})).code, 0);
    }
    Outcome run(std::vector<std::string> arguments) const {
        arguments.insert(arguments.end(), {"--db", "a.amax"});
        return scratch.run(arguments);
    }
    void expectUsage(const Outcome& outcome, const std::string& part) const {
        EXPECT_EQ(outcome.code, 2) << outcome.out;
        EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    }
    std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const json& row : scratch.runs("a.amax")) found.push_back(row["name"]);
        return found;
    }
    Scratch scratch;
};

TEST_F(Editing, renameChangesTheNameOnly) {
    const Outcome outcome = run({"rename", "1", "first, renamed"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(names(), (std::vector<std::string>{"two", "first, renamed"}));
    EXPECT_EQ(scratch.runs("a.amax").back()["steps"], 3);
    expectUsage(run({"rename", "7", "x"}), "run 7: not in a.amax: the runs are 1, 2");
    expectUsage(run({"rename", "1"}), "needs a run id and a name");
    expectUsage(run({"rename", "1", ""}), "the name is empty");
    EXPECT_EQ(scratch.run({"rename", "1", "x", "--db", "none.amax"}).code, 2);
    EXPECT_FALSE(std::filesystem::exists(scratch.path("none.amax")));
}

TEST_F(Editing, deletedRunsAreHiddenUntilUndone) {
    const std::string before = scratch.exported("a.amax", 1);
    const Outcome outcome = run({"delete", "1"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("delete --undo 1"), std::string::npos) << outcome.out;
    EXPECT_EQ(names(), std::vector<std::string>{"two"});
    expectUsage(run({"show", "1"}), "run 1: not in a.amax");
    EXPECT_EQ(run({"delete", "--undo", "1"}).code, 0);
    EXPECT_EQ(names(), (std::vector<std::string>{"two", "one"}));
    EXPECT_EQ(scratch.exported("a.amax", 1), before);
}

TEST_F(Editing, purgeRemovesDeletedRunsForGood) {
    EXPECT_EQ(run({"delete", "--purge"}).code, 0);
    EXPECT_EQ(names().size(), 2U) << "nothing was deleted";
    EXPECT_EQ(run({"delete", "1"}).code, 0);
    expectUsage(run({"delete", "2", "--purge"}), "removes all deleted runs, not single ones");
    EXPECT_EQ(run({"delete", "--purge"}).code, 0);
    expectUsage(run({"delete", "--undo", "1"}), "run 1: not in a.amax");
    EXPECT_EQ(names(), std::vector<std::string>{"two"});
}

TEST_F(Editing, oneUnknownRunKeepsAllOfThem) {
    expectUsage(run({"delete", "1", "9"}), "run 9: not in a.amax");
    EXPECT_EQ(names().size(), 2U);
    expectUsage(run({"delete"}), "needs a run id or more");
    expectUsage(run({"delete", "--undo", "--purge"}), "cannot be undone");
}

TEST_F(Editing, runThatIsBeingRecordedIsNotDeleted) {
    Process process(scratch.cli(tinyTrain({"--steps", "1000000"})), scratch.folder());
    ASSERT_TRUE(process.readUntil("\"step\":5,"));
    expectUsage(run({"delete", "3"}), "run 3: is being recorded");
}

TEST_F(Editing, controlCharactersInNamesNeverReachTheTerminal) {
    const std::string evil = "a\x1b[2J\x07\nb\tc";
    std::vector<std::string> arguments = tinyTrain({"--precision", "fp32", "--steps", "3", "--name", evil});
    arguments.erase(std::find(arguments.begin(), arguments.end(), "--json"));
    const Outcome trained = scratch.run(arguments);
    ASSERT_EQ(trained.code, 0) << trained.err;
    for (const std::string& text : {trained.out, run({"runs"}).out, run({"show", "3"}).out,
                                    run({"compare", "1", "3"}).out, run({"rename", "3", evil}).out}) {
        EXPECT_EQ(text.find_first_of("\x1b\x07\t"), std::string::npos) << text;
        EXPECT_NE(text.find("a\\x1b[2J\\x07\\nb\\tc"), std::string::npos) << text;
    }
    EXPECT_EQ(scratch.runs("a.amax").front()["name"], evil) << "JSON keeps the name as it is";
}

}  // namespace
}  // namespace cli_test
