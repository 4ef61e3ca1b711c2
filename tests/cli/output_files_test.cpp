// What commands may write over: never the database, the data or anybody's other files.
#include "cli_runner.h"

#include <gtest/gtest.h>

namespace cli_test {
namespace {

class OutputFiles : public ::testing::Test {
protected:
    void SetUp() override {
        scratch.writeText("book.txt", 20000);
        ASSERT_EQ(train({"--steps", "4"}).code, 0);
        m_before = scratch.exported("a.amax", 1);
    }
    Outcome train(const std::vector<std::string>& more) const {
        std::vector<std::string> arguments = tinyTrain({"--data", "text:book.txt"});
        arguments.insert(arguments.end(), more.begin(), more.end());
        return scratch.run(arguments);
    }
    /// Refused as bad usage, before a run was added.
    void expectRefused(const Outcome& outcome, const std::string& reason) const {
        EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
        EXPECT_NE(outcome.err.find(reason), std::string::npos) << outcome.err;
        EXPECT_EQ(scratch.runs("a.amax").size(), 1U);
        EXPECT_EQ(scratch.exported("a.amax", 1), m_before);
    }
    Scratch scratch;

private:
    std::string m_before;
};

TEST_F(OutputFiles, checkpointNeverReplacesTheDatabase) {
    std::filesystem::create_hard_link(scratch.path("a.amax"), scratch.path("link.ckpt"));
    std::filesystem::create_directory(scratch.path("folder"));
    for (const char* path : {"a.amax", "./a.amax", "folder/../a.amax", "a.amax-wal", "a.amax-shm", "link.ckpt"}) {
        expectRefused(train({"--steps", "2", "--checkpoint", path}), "is the run database");
    }
    // A database that does not exist yet is no reason to agree.
    expectRefused(train({"--steps", "2", "--db", "b.amax", "--checkpoint", "./b.amax"}), "is the run database");
    EXPECT_FALSE(std::filesystem::exists(scratch.path("b.amax")));
}

TEST_F(OutputFiles, checkpointNeverReplacesDataOrForeignFiles) {
    const std::string book = scratch.read("book.txt");
    expectRefused(train({"--steps", "2", "--checkpoint", "book.txt"}), "is the training data");
    EXPECT_EQ(scratch.read("book.txt"), book);
    for (const char* notes : {"dear diary", "AMAXCKP"}) {
        scratch.write("notes", notes);
        expectRefused(train({"--steps", "2", "--checkpoint", "notes"}), "is not a checkpoint");
        EXPECT_EQ(scratch.read("notes"), notes);
    }
    // The name under which a checkpoint grows.
    scratch.write("m.ckpt.part", "somebody's");
    expectRefused(train({"--steps", "2", "--checkpoint", "m.ckpt"}), "m.ckpt.part: exists and is not a checkpoint");
    EXPECT_EQ(scratch.read("m.ckpt.part"), "somebody's");
    expectRefused(train({"--steps", "2", "--checkpoint", "/dev/null"}), "is not a regular file");
}

TEST_F(OutputFiles, checkpointReplacesCheckpointsAndEmptyFiles) {
    scratch.write("m.ckpt", "");
    scratch.write("m.ckpt.probe", "mine");
    EXPECT_EQ(train({"--steps", "2", "--checkpoint", "m.ckpt"}).code, 0);
    const std::string first = scratch.read("m.ckpt");
    EXPECT_EQ(train({"--steps", "3", "--checkpoint", "m.ckpt"}).code, 0);
    EXPECT_NE(scratch.read("m.ckpt"), first);
    EXPECT_EQ(scratch.read("m.ckpt.probe"), "mine");
}

TEST_F(OutputFiles, exportReplacesOtherFilesOnlyWithForce) {
    scratch.write("out.csv", "older");
    expectRefused(scratch.run({"export", "--out", "out.csv", "--db", "a.amax"}), "exists already: add --force");
    EXPECT_EQ(scratch.read("out.csv"), "older");
    EXPECT_EQ(scratch.run({"export", "--out", "out.csv", "--force", "--db", "a.amax"}).code, 0);
    EXPECT_EQ(scratch.read("out.csv").rfind("run,step,", 0), 0U);
}

TEST_F(OutputFiles, exportNeverReplacesTheDatabase) {
    std::filesystem::create_symlink("a.amax", scratch.path("link.csv"));
    for (const char* path : {"a.amax", "./a.amax", "a.amax-wal", "link.csv"}) {
        expectRefused(scratch.run({"export", "--out", path, "--force", "--db", "a.amax"}), "is the run database");
    }
    expectRefused(scratch.run({"export", "--out", "/dev/null", "--force", "--db", "a.amax"}), "not a regular file");
    expectRefused(scratch.run({"export", "--out", ".", "--force", "--db", "a.amax"}), "is a folder");
}

TEST_F(OutputFiles, nothingIsLeftBeside) {
    scratch.write("out.csv.0.part", "somebody's");
    EXPECT_EQ(scratch.run({"export", "--out", "out.csv", "--db", "a.amax"}).code, 0);
    EXPECT_EQ(train({"--steps", "2", "--checkpoint", "m.ckpt"}).code, 0);
    int parts = 0;
    for (const auto& entry : std::filesystem::directory_iterator(scratch.folder())) {
        parts += entry.path().extension() == ".part" ? 1 : 0;
    }
    EXPECT_EQ(parts, 1);
    EXPECT_EQ(scratch.read("out.csv.0.part"), "somebody's");
}

}  // namespace
}  // namespace cli_test
