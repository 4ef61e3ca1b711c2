// Configurations: limits with their messages, JSON round trip, presets, size estimates.
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

TEST(Validate, findsNothingWrongWithThePresets) {
    for (const std::string& preset : engine::presetNames()) {
        RunConfig config = engine::presetConfig(preset);
        config.train.precision = Precision::Fp8;
        EXPECT_TRUE(engine::validate(config).empty()) << preset;
        EXPECT_FALSE(engine::presetSummary(preset).empty());
    }
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
    EXPECT_THROW(engine::presetConfig("huge"), engine::Error);
}

TEST(Estimate, countsTheTutorialModelAsWorkedOutByHand) {
    RunConfig config = engine::presetConfig("tutorial");
    config.model.vocab = 256;
    // Embeddings 256·256 + 128·256, four layers of 12·256² + 13·256, final norm 2·256, head 256·256.
    EXPECT_EQ(engine::estimate(config).parameters, 65536 + 32768 + 4 * (786432 + 3328) + 512 + 65536);
    EXPECT_EQ(engine::estimate(config).tokensPerStep, 1024);
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
