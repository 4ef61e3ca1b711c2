// What a wrong command line gets: one clear line on stderr, the nearest name, exit code 2, and no file written.
#include "cli_runner.h"

#include <gtest/gtest.h>

namespace cli_test {
namespace {

/// Every complaint reads "amaxscope-cli: what: why: what to do".
void expectUsage(const Outcome& outcome, const std::vector<std::string>& parts) {
    EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
    EXPECT_EQ(outcome.err.rfind("amaxscope-cli: ", 0), 0U) << outcome.err;
    for (const std::string& part : parts) EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

TEST(Usage, unknownOptionNamesTheNearestOne) {
    const Scratch scratch;
    expectUsage(scratch.run({"train", "--layer", "3"}), {"--layer:", "did you mean --layers?"});
    expectUsage(scratch.run({"train", "--history", "3"}), {"--history:", "did you mean --amax-history-len?"});
    expectUsage(scratch.run({"train", "--zzzzzzzz=3"}), {"--zzzzzzzz:", "see amaxscope-cli train --help"});
    EXPECT_FALSE(std::filesystem::exists(scratch.path("amaxscope.amax")));
}

TEST(Usage, unknownCommandNamesTheNearestOne) {
    const Scratch scratch;
    expectUsage(scratch.run({"trian"}), {"trian:", "did you mean train?"});
    expectUsage(scratch.run({"import", "x"}), {"import:", "is not a command"});
}

TEST(Usage, missingCommandIsTold) {
    expectUsage(Scratch().run({}), {"command", "none was given", "--help"});
}

TEST(Usage, missingValueNamesItsOption) {
    const Scratch scratch;
    expectUsage(scratch.run({"train", "--steps"}), {"--steps", "needs a value"});
}

TEST(Usage, numbersMustBeNumbers) {
    const Scratch scratch;
    expectUsage(scratch.run({"train", "--steps", "ten"}), {"--steps ten", "is not a whole number"});
    expectUsage(scratch.run({"train", "--lr", "fast"}), {"--lr fast", "is not a number"});
    for (const char* odd : {"nan", "inf", "-inf"}) {
        expectUsage(scratch.run({"train", "--lr", odd}), {std::string("--lr ") + odd, "is not a finite number"});
    }
    expectUsage(scratch.run({"train", "--seed", "-1"}), {"--seed -1"});
    expectUsage(scratch.run({"train", "--steps", "99999999999"}), {"--steps 99999999999", "out of range"});
    expectUsage(scratch.run({"show", "first"}), {"run first", "is not a whole number"});
}

TEST(Usage, choicesAreListed) {
    const Scratch scratch;
    expectUsage(scratch.run({"train", "--precision", "fp16"}), {"--precision fp16", "fp32", "bf16", "fp8"});
    expectUsage(scratch.run({"train", "--recipe", "mxfp8"}), {"--recipe mxfp8", "use delayed"});
    expectUsage(scratch.run({"train", "--format", "e5m2"}), {"--format e5m2", "hybrid", "e4m3"});
    expectUsage(scratch.run({"train", "--preset", "huge"}), {"--preset huge", "tutorial", "large"});
    expectUsage(scratch.run({"train", "--data", "corpus"}), {"--data", "text:PATH"});
    expectUsage(scratch.run({"bench", "--precisions", "fp32,fp8:block"}), {"fp8:block", "delayed"});
    expectUsage(scratch.run({"bench", "--precisions", "fp32/fast"}), {"fp32/fast", "/norecord"});
    expectUsage(scratch.run({"export", "--format", "xml"}), {"--format xml", "csv or json"});
}

TEST(Usage, optionsThatNeedEachOtherSaySo) {
    const Scratch scratch;
    expectUsage(scratch.run({"train", "--checkpoint-every", "5"}), {"--checkpoint-every", "--checkpoint"});
    expectUsage(scratch.run({"generate", "--prompt", "1"}), {"--checkpoint", "is missing"});
    expectUsage(scratch.run({"show"}), {"show", "needs one run id"});
    expectUsage(scratch.run({"compare", "1"}), {"compare", "two run ids"});
}

TEST(Usage, everyImpossibleSettingIsListedAtOnce) {
    const Scratch scratch;
    const Outcome outcome = scratch.run({"train", "--heads", "3", "--lr", "-1", "--steps", "0"});
    expectUsage(outcome, {"--heads: 3 does not divide", "--lr -1", "--steps: 0 is out of range"});
    EXPECT_FALSE(std::filesystem::exists(scratch.path("amaxscope.amax")));
}

TEST(Usage, helpAndVersionGoToStdout) {
    const Scratch scratch;
    const Outcome help = scratch.run({"--help"});
    EXPECT_EQ(help.code, 0);
    for (const char* command :
         {"train", "bench", "generate", "runs", "show", "compare", "export", "rename", "delete", "inspect", "doctor"}) {
        EXPECT_NE(help.out.find(command), std::string::npos) << command;
        const Outcome one = scratch.run({command, "--help"});
        EXPECT_EQ(one.code, 0) << command;
        EXPECT_NE(one.out.find("Example:"), std::string::npos) << command;
    }
    const Outcome version = scratch.run({"--version"});
    EXPECT_EQ(version.code, 0);
    EXPECT_EQ(version.out.rfind("amaxscope-cli ", 0), 0U) << version.out;
}

}  // namespace
}  // namespace cli_test
