// Whole steps: determinism, fusion, fallback, what is reported.
#include "engine/error.h"
#include "training_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace {

using engine::Precision;
using engine::RunConfig;
using engine::Trainer;

TEST(Trainer, repeatsBitForBitWithTheSameSeed) {
    for (Precision precision : {Precision::Fp32, Precision::Bf16, Precision::Fp8}) {
        EXPECT_EQ(losses(tinyConfig(precision)), losses(tinyConfig(precision))) << engine::name(precision);
    }
}

TEST(Trainer, differsWithAnotherSeed) {
    RunConfig other = tinyConfig(Precision::Fp32);
    other.train.seed = 2;
    EXPECT_NE(losses(tinyConfig(Precision::Fp32)), losses(other));
}

TEST(Trainer, fusedAndUnfusedStepsAgreeToTheBit) {
    for (Precision precision : {Precision::Fp32, Precision::Bf16, Precision::Fp8}) {
        RunConfig unfused = tinyConfig(precision);
        unfused.train.fused = false;
        EXPECT_EQ(losses(tinyConfig(precision)), losses(unfused)) << engine::name(precision);
    }
}

TEST(Trainer, learnsTheStrideRule) {
    RunConfig config = tinyConfig(Precision::Fp8, 200);
    config.train.lr = 1e-2;
    const std::vector<double> curve = losses(config);
    EXPECT_LT(curve.back(), 0.6 * curve.front());
}

TEST(Trainer, fp8StaysNearFp32) {
    const double fp32 = losses(tinyConfig(Precision::Fp32, 60)).back();
    const double fp8 = losses(tinyConfig(Precision::Fp8, 60)).back();
    EXPECT_NEAR(fp8, fp32, 0.05 * fp32);
    EXPECT_NE(fp8, fp32) << "FP8 that rounds nothing is no FP8";
}

TEST(Trainer, reportsEveryQuantisedTensorEachStep) {
    Recorder recorder;
    const auto trainer = Trainer::create(tinyConfig(Precision::Fp8), &recorder);
    ASSERT_EQ(recorder.tensors.size(), 3U * (2 * 4 + 1));
    EXPECT_EQ(recorder.tensors[0].layer, "layer.0.attn.qkv");
    EXPECT_EQ(recorder.tensors[2].role, "grad_output");
    EXPECT_EQ(recorder.tensors[2].format, "E5M2");
    while (!trainer->done()) trainer->step();
    ASSERT_EQ(recorder.snapshots.size(), 6 * recorder.tensors.size());
    for (const auto& snapshot : recorder.snapshots) {
        const auto& tensor = recorder.tensors[static_cast<std::size_t>(snapshot.tensor)];
        EXPECT_EQ(snapshot.count, tensor.rows * tensor.cols) << tensor.layer << tensor.role;
        EXPECT_GT(snapshot.amax, 0.0F);
        EXPECT_LE(snapshot.sqError, snapshot.sqSignal);
    }
    EXPECT_EQ(recorder.snapshots.front().scale, 1.0F) << "the first cast has no history";
}

TEST(Trainer, evaluationChangesNothingOfTraining) {
    const RunConfig config = tinyConfig(Precision::Fp8);
    const auto trainer = Trainer::create(config, nullptr);
    std::vector<double> curve;
    while (!trainer->done()) {
        curve.push_back(trainer->step().loss);
        trainer->validationLoss();
        trainer->generate({1, 2, 3}, 3);
    }
    EXPECT_EQ(curve, losses(config));
}

TEST(Trainer, keepsNamedLayersInBf16) {
    RunConfig config = tinyConfig(Precision::Fp8);
    config.train.keepBf16 = "layer.0.*,lm_head";
    Recorder recorder;
    const auto trainer = Trainer::create(config, &recorder);
    EXPECT_EQ(recorder.tensors.size(), 3U * 4);
    EXPECT_EQ(recorder.tensors.front().layer, "layer.1.attn.qkv");
    EXPECT_EQ(recorder.count("fallback"), 5);
}

TEST(Trainer, runsAHeadThatFp8CannotTakeInBf16AndSaysSo) {
    RunConfig config = tinyConfig(Precision::Fp8);
    config.model.vocab = 50;
    Recorder recorder;
    const auto trainer = Trainer::create(config, &recorder);
    ASSERT_EQ(recorder.count("fallback"), 1);
    EXPECT_NE(recorder.events.back().text.find("lm_head"), std::string::npos);
    EXPECT_NE(recorder.events.back().text.find("64"), std::string::npos) << "the next size that works";
    EXPECT_TRUE(std::isfinite(trainer->step().loss));
}

TEST(Trainer, autoPrecisionStatesItsReason) {
    const auto trainer = Trainer::create(tinyConfig(Precision::Auto), nullptr);
    EXPECT_NE(trainer->info().precision, Precision::Auto);
    EXPECT_FALSE(trainer->info().precisionReason.empty());
}

TEST(Trainer, keepsTheFirstAndLastLayersInBf16) {
    RunConfig config = tinyConfig(Precision::Fp8);
    config.model.layers = 4;
    config.train.bf16EdgeLayers = 1;
    Recorder recorder;
    const auto trainer = Trainer::create(config, &recorder);
    EXPECT_EQ(recorder.count("fallback"), 8);
    EXPECT_EQ(recorder.tensors.front().layer, "layer.1.attn.qkv");
    EXPECT_EQ(recorder.tensors.back().layer, "lm_head");
    EXPECT_EQ(recorder.tensors.size(), 3U * (2 * 4 + 1));
}

TEST(Trainer, runsNamedLayersInFp32) {
    RunConfig config = tinyConfig(Precision::Bf16);
    const std::vector<double> bf16 = losses(config);
    config.train.keepFp32 = "*";
    EXPECT_NE(losses(config), bf16);
    EXPECT_EQ(losses(config), losses(tinyConfig(Precision::Fp32)));
}

TEST(Trainer, fallsBackPerProductAndNamesTheRule) {
    RunConfig config = recipeConfig(engine::RecipeKind::Block);
    config.model.ffn = 192;
    Recorder recorder;
    const auto trainer = Trainer::create(config, &recorder);
    // Both products of the MLP in each of two layers; the head has 64 tokens of vocabulary.
    ASSERT_EQ(recorder.count("fallback"), 5);
    const auto event = std::find_if(recorder.events.begin(), recorder.events.end(),
                                    [](const auto& e) { return e.code == "fallback"; });
    EXPECT_NE(event->text.find("layer.0.mlp.fc1 runs in BF16"), std::string::npos) << event->text;
    EXPECT_NE(event->text.find("out 192 % 128 = 64 (next: 256)"), std::string::npos) << event->text;
    EXPECT_TRUE(std::isfinite(trainer->step().loss));
}

TEST(Observation, costsNothingThatIsNotAskedFor) {
    RunConfig config = tinyConfig(Precision::Fp8, 10);
    config.train.observe = "weight";
    config.train.snapshotEvery = 3;
    config.train.snapshotFrom = 2;
    config.train.snapshotTo = 8;
    config.train.exponentsEvery = 6;
    Recorder recorder;
    const auto trainer = Trainer::create(config, &recorder);
    while (!trainer->done()) trainer->step();
    std::map<std::int64_t, int> perStep;
    for (std::size_t i = 0; i < recorder.snapshots.size(); ++i) {
        const engine::TensorSnapshot& snapshot = recorder.snapshots[i];
        ++perStep[recorder.stepOf[i]];
        EXPECT_EQ(recorder.tensorOf(snapshot).role, "weight");
        EXPECT_EQ(!snapshot.exponents.empty(), recorder.stepOf[i] == 2 || recorder.stepOf[i] == 8);
    }
    EXPECT_EQ(perStep, (std::map<std::int64_t, int>{{2, 9}, {5, 9}, {8, 9}}));
}

TEST(Observation, countsTheBinadesOfEveryRole) {
    for (const Precision precision : {Precision::Fp32, Precision::Bf16, Precision::Fp8}) {
        RunConfig config = tinyConfig(precision, 1);
        config.train.observe = "input,weight,grad_output,output,dgrad,wgrad";
        config.train.exponentsEvery = 1;
        Recorder recorder;
        const auto trainer = Trainer::create(config, &recorder);
        trainer->step();
        ASSERT_EQ(recorder.snapshots.size(), 6U * 9) << engine::name(precision);
        for (const engine::TensorSnapshot& snapshot : recorder.snapshots) {
            const engine::TensorInfo& tensor = recorder.tensorOf(snapshot);
            const std::string name = tensor.layer + "." + tensor.role + " " + engine::name(precision);
            std::int64_t counted = 0;
            for (const std::uint32_t count : snapshot.exponents) counted += count;
            EXPECT_EQ(snapshot.count, tensor.rows * tensor.cols) << name;
            EXPECT_LE(counted, snapshot.count) << name;
            EXPECT_GT(counted, snapshot.count / 2) << name;
            ASSERT_GT(snapshot.amax, 0.0F) << name;
            EXPECT_GT(snapshot.smallest, 0.0F) << name;
            EXPECT_EQ(std::ilogb(snapshot.smallest), snapshot.firstExponent) << name;
            EXPECT_EQ(std::ilogb(snapshot.amax),
                      snapshot.firstExponent + static_cast<int>(snapshot.exponents.size()) - 1)
                << name;
        }
    }
}

TEST(Observation, doesNotChangeWhatIsTrained) {
    RunConfig config = tinyConfig(Precision::Fp8);
    const std::vector<double> expected = losses(config);
    config.train.observe = "output,wgrad";
    config.train.exponentsEvery = 2;
    EXPECT_EQ(losses(config), expected);
}

}  // namespace
