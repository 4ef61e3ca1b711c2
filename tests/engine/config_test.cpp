// Configurations: limits with their messages, JSON round trip, names, size estimates.
#include "engine/config.h"
#include "engine/error.h"
#include "engine/trainer.h"

#include <gtest/gtest.h>

namespace {

using engine::ConfigIssue;
using engine::Precision;
using engine::RunConfig;

const ConfigIssue* find(const std::vector<ConfigIssue>& issues, const std::string& field) {
    for (const ConfigIssue& issue : issues) {
        if (issue.field == field) return &issue;
    }
    return nullptr;
}

TEST(Validate, saysWhichHeadsDivideTheModel) {
    RunConfig config;
    config.model.dModel = 256;
    config.model.heads = 3;
    const auto issues = engine::validate(config);
    const ConfigIssue* issue = find(issues, "heads");
    ASSERT_NE(issue, nullptr);
    EXPECT_EQ(issue->why, "3 does not divide d-model 256");
    EXPECT_EQ(issue->fix, "use 1, 2, 4, 8");
}

TEST(Validate, namesTheSizesThatFp8Takes) {
    RunConfig config;
    config.model.dModel = 72;
    config.model.heads = 4;
    EXPECT_EQ(find(engine::validate(config), "d-model"), nullptr) << "fine in any other precision";
    config.train.precision = Precision::Fp8;
    const auto issues = engine::validate(config);
    const ConfigIssue* issue = find(issues, "d-model");
    ASSERT_NE(issue, nullptr);
    EXPECT_EQ(issue->fix, "use 64 or 80, or --precision bf16");
}

TEST(Validate, wantsTokensInSixteensForFp8WeightGradients) {
    RunConfig config;
    config.train.precision = Precision::Fp8;
    config.train.batch = 3;
    config.model.seqLen = 8;
    const auto issues = engine::validate(config);
    ASSERT_NE(find(issues, "batch"), nullptr);
    EXPECT_NE(find(issues, "batch")->why.find("24 tokens"), std::string::npos);
}

TEST(Validate, wantsUtf8) {
    RunConfig config;
    config.train.data = "text:caf\xE9.txt";
    EXPECT_NE(find(engine::validate(config), "data"), nullptr);
    config.train.data = "text:café ü €😀.txt";
    EXPECT_EQ(find(engine::validate(config), "data"), nullptr);
}

TEST(Validate, checksEveryNumber) {
    RunConfig config;
    config.model = {0, 4, 0, 1, 1};
    config.train.batch = 0;
    config.train.steps = 0;
    config.train.lr = -1;
    config.train.weightDecay = -1;
    config.train.gradClip = -1;
    config.train.beta1 = 1;
    config.train.beta2 = 1;
    config.train.threads = -1;
    config.train.snapshotEvery = -1;
    config.train.validateEvery = -1;
    config.train.warmupSteps = -1;
    config.train.data = "csv:x";
    config.train.device = "tpu";
    config.train.precision = Precision::Fp8;
    config.recipe.margin = -1;
    config.recipe.amaxHistoryLen = 0;
    const auto issues = engine::validate(config);
    for (const char* field : {"layers",       "d-model", "heads",   "seq-len",        "vocab",
                              "batch",        "steps",   "lr",      "weight-decay",   "grad-clip",
                              "beta1",        "beta2",   "threads", "snapshot-every", "validate-every",
                              "warmup-steps", "data",    "device",  "margin",         "amax-history-len"}) {
        EXPECT_NE(find(issues, field), nullptr) << field;
    }
}

/// The reason for one field after `change`; "" when there is no issue with it.
template <typename Change>
std::string reason(const char* field, Change change) {
    RunConfig config;
    config.train.precision = Precision::Fp8;
    change(config);
    const auto issues = engine::validate(config);
    const ConfigIssue* issue = find(issues, field);
    return issue == nullptr ? "" : issue->why;
}

TEST(Validate, checksModelsOfOtherParts) {
    EXPECT_EQ(reason("kv-heads", [](RunConfig& c) { c.model.kvHeads = 3; }), "3 does not divide heads 4");
    EXPECT_EQ(reason("kv-heads", [](RunConfig& c) { c.model.kvHeads = 2; }), "");
    EXPECT_NE(reason("ffn", [](RunConfig& c) { c.model.ffn = 4; }), "");
    EXPECT_NE(reason("norm-epsilon", [](RunConfig& c) { c.model.normEpsilon = 0; }), "");
    EXPECT_NE(reason("rope-theta", [](RunConfig& c) { c.model.ropeTheta = 0.5; }), "");
    const auto oddHead = [](RunConfig& c) {
        c.model.dModel = 48;
        c.model.heads = 16;
        c.model.positions = engine::Positions::Rotary;
    };
    EXPECT_EQ(reason("positions", oddHead), "rotary positions turn pairs of elements and a head has 3");
}

TEST(Validate, checksWhatARecipeTakes) {
    using engine::RecipeKind;
    EXPECT_NE(reason("format",
                     [](RunConfig& c) {
                         c.recipe.kind = RecipeKind::NvFp4;
                         c.recipe.format = engine::RecipeFormat::E4M3;
                     }),
              "");
    EXPECT_NE(reason("power-of-two-scales",
                     [](RunConfig& c) {
                         c.recipe.kind = RecipeKind::MxFp8;
                         c.recipe.powerOfTwoScales = engine::Switch::Off;
                     }),
              "");
    EXPECT_NE(reason("amax-epsilon", [](RunConfig& c) { c.recipe.amaxEpsilon = -1; }), "");
    EXPECT_NE(reason("weights",
                     [](RunConfig& c) {
                         c.train.precision = Precision::Bf16;
                         c.train.weights = engine::WeightStorage::Fp8;
                     }),
              "");
    // 80 = 5 · 16 elements are whole blocks for NVFP4, not for MXFP8 (32) or block scaling (128).
    for (const auto& [kind, sound] : {std::pair{RecipeKind::Delayed, true},
                                      {RecipeKind::Current, true},
                                      {RecipeKind::NvFp4, true},
                                      {RecipeKind::MxFp8, false},
                                      {RecipeKind::Block, false}}) {
        const auto narrow = [kind = kind](RunConfig& c) {
            c.recipe.kind = kind;
            c.model.dModel = 80;
        };
        EXPECT_EQ(reason("d-model", narrow).empty(), sound) << engine::name(kind);
    }
}

TEST(Validate, checksGuardObservationAndPatterns) {
    EXPECT_NE(reason("accumulate", [](RunConfig& c) { c.train.accumulate = 0; }), "");
    EXPECT_NE(reason("guard-limit", [](RunConfig& c) { c.train.guardLimit = -1; }), "");
    EXPECT_NE(reason("guard-steps", [](RunConfig& c) { c.train.guardSteps = -1; }), "");
    EXPECT_NE(reason("bf16-edge-layers", [](RunConfig& c) { c.train.bf16EdgeLayers = -1; }), "");
    EXPECT_NE(reason("snapshot-from", [](RunConfig& c) { c.train.snapshotFrom = -1; }), "");
    EXPECT_NE(reason("exponents-every", [](RunConfig& c) { c.train.exponentsEvery = -1; }), "");
    EXPECT_EQ(reason("snapshot-to",
                     [](RunConfig& c) {
                         c.train.snapshotFrom = 5;
                         c.train.snapshotTo = 4;
                     }),
              "4 is before the first step with a snapshot, 5");
    EXPECT_EQ(reason("observe", [](RunConfig& c) { c.train.observe = "weight,bias"; }),
              "\"bias\" is no role of a tensor");
    EXPECT_EQ(reason("keep-bf16", [](RunConfig& c) { c.train.keepBf16 = "lm_head,layer.9.*"; }),
              "\"layer.9.*\" names no layer of this model");
    EXPECT_EQ(reason("keep-fp32", [](RunConfig& c) { c.train.keepFp32 = "head"; }),
              "\"head\" names no layer of this model");
}

TEST(ConfigJson, readsBackWhatItWrote) {
    RunConfig config = engine::presetConfig("small");
    config.model.vocab = 256;
    config.model.kvHeads = 2;
    config.model.activation = engine::Activation::SwiGlu;
    config.model.tiedHead = true;
    config.recipe = {engine::RecipeKind::Block,
                     engine::RecipeFormat::E4M3,
                     2,
                     1024,
                     engine::AmaxAlgo::MostRecent,
                     engine::Switch::Off,
                     1e-12,
                     false,
                     false,
                     false};
    config.train.precision = Precision::Fp8;
    config.train.lr = 1.0 / 3.0;
    config.train.seed = 0xFFFFFFFFFFFFFFFFULL;
    config.train.keepBf16 = "layer.0.*,\"quoted\"";
    config.train.weights = engine::WeightStorage::Fp8KeepInit;
    config.train.observe = "input,wgrad";
    config.train.guard = engine::Guard::Fallback;
    config.train.data = "text:/tmp/ä ü/50%.txt";
    EXPECT_EQ(engine::runConfigFromJson(toJson(config.model), toJson(config.recipe), toJson(config.train)), config);
}

// As version 0.1.0 stored it.
TEST(ConfigJson, readsWhatAnOlderProgramWrote) {
    const RunConfig config = engine::runConfigFromJson(
        R"({"layers":2,"d_model":64,"heads":2,"seq_len":32,"vocab":256})",
        R"({"recipe":"delayed","format":"hybrid","margin":1,"amax_history_len":16,"amax_algo":"max"})",
        R"({"precision":"fp8","batch":4,"steps":10,"lr":0.001,"warmup_steps":20,"weight_decay":0.1,"beta1":0.9,)"
        R"("beta2":0.95,"grad_clip":1.0,"seed":3,"threads":0,"fused":true,"keep_bf16":"lm_head","guard":"warn",)"
        R"("snapshot_every":1,"validate_every":50,"device":"auto","data":"stride"})");
    RunConfig expected;
    expected.model = {2, 64, 2, 32, 256};
    expected.recipe.format = engine::RecipeFormat::Hybrid;
    expected.recipe.margin = 1;
    expected.train.precision = Precision::Fp8;
    expected.train.batch = 4;
    expected.train.steps = 10;
    expected.train.seed = 3;
    expected.train.keepBf16 = "lm_head";
    EXPECT_EQ(config, expected);
}

TEST(ConfigJson, refusesOtherText) {
    EXPECT_THROW(engine::runConfigFromJson("{}", "", "{}"), engine::Error);
    EXPECT_THROW(engine::runConfigFromJson("not json", "", "{}"), engine::Error);
}

TEST(ConfigNames, listTheChoicesWhenOneIsUnknown) {
    try {
        engine::parse<engine::Precision>("fp4");
        FAIL();
    } catch (const engine::Error& error) {
        EXPECT_STREQ(error.what(), "--precision fp4: not one of the choices: use auto, fp32, bf16, fp8");
    }
}

template <typename Enum>
void expectNamesReadBack() {
    const std::vector<std::string> words = engine::choices<Enum>();
    EXPECT_GE(words.size(), 2U);
    for (const std::string& word : words) EXPECT_EQ(engine::name(engine::parse<Enum>(word)), word);
}

TEST(ConfigNames, readBack) {
    expectNamesReadBack<engine::Precision>();
    expectNamesReadBack<engine::RecipeKind>();
    expectNamesReadBack<engine::RecipeFormat>();
    expectNamesReadBack<engine::AmaxAlgo>();
    expectNamesReadBack<engine::Switch>();
    expectNamesReadBack<engine::Guard>();
    expectNamesReadBack<engine::Norm>();
    expectNamesReadBack<engine::Activation>();
    expectNamesReadBack<engine::Positions>();
    expectNamesReadBack<engine::WeightStorage>();
}

TEST(Estimate, countsTheTutorialModelAsWorkedOutByHand) {
    RunConfig config = engine::presetConfig("tutorial");
    config.model.vocab = 256;
    // Embeddings 256·256 + 128·256, four layers of 12·256² + 13·256, final norm 2·256, head 256·256.
    EXPECT_EQ(engine::estimate(config).parameters, 65536 + 32768 + 4 * (786432 + 3328) + 512 + 65536);
    EXPECT_EQ(engine::estimate(config).tokensPerStep, 1024);
}

TEST(Estimate, countsTheLlamaModelAsWorkedOutByHand) {
    RunConfig config = engine::presetConfig("llama-small");
    config.model.vocab = 256;
    // Per layer: qkv (8 + 2·2)·64 × 512, projection 512², gate and up 2·1408 × 512, down 512 × 1408, two norms of 512.
    const std::int64_t layer = 393216 + 262144 + 1441792 + 720896 + 1024;
    EXPECT_EQ(engine::estimate(config).parameters, 6 * layer + 256 * 512 + 512)
        << "one embedding, no head, no positions";
    config.train.accumulate = 3;
    EXPECT_EQ(engine::estimate(config).tokensPerStep, 3 * 4 * 256);
}

TEST(Estimate, equalsWhatATrainerTakes) {
    for (Precision precision : {Precision::Fp32, Precision::Bf16, Precision::Fp8}) {
        RunConfig config;
        config.model = {2, 32, 2, 16, 64};
        config.train.batch = 4;
        config.train.precision = precision;
        const auto trainer = engine::Trainer::create(config, nullptr);
        const auto expected = static_cast<double>(engine::estimate(config).memoryBytes);
        EXPECT_NEAR(static_cast<double>(trainer->info().memoryBytes), expected, 0.01 * expected);
    }
}

}  // namespace
