// Training from the command line: what is printed and stored, checkpoints, resuming, generating.
#include "cli_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <set>

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

/// GPT-2's tensors for one layer of width 32, a vocabulary of 64 and 32 positions, all zeros: as `--init` takes them.
std::string tinyGpt2() {
    const std::vector<std::pair<std::string, std::vector<int>>> tensors = {
        {"wte.weight", {64, 32}},
        {"wpe.weight", {32, 32}},
        {"h.0.ln_1.weight", {32}},
        {"h.0.ln_1.bias", {32}},
        {"h.0.attn.c_attn.weight", {32, 96}},
        {"h.0.attn.c_attn.bias", {96}},
        {"h.0.attn.c_proj.weight", {32, 32}},
        {"h.0.attn.c_proj.bias", {32}},
        {"h.0.ln_2.weight", {32}},
        {"h.0.ln_2.bias", {32}},
        {"h.0.mlp.c_fc.weight", {32, 128}},
        {"h.0.mlp.c_fc.bias", {128}},
        {"h.0.mlp.c_proj.weight", {128, 32}},
        {"h.0.mlp.c_proj.bias", {32}},
        {"ln_f.weight", {32}},
        {"ln_f.bias", {32}},
        {"lm_head.weight", {64, 32}},
    };
    json header;
    std::size_t bytes = 0;
    for (const auto& [name, shape] : tensors) {
        std::size_t end = bytes + 4;
        for (const int size : shape) end = bytes + (end - bytes) * static_cast<std::size_t>(size);
        header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {bytes, end}}};
        bytes = end;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    std::string file(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(text.size() >> (8 * i) & 0xFF);
    return file + text + std::string(bytes, '\0');
}

/// One run and the settings that it must be stored with, by column.
struct StoredCase {
    std::vector<std::string> arguments;
    json expected;
};

const std::vector<StoredCase>& storedCases() {
    static const std::vector<StoredCase> cases = {
        {{"--layers",
          "3",
          "--d-model",
          "64",
          "--heads",
          "4",
          "--kv-heads",
          "2",
          "--ffn",
          "48",
          "--seq-len",
          "16",
          "--vocab",
          "80",
          "--norm",
          "rmsnorm",
          "--norm-epsilon",
          "1e-6",
          "--activation",
          "swiglu",
          "--positions",
          "rotary",
          "--rope-theta",
          "500",
          "--no-bias",
          "--tied-head",
          "--precision",
          "fp8",
          "--recipe",
          "delayed",
          "--format",
          "e4m3",
          "--margin",
          "1",
          "--amax-history-len",
          "7",
          "--amax-algo",
          "most_recent",
          "--weights",
          "fp8",
          "--keep-bf16",
          "layer.1.attn.*",
          "--keep-fp32",
          "lm_head",
          "--bf16-edge-layers",
          "1"},
         json::parse(R"({
            "model": {"layers": 3, "d_model": 64, "heads": 4, "kv_heads": 2, "ffn": 48, "seq_len": 16, "vocab": 80,
                      "norm": "rmsnorm", "norm_epsilon": 1e-6, "activation": "swiglu", "positions": "rotary",
                      "rope_theta": 500.0, "bias": false, "tied_head": true},
            "recipe": {"recipe": "delayed", "format": "e4m3", "margin": 1, "amax_history_len": 7,
                       "amax_algo": "most_recent"},
            "train": {"precision": "fp8", "weights": "fp8", "keep_bf16": "layer.1.attn.*", "keep_fp32": "lm_head",
                      "bf16_edge_layers": 1}})")},
        {{"--precision", "fp8", "--recipe", "current", "--power-of-two-scales", "on", "--amax-epsilon", "1e-3"},
         json::parse(R"({"recipe": {"recipe": "current", "power_of_two_scales": "on", "amax_epsilon": 1e-3}})")},
        {{"--precision", "fp8", "--recipe", "block", "--d-model", "128", "--no-weight-tiles"},
         json::parse(R"({"recipe": {"recipe": "block", "weight_tiles": false}})")},
        {{"--precision", "fp8", "--recipe", "mxfp8", "--weights", "fp8_keep_init"},
         json::parse(R"({"recipe": {"recipe": "mxfp8"}, "train": {"weights": "fp8_keep_init"}})")},
        {{"--precision", "fp8", "--recipe", "nvfp4", "--no-stochastic-rounding", "--no-hadamard"},
         json::parse(R"({"recipe": {"recipe": "nvfp4", "stochastic_rounding": false, "hadamard": false}})")},
        {{"--batch",
          "2",
          "--accumulate",
          "2",
          "--steps",
          "4",
          "--lr",
          "2e-3",
          "--warmup-steps",
          "3",
          "--weight-decay",
          "0.2",
          "--beta1",
          "0.8",
          "--beta2",
          "0.9",
          "--grad-clip",
          "2",
          "--seed",
          "18446744073709551615",
          "--threads",
          "2",
          "--device",
          "cpu",
          "--unfused",
          "--data",
          "text:book.txt",
          "--validate-every",
          "3"},
         json::parse(R"({"train": {"batch": 2, "accumulate": 2, "steps": 4, "lr": 2e-3, "warmup_steps": 3,
                      "weight_decay": 0.2, "beta1": 0.8, "beta2": 0.9, "grad_clip": 2.0, "threads": 2,
                      "seed": 18446744073709551615, "device": "cpu", "fused": false, "data": "text:book.txt",
                      "validate_every": 3}})")},
        {{"--precision", "fp8", "--guard", "fallback", "--guard-limit", "2.5", "--guard-steps", "5", "--snapshot-every",
          "2", "--snapshot-from", "1", "--snapshot-to", "9", "--exponents-every", "4", "--observe", "weight,output"},
         json::parse(R"({"train": {"guard": "fallback", "guard_limit": 2.5, "guard_steps": 5, "snapshot_every": 2,
                      "snapshot_from": 1, "snapshot_to": 9, "exponents_every": 4, "observe": "weight,output"}})")},
        {{"--init", "gpt2.safetensors"}, json::parse(R"({"train": {"init": "gpt2.safetensors"}})")},
    };
    return cases;
}

TEST(Train, everyOptionReachesTheStoredRun) {
    const Scratch scratch;
    scratch.writeText("book.txt", 20000);
    scratch.write("gpt2.safetensors", tinyGpt2());
    ASSERT_EQ(scratch.run(tinyTrain({"--precision", "fp8", "--steps", "2"})).code, 0);
    const json standard = scratch.runs("a.amax").front();
    std::set<std::string> untouched;
    for (const char* column : {"model", "recipe", "train"}) {
        for (const auto& item : standard[column].items()) untouched.insert(std::string(column) + "." + item.key());
    }
    for (const StoredCase& each : storedCases()) {
        std::vector<std::string> arguments = tinyTrain({"--steps", "2"});
        arguments.insert(arguments.end(), each.arguments.begin(), each.arguments.end());
        const Outcome outcome = scratch.run(arguments);
        ASSERT_EQ(outcome.code, 0) << outcome.err << each.expected;
        const json stored = scratch.runs("a.amax").front();
        for (const auto& column : each.expected.items()) {
            for (const auto& item : column.value().items()) {
                const std::string name = column.key() + "." + item.key();
                EXPECT_EQ(stored[column.key()][item.key()], item.value()) << name;
                if (standard[column.key()][item.key()] != item.value()) untouched.erase(name);
            }
        }
    }
    // fp8 is what the run compared with has, and stored precision is checked there.
    untouched.erase("train.precision");
    EXPECT_TRUE(untouched.empty()) << "settings that no case changes: " << json(untouched);
}

TEST(Train, whatAutoCameToIsStored) {
    const Scratch scratch;
    const auto recipe = [&](const char* kind) {
        const Outcome outcome =
            scratch.run(tinyTrain({"--precision", "fp8", "--recipe", kind, "--d-model", "128", "--steps", "1"}));
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        const json stored = scratch.runs("a.amax").front()["recipe"];
        return stored["format"].get<std::string>() + " " + stored["power_of_two_scales"].get<std::string>();
    };
    EXPECT_EQ(recipe("delayed"), "hybrid auto");
    EXPECT_EQ(recipe("current"), "hybrid off");
    EXPECT_EQ(recipe("block"), "e4m3 on");
    EXPECT_EQ(recipe("mxfp8"), "e4m3 auto");
    EXPECT_EQ(recipe("nvfp4"), "auto auto") << "E2M1 is no choice";
}

TEST(Train, presetsAndFilesReachTheStoredRunAndOptionsChangeThem) {
    const Scratch scratch;
    scratch.write("own.toml",
                  "summary = \"mine\"\n[model]\nlayers = 2\nd_model = 32\nheads = 2\nseq_len = 16\nbias = false\n"
                  "[recipe]\nrecipe = \"mxfp8\"\n[train]\nprecision = \"fp8\"\nbatch = 4\nsteps = 3\n");
    const Outcome outcome = scratch.run({"train", "--preset", "own.toml", "--layers", "1", "--bias", "--db", "a.amax"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json stored = scratch.runs("a.amax").front();
    EXPECT_EQ(stored["recipe"]["recipe"], "mxfp8");
    EXPECT_EQ(stored["model"]["layers"], 1);
    EXPECT_EQ(stored["model"]["seq_len"], 16);
    EXPECT_EQ(stored["model"]["bias"], true);
    EXPECT_EQ(stored["steps"], 3);

    const Outcome llama =
        scratch.run({"train", "--preset", "llama-small", "--layers", "1", "--d-model", "32", "--heads", "4", "--ffn",
                     "48", "--seq-len", "16", "--steps", "2", "--db", "a.amax", "--json"});
    ASSERT_EQ(llama.code, 0) << llama.err;
    const json model = scratch.runs("a.amax").front()["model"];
    EXPECT_EQ(model["norm"], "rmsnorm");
    EXPECT_EQ(model["positions"], "rotary");
    EXPECT_EQ(model["activation"], "swiglu");
    EXPECT_EQ(model["kv_heads"], 2);
    EXPECT_EQ(model["tied_head"], true);
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

TEST(Train, resumingMayChangeWhatIsWatchedAndTheHistory) {
    const Scratch scratch;
    ASSERT_EQ(scratch.run(tinyTrain({"--precision", "fp8", "--steps", "4", "--checkpoint", "m.ckpt"})).code, 0);
    const auto resume = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"train", "--resume", "m.ckpt", "--db", "a.amax", "--json"});
        return scratch.run(more);
    };
    const Outcome changed = resume({"--steps",
                                    "8",
                                    "--threads",
                                    "2",
                                    "--guard",
                                    "skip",
                                    "--guard-limit",
                                    "3",
                                    "--amax-history-len",
                                    "3",
                                    "--snapshot-every",
                                    "2",
                                    "--snapshot-from",
                                    "4",
                                    "--snapshot-to",
                                    "7",
                                    "--exponents-every",
                                    "2",
                                    "--observe",
                                    "weight",
                                    "--validate-every",
                                    "2",
                                    "--data",
                                    "stride"});
    ASSERT_EQ(changed.code, 0) << changed.err;
    EXPECT_EQ(linesOfType(changed.out, "step").size(), 4U);
    const json stored = scratch.runs("a.amax").front();
    EXPECT_EQ(stored["recipe"]["amax_history_len"], 3);
    EXPECT_EQ(stored["train"]["guard"], "skip");
    EXPECT_EQ(stored["train"]["observe"], "weight");
    EXPECT_EQ(stored["train"]["exponents_every"], 2);
    EXPECT_EQ(stored["first_step"], 4);

    for (const std::vector<std::string>& refused : std::vector<std::vector<std::string>>{
             {"--margin", "1"}, {"--recipe", "current"}, {"--weights", "fp8"}, {"--lr", "0.5"}, {"--unfused"}}) {
        std::vector<std::string> arguments = refused;
        arguments.insert(arguments.end(), {"--steps", "8"});
        const Outcome outcome = resume(arguments);
        EXPECT_EQ(outcome.code, 2) << refused.front() << outcome.err;
        EXPECT_NE(outcome.err.find("the checkpoint was trained with"), std::string::npos) << outcome.err;
    }
    EXPECT_EQ(scratch.runs("a.amax").size(), 2U);
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
