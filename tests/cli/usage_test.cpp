// What a wrong command line gets: one clear line on stderr, the nearest name, exit code 2, and no file written.
#include "cli_runner.h"

#include <gtest/gtest.h>

#include <algorithm>

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
    expectUsage(scratch.run({"train", "--recipe", "row"}), {"--recipe row", "delayed, current, block, mxfp8, nvfp4"});
    expectUsage(scratch.run({"train", "--format", "e5m2"}), {"--format e5m2", "auto, hybrid, e4m3"});
    expectUsage(scratch.run({"train", "--power-of-two-scales", "yes"}), {"--power-of-two-scales yes", "auto, on, off"});
    expectUsage(scratch.run({"train", "--guard", "loud"}), {"--guard loud", "off, warn, skip, fallback, stop"});
    expectUsage(scratch.run({"train", "--norm", "batch"}), {"--norm batch", "layernorm, rmsnorm"});
    expectUsage(scratch.run({"train", "--activation", "silu"}), {"--activation silu", "gelu, relu, geglu, swiglu"});
    expectUsage(scratch.run({"train", "--positions", "alibi"}), {"--positions alibi", "learned, rotary"});
    expectUsage(scratch.run({"train", "--weights", "int8"}), {"--weights int8", "fp32, fp8, fp8_keep_init"});
    expectUsage(scratch.run({"train", "--preset", "huge"}), {"--preset huge", "tutorial", "large"});
    expectUsage(scratch.run({"train", "--data", "corpus"}), {"--data", "text:PATH"});
    expectUsage(scratch.run({"bench", "--precisions", "fp32,fp8:row"}), {"fp8:row", "delayed", "nvfp4"});
    expectUsage(scratch.run({"bench", "--precisions", "fp32/fast"}), {"fp32/fast", "/norecord"});
    expectUsage(scratch.run({"bench", "--suite", "all"}), {"--suite all", "tutorial-extensions"});
    expectUsage(scratch.run({"export", "--format", "xml"}), {"--format xml", "csv or json"});
}

TEST(Usage, optionsThatNeedEachOtherSaySo) {
    const Scratch scratch;
    expectUsage(scratch.run({"train", "--checkpoint-every", "5"}), {"--checkpoint-every", "--checkpoint"});
    expectUsage(scratch.run({"generate", "--prompt", "1"}), {"--checkpoint", "is missing"});
    expectUsage(scratch.run({"show"}), {"show", "needs one run id"});
    expectUsage(scratch.run({"compare", "1"}), {"compare", "two run ids"});
    expectUsage(scratch.run({"bench", "--full-size"}), {"--full-size", "only suites are scaled down"});
    expectUsage(scratch.run({"bench", "--suite", "tutorial-extensions", "--precisions", "fp32"}),
                {"--precisions", "a suite brings its own variants"});
    expectUsage(scratch.run({"train", "--bias", "--no-bias"}), {"--no-bias: contradicts --bias"});
}

TEST(Usage, optionsWithoutEffectAreRefused) {
    const Scratch scratch;
    const auto fp8 = [&](const char* recipe, std::vector<std::string> more) {
        more.insert(more.begin(), {"train", "--precision", "fp8", "--recipe", recipe});
        return scratch.run(more);
    };
    expectUsage(fp8("mxfp8", {"--margin", "2"}),
                {"--margin: has no effect: it belongs to the recipe delayed, and this run's is mxfp8: leave it out"});
    expectUsage(fp8("current", {"--amax-history-len", "4"}), {"--amax-history-len", "delayed"});
    expectUsage(fp8("delayed", {"--no-hadamard"}), {"--no-hadamard", "the recipe nvfp4"});
    expectUsage(fp8("delayed", {"--amax-epsilon", "1"}), {"--amax-epsilon", "the recipes current and block"});
    expectUsage(fp8("nvfp4", {"--format", "hybrid"}), {"--format", "delayed, current, block and mxfp8"});
    expectUsage(scratch.run({"train", "--precision", "bf16", "--recipe", "block"}),
                {"--recipe", "this run computes in bf16"});
    expectUsage(scratch.run({"train", "--rope-theta", "1000"}), {"--rope-theta", "rotary"});
    expectUsage(scratch.run({"train", "--guard-steps", "10"}), {"--guard-steps", "the guard fallback"});
    expectUsage(scratch.run({"train", "--snapshot-every", "0", "--observe", "output"}),
                {"--observe", "no snapshots are taken"});
    expectUsage(scratch.run({"bench", "--precisions", "fp32,fp8:current", "--margin", "1"}), {"--margin"});
    expectUsage(scratch.run({"bench", "--precisions", "fp32,bf16", "--recipe", "block"}), {"--recipe"});
    EXPECT_FALSE(std::filesystem::exists(scratch.path("amaxscope.amax")));
}

TEST(Usage, helpHasAnOptionForEverySetting) {
    const Scratch scratch;
    const std::string help = scratch.run({"train", "--help"}).out;
    const std::vector<json> presets = linesOfType(scratch.run({"presets", "--json"}).out, "preset");
    ASSERT_FALSE(presets.empty());
    for (const char* table : {"model", "recipe", "train"}) {
        for (const auto& item : presets.front()[table].items()) {
            std::string option = "--" + item.key();
            std::replace(option.begin(), option.end(), '_', '-');
            EXPECT_NE(help.find(option), std::string::npos) << option;
        }
    }
    for (const char* choices : {"delayed|current|block|mxfp8|nvfp4", "auto|hybrid|e4m3", "off|warn|skip|fallback|stop",
                                "gelu|relu|geglu|swiglu"}) {
        EXPECT_NE(help.find(choices), std::string::npos) << choices;
    }
    const std::string bench = scratch.run({"bench", "--help"}).out;
    for (const char* text : {"--suite", "--full-size", "fp8[:RECIPE[:FORMAT]]", "/history=N", "/edgesN"}) {
        EXPECT_NE(bench.find(text), std::string::npos) << text;
    }
}

TEST(Usage, presetsTellModelsAndSuites) {
    const Scratch scratch;
    const Outcome text = scratch.run({"presets"});
    EXPECT_EQ(text.code, 0);
    for (const char* name : {"tutorial-fp8-weights", "llama-small", "fp8 delayed e4m3", "tutorial-extensions"}) {
        EXPECT_NE(text.out.find(name), std::string::npos) << name;
    }
    const std::vector<json> suites = linesOfType(scratch.run({"presets", "--json"}).out, "suite");
    ASSERT_EQ(suites.size(), 1U);
    EXPECT_EQ(suites[0]["suite"], "tutorial-extensions");
    EXPECT_EQ(suites[0]["variants"].size(), 8U);
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
