// Bad models, bad data, bad files and full disks: the message, the exit code, and earlier runs left as they were.
#include "cli_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace cli_test {
namespace {

void expectError(const Outcome& outcome, int code, const std::vector<std::string>& parts) {
    EXPECT_EQ(outcome.code, code) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.err.rfind("amaxscope-cli: ", 0), 0U) << outcome.err;
    for (const std::string& part : parts) EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

/// A file with one finished run, to be found unchanged after each failure.
class BadInput : public ::testing::Test {
protected:
    void SetUp() override {
        const Outcome outcome = scratch.run(tinyTrain({"--precision", "fp8", "--steps", "6"}));
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        m_before = scratch.exported("a.amax", 1);
        ASSERT_FALSE(m_before.empty());
    }
    void expectFirstRunIntact() const {
        EXPECT_EQ(scratch.exported("a.amax", 1), m_before);
        EXPECT_EQ(scratch.runs("a.amax").back()["status"], "finished");
    }
    Outcome train(const std::vector<std::string>& more) const { return scratch.run(tinyTrain(more)); }

    Scratch scratch;

private:
    std::string m_before;
};

TEST_F(BadInput, impossibleModelsAreRefused) {
    expectError(train({"--heads", "5"}), 2, {"--heads", "5 does not divide d-model 32", "use"});
    expectError(train({"--precision", "fp8", "--d-model", "40"}), 2,
                {"--d-model", "multiple of 16", "--precision bf16"});
    expectError(train({"--precision", "fp8", "--batch", "1", "--seq-len", "24"}), 2, {"--batch", "multiple of 16"});
    expectError(train({"--layers", "0"}), 2, {"--layers", "out of range"});
    EXPECT_EQ(scratch.runs("a.amax").size(), 1U);
    expectFirstRunIntact();
}

TEST_F(BadInput, impossibleSettingsAreRefusedAndNothingIsWritten) {
    scratch.write("typo.toml", "[train]\nstep = 5\n");
    scratch.write("type.toml", "[model]\nlayers = \"four\"\n");
    const auto fresh = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--db", "fresh.amax"});
        return train(more);
    };
    expectError(fresh({"--precision", "fp8", "--amax-history-len", "0"}), 2,
                {"--amax-history-len", "0 is out of range"});
    expectError(fresh({"--precision", "fp8", "--margin", "-1"}), 2, {"--margin", "-1 is out of range"});
    expectError(fresh({"--precision", "fp8", "--recipe", "block", "--d-model", "64"}), 2,
                {"--d-model", "64 is not a multiple of 128", "another --recipe"});
    expectError(fresh({"--precision", "fp8", "--recipe", "mxfp8", "--d-model", "48"}), 2,
                {"--d-model", "48 is not a multiple of 32"});
    expectError(fresh({"--precision", "fp8", "--keep-bf16", "layer.7.*"}), 2,
                {"--keep-bf16", "\"layer.7.*\" names no layer", "layer.0.attn.qkv"});
    expectError(fresh({"--keep-fp32", "head"}), 2, {"--keep-fp32", "names no layer"});
    expectError(fresh({"--observe", "weight,bias"}), 2, {"--observe", "\"bias\" is no role"});
    expectError(fresh({"--kv-heads", "3"}), 2, {"--kv-heads", "3 does not divide heads 2"});
    expectError(fresh({"--norm-epsilon", "0"}), 2, {"--norm-epsilon"});
    expectError(fresh({"--snapshot-from", "9", "--snapshot-to", "3"}), 2, {"--snapshot-to", "before the first step"});
    expectError(fresh({"--guard-limit", "-1"}), 2, {"--guard-limit"});
    expectError(fresh({"--preset", "typo.toml"}), 2, {"preset typo.toml", "train.step is no setting", "steps"});
    expectError(fresh({"--preset", "type.toml"}), 2, {"preset type.toml", "model.layers holds \"four\""});
    expectError(fresh({"--preset", "none.toml"}), 2, {"preset none.toml", "No such file"});
    EXPECT_FALSE(std::filesystem::exists(scratch.path("fresh.amax")));
    expectFirstRunIntact();
}

TEST_F(BadInput, impossibleBenchmarksAreRefusedAndNothingIsWritten) {
    scratch.write("typo.toml", "[[variant]]\nlabel = \"a\"\n[variant.model]\nlayer = 1\n");
    scratch.write("odd.toml", "[[variant]]\nlabel = \"a\"\n[variant.model]\nheads = 3\n");
    const auto bench = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"bench", "--db", "fresh.amax"});
        return scratch.run(more);
    };
    expectError(bench({"--precisions", "fp8/history=0"}), 2, {"fp8/history=0", "from 1 to 65536"});
    expectError(bench({"--precisions", "fp8:block", "--d-model", "64"}), 2, {"--d-model", "multiple of 128"});
    expectError(bench({"--suite", "typo.toml"}), 2, {"suite typo.toml, variant \"a\"", "model.layer is no setting"});
    expectError(bench({"--suite", "odd.toml"}), 2, {"suite odd.toml, variant \"a\", --heads", "does not divide"});
    expectError(bench({"--suite", "none.toml"}), 2, {"suite none.toml", "No such file"});
    EXPECT_FALSE(std::filesystem::exists(scratch.path("fresh.amax")));
}

// 16384 wide and 100 layers deep are 322 · 10⁹ weights: a terabyte and more, of which nothing may be asked for.
TEST_F(BadInput, benchmarksThatDoNotFitIntoMemoryTogetherAreRefused) {
    const std::vector<std::string> vast = {"bench", "--layers", "100",        "--d-model",    "16384",    "--heads",
                                           "128",   "--db",     "fresh.amax", "--precisions", "fp32,bf16"};
    expectError(scratch.run(vast), 1, {"memory: the variants need", "together and", "are available"});
    scratch.write("vast.toml",
                  "[[variant]]\nlabel = \"vast\"\n[variant.model]\nd_model = 16384\nlayers = 100\nheads = 128\n");
    expectError(scratch.run({"bench", "--suite", "vast.toml", "--full-size", "--db", "fresh.amax"}), 2,
                {"--full-size: its variants take", "leave --full-size out"});
    EXPECT_FALSE(std::filesystem::exists(scratch.path("fresh.amax")));
}

TEST_F(BadInput, unusableFilesLeaveNoNewDatabaseBehind) {
    scratch.write("junk.bin", "this is neither a checkpoint nor a file of weights");
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{"--init", "junk.bin"},
                                                                                      {"--init", "nowhere.safetensors"},
                                                                                      {"--resume", "junk.bin"},
                                                                                      {"--data", "text:nowhere.txt"},
                                                                                      {"--data", "text:."}}) {
        std::vector<std::string> arguments = more;
        arguments.insert(arguments.end(), {"--db", "fresh.amax"});
        expectError(train(arguments), 1, {more.back().substr(more.back().find(':') + 1)});
    }
    expectError(scratch.run({"bench", "--data", "text:nowhere.txt", "--db", "fresh.amax"}), 1, {"nowhere.txt"});
    expectError(scratch.run({"bench", "--init", "junk.bin", "--db", "fresh.amax"}), 1, {"junk.bin"});
    EXPECT_FALSE(std::filesystem::exists(scratch.path("fresh.amax")));
    for (const auto& entry : std::filesystem::directory_iterator(scratch.folder())) {
        EXPECT_EQ(entry.path().filename().string().find("fresh"), std::string::npos) << entry.path();
    }
    expectFirstRunIntact();
}

TEST_F(BadInput, unusableDataFilesAreNamed) {
    scratch.write("empty.txt", "");
    scratch.writeText("short.txt", 200);
    scratch.writeText("medium.txt", 1000);
    expectError(train({"--data", "text:nowhere.txt"}), 1, {"text:nowhere.txt", "No such file", "check the path"});
    expectError(train({"--data", "text:empty.txt"}), 1, {"text:empty.txt", "empty"});
    expectError(train({"--data", "text:."}), 1, {"is a folder"});
    expectError(train({"--data", "text:short.txt"}), 2, {"text:short.txt", "too few", "--seq-len 32"});
    expectError(train({"--data", "text:medium.txt", "--batch", "64"}), 2, {"text:medium.txt", "one batch"});
    scratch.write("odd.bin", "abc");
    expectError(train({"--data", "tokens:odd.bin"}), 1, {"tokens:odd.bin", "multiple"});
    EXPECT_EQ(scratch.runs("a.amax").size(), 1U);
    expectFirstRunIntact();
}

TEST_F(BadInput, unreadableDataFileIsNamed) {
    scratch.writeText("secret.txt", 5000);
    std::filesystem::permissions(scratch.path("secret.txt"), std::filesystem::perms::none);
    const Outcome outcome = scratch.runUnprivileged(tinyTrain({"--data", "text:secret.txt"}));
    if (outcome.code >= 126) GTEST_SKIP() << "no unprivileged user can start the program here";
    expectError(outcome, 1, {"text:secret.txt", "Permission denied", "permissions"});
    expectFirstRunIntact();
}

TEST_F(BadInput, databasePathsThatCannotBeWrittenAreNamed) {
    expectError(train({"--db", "no/such/folder/a.amax"}), 2, {"no/such/folder/a.amax", "folder does not exist"});
    expectError(train({"--db", "."}), 2, {"is a folder"});
    expectError(train({"--db", "/proc/a.amax"}), 1, {"/proc/a.amax"});
    expectError(scratch.run({"runs", "--db", "missing.amax"}), 2, {"missing.amax", "no such file"});
    EXPECT_FALSE(std::filesystem::exists(scratch.path("missing.amax")));
    expectFirstRunIntact();
}

TEST_F(BadInput, readOnlyDatabaseIsRefusedButStillRead) {
    std::filesystem::permissions(scratch.path("a.amax"), std::filesystem::perms::owner_read);
    const Outcome outcome = scratch.runUnprivileged(tinyTrain({}));
    if (outcome.code >= 126) GTEST_SKIP() << "no unprivileged user can start the program here";
    expectError(outcome, 1, {"a.amax", "not writable", "permissions"});
    EXPECT_EQ(scratch.runUnprivileged({"runs", "--db", "a.amax"}).code, 0);
    expectFirstRunIntact();
}

TEST_F(BadInput, filesThatAreNotOursAreRefused) {
    scratch.write("notes.amax",
                  "Dear diary, this is no database at all, but long enough for a header of one hundred bytes. "
                  "It must not be changed.");
    const std::string notes = scratch.read("notes.amax");
    expectError(train({"--db", "notes.amax"}), 2, {"notes.amax", "not a run database"});
    EXPECT_EQ(scratch.read("notes.amax"), notes);

    std::string foreign = scratch.read("a.amax");
    foreign.replace(68, 4, std::string("\x12\x34\x56\x78", 4));  // application_id in SQLite's header
    scratch.write("foreign.amax", foreign);
    expectError(train({"--db", "foreign.amax"}), 2, {"foreign.amax", "another program", "0x12345678"});
    expectError(scratch.run({"runs", "--db", "foreign.amax"}), 2, {"another program"});
    EXPECT_EQ(scratch.read("foreign.amax"), foreign);
    expectFirstRunIntact();
}

TEST_F(BadInput, newerSchemaIsRefusedNamingBothVersions) {
    std::string newer = scratch.read("a.amax");
    newer.replace(60, 4, std::string("\0\0\x03\xE7", 4));  // user_version in SQLite's header
    scratch.write("newer.amax", newer);
    expectError(train({"--db", "newer.amax"}), 2, {"newer.amax", "schema version 999", "knows 2"});
    expectError(scratch.run({"runs", "--db", "newer.amax"}), 2, {"schema version 999"});
    EXPECT_EQ(scratch.read("newer.amax"), newer);
}

TEST_F(BadInput, fullDiskEndsTheRunAndKeepsEarlierOnes) {
    const auto kib = std::filesystem::file_size(scratch.path("a.amax")) / 1024 + 40;
    const std::string command = "ulimit -f " + std::to_string(kib) + "; exec \"$0\" \"$@\"";
    std::vector<std::string> arguments = {"bash", "-c", command};
    for (const std::string& argument : scratch.cli(tinyTrain({"--precision", "fp8", "--steps", "100000"}))) {
        arguments.push_back(argument);
    }
    const Outcome outcome = scratch.runCommand(arguments);
    expectError(outcome, 1,
                {"amaxscope-cli: a.amax: rows were lost: ", "the disk may be full or a size limit reached"});
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    expectFirstRunIntact();
    EXPECT_EQ(scratch.runs("a.amax").front()["status"], "failed");
}

/// A file system of two MiB that only the shell below sees; it ends with that shell.
constexpr const char* kOnSmallDisk = R"(
mkdir small kept && mount -t tmpfs -o size=2m tmpfs small || exit 99
cp a.amax small/a.amax
"$0" "$@"
code=$?
cp small/* kept/
exit $code)";

TEST_F(BadInput, realFullDiskEndsTheRunWithItsCheckpointSaved) {
    std::vector<std::string> arguments = {"unshare", "-m", "sh", "-c", kOnSmallDisk};
    for (const std::string& argument :
         scratch.cli(tinyTrain({"--precision", "fp8", "--steps", "1000000", "--no-ranges", "--snapshot-every", "4",
                                "--db", "small/a.amax", "--checkpoint", "rescued.ckpt"}))) {
        arguments.push_back(argument);
    }
    const Outcome outcome = scratch.runCommand(arguments);
    // unshare itself ends with 1 where it may not (or, in a chroot, cannot) make a mount namespace; the script with 99.
    const bool mounted = std::filesystem::exists(scratch.path("kept/a.amax"));
    if (!mounted) GTEST_SKIP() << "no file system can be mounted here: " << outcome.err;
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err,
              "amaxscope-cli: small/a.amax: rows were lost: the disk is full or a size limit was reached: free some "
              "space; everything committed before is safe\n");
    const std::vector<json> runs = scratch.runs("kept/a.amax");
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[0]["status"], "failed");
    EXPECT_GT(runs[0]["steps"], 0);
    EXPECT_EQ(scratch.exported("kept/a.amax", 1), scratch.exported("a.amax", 1));
    // What was learnt is not lost with the rows.
    const std::size_t made = linesOfType(outcome.out, "step").size();
    const Outcome more =
        train({"--precision", "fp8", "--no-ranges", "--resume", "rescued.ckpt", "--steps", std::to_string(made + 2)});
    EXPECT_EQ(more.code, 0) << more.err;
    EXPECT_EQ(linesOfType(more.out, "step").size(), 2U);
}

TEST_F(BadInput, guardThatStopsTheRunSavesTheCheckpointFirst) {
    const std::vector<std::string> wild = {"--precision",    "fp32", "--lr",         "10",    "--warmup-steps", "0",
                                           "--grad-clip",    "0",    "--guard",      "stop",  "--steps",        "400",
                                           "--weight-decay", "10",   "--checkpoint", "m.ckpt"};
    const Outcome outcome = train(wild);
    expectError(outcome, 1, {"the loss or a gradient is not finite"});
    EXPECT_EQ(scratch.runs("a.amax").front()["status"], "failed");
    const Outcome inspected = scratch.run({"inspect", "m.ckpt", "--json"});
    ASSERT_EQ(inspected.code, 0) << inspected.err;
    const std::size_t made = linesOfType(outcome.out, "step").size();
    EXPECT_GT(made, 1U);
}

TEST_F(BadInput, damagedCheckpointsAreRefused) {
    scratch.write("junk.ckpt", "this is not a checkpoint, whatever its name says");
    expectError(train({"--resume", "junk.ckpt"}), 1, {"junk.ckpt"});
    expectError(scratch.run({"generate", "--checkpoint", "junk.ckpt", "--prompt", "1"}), 1, {"junk.ckpt"});
    expectError(scratch.run({"generate", "--checkpoint", "none.ckpt", "--prompt", "1"}), 1, {"none.ckpt"});
    ASSERT_EQ(train({"--steps", "3", "--checkpoint", "good.ckpt"}).code, 0);
    const std::string good = scratch.read("good.ckpt");
    scratch.write("cut.ckpt", good.substr(0, good.size() / 2));
    expectError(scratch.run({"generate", "--checkpoint", "cut.ckpt", "--prompt", "1"}), 1, {"cut.ckpt"});
    std::string flipped = good;
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x40);
    scratch.write("flipped.ckpt", flipped);
    expectError(scratch.run({"generate", "--checkpoint", "flipped.ckpt", "--prompt", "1"}), 1, {"flipped.ckpt"});
    expectFirstRunIntact();
}

TEST_F(BadInput, checkpointThatCannotBeWrittenIsToldBeforeTraining) {
    const Outcome outcome = train({"--steps", "5", "--checkpoint", "no/such/folder/m.ckpt"});
    expectError(outcome, 2, {"no/such/folder/m.ckpt", "folder"});
    EXPECT_TRUE(linesOfType(outcome.out, "step").empty());
    EXPECT_EQ(scratch.runs("a.amax").size(), 1U);
}

TEST_F(BadInput, unknownRunListsTheOnesThereAre) {
    expectError(scratch.run({"show", "7", "--db", "a.amax"}), 2, {"run 7", "1"});
    expectError(scratch.run({"export", "7", "--db", "a.amax"}), 2, {"run 7", "1"});
    expectError(scratch.run({"export", "--table", "layers", "--db", "a.amax"}), 2, {"layers", "snapshots"});
}

TEST_F(BadInput, outputThatCannotBeWrittenFails) {
    const Outcome outcome = scratch.runCommand(
        {"bash", "-c", "exec \"$0\" \"$@\" > /dev/full", AMAXSCOPE_CLI, "export", "1", "--db", "a.amax"});
    expectError(outcome, 1, {"stdout", "could not be written"});
    expectError(scratch.run({"export", "--out", "/proc/out.csv", "--db", "a.amax"}), 1,
                {"/proc/out.csv", "cannot be written"});
}

}  // namespace
}  // namespace cli_test
