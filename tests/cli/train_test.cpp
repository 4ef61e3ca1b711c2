// Training from the command line: what is printed and stored, checkpoints, resuming, generating.
#include "cli_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

namespace cli_test {
namespace {

std::vector<double> losses(const std::string& output) {
    std::vector<double> values;
    for (const json& step : linesOfType(output, "step")) values.push_back(step["loss"].get<double>());
    return values;
}

TEST(Train, jsonLinesTellStepsValidationsAndTheResult) {
    const Scratch scratch;
    const Outcome outcome =
        scratch.run(tinyTrain({"--precision", "fp8", "--steps", "12", "--validate-every", "5", "--name", "first"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(linesOfType(outcome.out, "run").size(), 1U);
    EXPECT_EQ(linesOfType(outcome.out, "step").size(), 12U);
    const std::vector<json> validations = linesOfType(outcome.out, "validation");
    ASSERT_EQ(validations.size(), 3U);
    EXPECT_EQ(validations[0]["step"], 4);
    EXPECT_EQ(validations[2]["step"], 11);
    const json result = linesOfType(outcome.out, "result").at(0);
    EXPECT_EQ(result["status"], "finished");
    EXPECT_EQ(result["steps"], 12);
    EXPECT_EQ(result["stride_total"], 20);
    EXPECT_EQ(result["val_loss"], validations[2]["val_loss"]);
    EXPECT_EQ(linesOfType(outcome.out, "generation").size(), 20U);

    const json stored = scratch.runs("a.amax").at(0);
    EXPECT_EQ(stored["name"], "first");
    EXPECT_EQ(stored["status"], "finished");
    EXPECT_EQ(stored["steps"], 12);
    EXPECT_EQ(stored["precision"], "fp8");
    EXPECT_EQ(stored["val_loss"], result["val_loss"]);
}

TEST(Train, withoutATerminalAboutTwentyLinesAreWritten) {
    const Scratch scratch;
    std::vector<std::string> arguments = tinyTrain({"--precision", "fp32", "--steps", "200"});
    arguments.erase(std::find(arguments.begin(), arguments.end(), "--json"));
    const Outcome outcome = scratch.run(arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = outcome.out.find("tokens/s  ETA", at)) != std::string::npos; ++at) ++lines;
    EXPECT_EQ(lines, 20U) << outcome.out;
    EXPECT_EQ(outcome.out.find('\r'), std::string::npos);
    EXPECT_NE(outcome.out.find("of 20 prompts continued with the right stride"), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("finished: 200 steps"), std::string::npos) << outcome.out;
}

TEST(Train, lossFallsInEveryPrecision) {
    const Scratch scratch;
    for (const char* precision : {"fp32", "bf16", "fp8"}) {
        const Outcome outcome = scratch.run(tinyTrain({"--precision", precision, "--steps", "150", "--lr", "0.005"}));
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        const std::vector<double> values = losses(outcome.out);
        EXPECT_LT(values.back(), values.front() * 0.9) << precision;
    }
}

TEST(Train, sameSeedGivesTheSameBytes) {
    const Scratch scratch;
    for (const char* file : {"a.ckpt", "b.ckpt"}) {
        ASSERT_EQ(scratch.run(tinyTrain({"--precision", "fp8", "--steps", "10", "--checkpoint", file})).code, 0);
    }
    ASSERT_EQ(
        scratch.run(tinyTrain({"--precision", "fp8", "--steps", "10", "--seed", "2", "--checkpoint", "c.ckpt"})).code,
        0);
    EXPECT_EQ(scratch.read("a.ckpt"), scratch.read("b.ckpt"));
    EXPECT_NE(scratch.read("a.ckpt"), scratch.read("c.ckpt"));
}

TEST(Train, interruptedAndResumedRunEqualsAnUninterruptedOneBitForBit) {
    const Scratch scratch;
    scratch.writeText("book.txt", 20000);
    const std::vector<std::string> same = {"--precision", "fp8", "--data", "text:book.txt", "--steps", "3000"};
    const auto with = [&same](std::vector<std::string> more) {
        more.insert(more.begin(), same.begin(), same.end());
        return tinyTrain(more);
    };
    const Outcome whole = scratch.run(with({"--checkpoint", "whole.ckpt"}));
    ASSERT_EQ(whole.code, 0) << whole.err;

    Process process(scratch.cli(with({"--checkpoint", "part.ckpt"})), scratch.folder());
    ASSERT_TRUE(process.readUntil("\"step\":20,"));
    process.signal(SIGINT);
    const Outcome first = process.finish();
    ASSERT_EQ(first.code, 130) << first.err;
    const Outcome second =
        scratch.run({"train", "--resume", "part.ckpt", "--checkpoint", "part.ckpt", "--db", "a.amax", "--json"});
    ASSERT_EQ(second.code, 0) << second.err;

    std::vector<double> joined = losses(first.out);
    ASSERT_LT(joined.size(), 3000U);
    const std::vector<double> rest = losses(second.out);
    joined.insert(joined.end(), rest.begin(), rest.end());
    EXPECT_EQ(joined, losses(whole.out));
    EXPECT_EQ(scratch.read("part.ckpt"), scratch.read("whole.ckpt"));
    EXPECT_EQ(scratch.runs("a.amax").front()["first_step"], losses(first.out).size());
}

TEST(Train, fp8LearnsATextAsWellAsFp32) {
    const Scratch scratch;
    scratch.writeText("book.txt", 20000);
    const auto lossIn = [&](const char* precision) {
        const Outcome outcome =
            scratch.run(tinyTrain({"--data", "text:book.txt", "--batch", "8", "--lr", "0.003", "--warmup-steps", "10",
                                   "--steps", "200", "--precision", precision}));
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return linesOfType(outcome.out, "result").at(0)["val_loss"].get<double>();
    };
    const double fp32 = lossIn("fp32");
    EXPECT_LT(fp32, 1) << "the text is learnt at all";
    EXPECT_NEAR(lossIn("fp8") / fp32, 1, 0.03);
}

TEST(Train, resumingWithAnotherModelIsRefused) {
    const Scratch scratch;
    ASSERT_EQ(scratch.run(tinyTrain({"--steps", "3", "--checkpoint", "m.ckpt"})).code, 0);
    const Outcome changed =
        scratch.run({"train", "--resume", "m.ckpt", "--steps", "9", "--layers", "2", "--db", "a.amax"});
    EXPECT_EQ(changed.code, 2) << changed.err;
    EXPECT_NE(changed.err.find("layers"), std::string::npos) << changed.err;
    const Outcome done = scratch.run({"train", "--resume", "m.ckpt", "--db", "a.amax"});
    EXPECT_EQ(done.code, 2) << done.err;
    EXPECT_NE(done.err.find("--steps"), std::string::npos) << done.err;
    const Outcome more = scratch.run({"train", "--resume", "m.ckpt", "--steps", "6", "--db", "a.amax", "--json"});
    EXPECT_EQ(more.code, 0) << more.err;
    EXPECT_EQ(linesOfType(more.out, "step").size(), 3U);
}

TEST(Generate, continuesIdsAndText) {
    const Scratch scratch;
    scratch.writeText("book.txt", 20000);
    ASSERT_EQ(scratch.run(tinyTrain({"--steps", "5", "--checkpoint", "ids.ckpt"})).code, 0);
    ASSERT_EQ(scratch.run(tinyTrain({"--steps", "5", "--data", "text:book.txt", "--checkpoint", "text.ckpt"})).code, 0);

    const Outcome ids = scratch.run({"generate", "--checkpoint", "ids.ckpt", "--prompt", "0,3,6,9", "--tokens", "5"});
    EXPECT_EQ(ids.code, 0) << ids.err;
    EXPECT_EQ(ids.out.rfind("0,3,6,9,", 0), 0U) << ids.out;
    EXPECT_EQ(std::count(ids.out.begin(), ids.out.end(), ','), 8) << ids.out;

    const Outcome text = scratch.run({"generate", "--checkpoint", "text.ckpt", "--prompt", "the run", "--json"});
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_EQ(linesOfType(text.out, "generation").at(0)["output_tokens"].size(), 32U);

    const Outcome outside = scratch.run({"generate", "--checkpoint", "ids.ckpt", "--prompt", "0,99999"});
    EXPECT_EQ(outside.code, 2) << outside.err;
    EXPECT_NE(outside.err.find("99999"), std::string::npos) << outside.err;
    EXPECT_EQ(scratch.run({"generate", "--checkpoint", "ids.ckpt", "--prompt", "a,b"}).code, 2);
}

TEST(Generate, controlBytesNeverReachTheTerminal) {
    const Scratch scratch;
    std::string bytes;
    for (int i = 0; i < 4000; ++i) bytes += "\x1b[2J\x07\xff";
    scratch.write("evil.txt", bytes);
    ASSERT_EQ(scratch.run(tinyTrain({"--steps", "30", "--data", "text:evil.txt", "--checkpoint", "m.ckpt"})).code, 0);
    const Outcome outcome = scratch.run({"generate", "--checkpoint", "m.ckpt", "--prompt", "[2J"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
    EXPECT_NE(outcome.out.find("\\x"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace cli_test
