// Whole steps: determinism, fusion, fallback, guards, checkpoints.
#include "engine/trainer.h"
#include "engine/error.h"

#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

namespace {

using engine::Guard;
using engine::Precision;
using engine::RunConfig;
using engine::StepStats;
using engine::Trainer;

RunConfig tinyConfig(Precision precision, int steps = 6) {
    RunConfig config;
    config.model = {2, 32, 2, 16, 0};
    config.train.batch = 4;
    config.train.steps = steps;
    config.train.precision = precision;
    config.train.threads = 2;
    return config;
}

/// Keeps what a trainer reports.
class Recorder : public engine::StepObserver {
public:
    void onTensors(std::span<const engine::TensorInfo> list) override { tensors.assign(list.begin(), list.end()); }
    void onStepBegin(std::int64_t) override {}
    void onStepEnd(const StepStats& stats, std::span<const engine::TensorSnapshot> list) override {
        steps.push_back(stats);
        snapshots.insert(snapshots.end(), list.begin(), list.end());
        stepOf.insert(stepOf.end(), list.size(), stats.step);
    }
    void onValidation(std::int64_t step, double loss) override { validations[step] = loss; }
    void onEvent(const engine::EngineEvent& event) override { events.push_back(event); }
    void onGeneration(const engine::GenerationSample& sample) override { generations.push_back(sample); }
    int count(const std::string& code) const {
        int n = 0;
        for (const auto& event : events) n += event.code == code ? 1 : 0;
        return n;
    }

    std::vector<engine::TensorInfo> tensors;
    std::vector<StepStats> steps;
    std::vector<engine::TensorSnapshot> snapshots;
    std::vector<std::int64_t> stepOf;  // of each snapshot
    std::map<std::int64_t, double> validations;
    std::vector<engine::EngineEvent> events;
    std::vector<engine::GenerationSample> generations;
};

std::vector<double> losses(const RunConfig& config) {
    const auto trainer = Trainer::create(config, nullptr);
    std::vector<double> result;
    while (!trainer->done()) result.push_back(trainer->step().loss);
    return result;
}

std::string bytesOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

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

// A learning rate this large overflows the weights within a few steps.
RunConfig explodingConfig(Guard guard) {
    RunConfig config = tinyConfig(Precision::Fp32, 40);
    config.train.lr = 10;
    config.train.warmupSteps = 0;
    config.train.weightDecay = 10;
    config.train.gradClip = 0;
    config.train.guard = guard;
    return config;
}

TEST(Guard, skipsStepsThatAreNotFinite) {
    Recorder recorder;
    const auto trainer = Trainer::create(explodingConfig(Guard::Warn), &recorder);
    int skipped = 0;
    while (!trainer->done()) skipped += trainer->step().skipped ? 1 : 0;
    EXPECT_GT(skipped, 0);
    EXPECT_GE(recorder.count("non_finite"), 1);
}

TEST(Guard, stopsTheRunWhenAsked) {
    const auto trainer = Trainer::create(explodingConfig(Guard::Stop), nullptr);
    EXPECT_THROW(
        {
            while (!trainer->done()) trainer->step();
        },
        engine::Error);
}

// Weights that grow faster than a history of one step follows.
RunConfig saturatingConfig() {
    RunConfig config = tinyConfig(Precision::Fp8, 40);
    config.train.guard = Guard::Fallback;
    config.train.lr = 1.0;
    config.train.warmupSteps = 0;
    config.train.gradClip = 0;
    config.recipe.amaxHistoryLen = 1;
    return config;
}

TEST(Guard, movesSaturatingLayersToBf16) {
    const RunConfig config = saturatingConfig();
    Recorder recorder;
    const auto trainer = Trainer::create(config, &recorder);
    while (!trainer->done()) trainer->step();
    EXPECT_GE(recorder.count("saturation"), 1);
    ASSERT_GE(recorder.count("fallback"), 1);
    const std::size_t whole = recorder.tensors.size();
    const auto last =
        std::count_if(recorder.stepOf.begin(), recorder.stepOf.end(), [](std::int64_t s) { return s == 39; });
    EXPECT_LT(static_cast<std::size_t>(last), whole) << "a layer in BF16 has no FP8 snapshots";
}

TEST(Guard, doesTheSameWhateverIsRecorded) {
    for (int every : {1, 7, 0}) {
        RunConfig config = saturatingConfig();
        config.train.snapshotEvery = 1;
        const std::vector<double> expected = losses(config);
        config.train.snapshotEvery = every;
        EXPECT_EQ(losses(config), expected) << "snapshots every " << every << " steps";
    }
}

TEST(Guard, resumesWithItsPinsAndItsMemory) {
    const TemporaryFolder folder;
    const RunConfig config = saturatingConfig();
    const std::vector<double> expected = losses(config);
    for (int cut : {3, 7, 12, 20}) {
        const auto first = Trainer::create(config, nullptr);
        std::vector<double> actual;
        for (int i = 0; i < cut; ++i) actual.push_back(first->step().loss);
        first->save(folder.path() + "/cut");
        const auto second = Trainer::resume(folder.path() + "/cut", config, nullptr);
        while (!second->done()) actual.push_back(second->step().loss);
        EXPECT_EQ(actual, expected) << "saved after step " << cut;
    }
    RunConfig other = config;
    other.train.guard = Guard::Warn;
    EXPECT_NO_THROW(Trainer::resume(folder.path() + "/cut", other, nullptr)->step()) << "pinned layers stay in BF16";
}

TEST(Guard, endsARunThatSkipsEveryStep) {
    RunConfig config = explodingConfig(Guard::Warn);
    config.train.steps = 400;
    Recorder recorder;
    const auto trainer = Trainer::create(config, &recorder);
    EXPECT_THROW(
        {
            while (!trainer->done()) trainer->step();
        },
        engine::Error);
    EXPECT_LT(trainer->nextStep(), 400);
    EXPECT_LT(recorder.count("non_finite"), 20) << "one event when it begins, not one per step";
}

class Checkpoint : public testing::TestWithParam<Precision> {
protected:
    TemporaryFolder m_folder;
    std::string path(const char* name) const { return m_folder.path() + "/" + name; }
};

TEST_P(Checkpoint, resumedRunContinuesBitForBit) {
    const RunConfig config = tinyConfig(GetParam(), 10);
    const auto whole = Trainer::create(config, nullptr);
    std::vector<double> expected;
    while (!whole->done()) expected.push_back(whole->step().loss);
    whole->save(path("whole"));

    const auto first = Trainer::create(config, nullptr);
    std::vector<double> actual;
    for (int i = 0; i < 4; ++i) actual.push_back(first->step().loss);
    first->save(path("half"));
    const auto second = Trainer::resume(path("half"), config, nullptr);
    EXPECT_EQ(second->nextStep(), 4);
    while (!second->done()) actual.push_back(second->step().loss);
    second->save(path("resumed"));

    EXPECT_EQ(actual, expected);
    EXPECT_EQ(bytesOf(path("resumed")), bytesOf(path("whole")));
}

TEST_P(Checkpoint, loadedModelGeneratesLikeTheTrainedOne) {
    const auto trainer = Trainer::create(tinyConfig(GetParam(), 10), nullptr);
    while (!trainer->done()) trainer->step();
    trainer->save(path("model"));
    EXPECT_EQ(Trainer::load(path("model"))->generate({0, 3, 6, 9}, 8), trainer->generate({0, 3, 6, 9}, 8));
}

INSTANTIATE_TEST_SUITE_P(Precisions, Checkpoint, testing::Values(Precision::Fp32, Precision::Bf16, Precision::Fp8),
                         [](const auto& tested) { return std::string(engine::name(tested.param)); });

TEST(CheckpointFile, refusesOtherSettings) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/a";
    RunConfig config = tinyConfig(Precision::Fp8);
    Trainer::create(config, nullptr)->save(path);
    config.train.lr = 0.5;
    try {
        Trainer::resume(path, config, nullptr);
        FAIL() << "a changed learning rate went unnoticed";
    } catch (const engine::Error& error) {
        EXPECT_EQ(error.subject(), "--lr");
        EXPECT_EQ(error.kind(), engine::ErrorKind::Usage);
    }
}

TEST(CheckpointFile, refusesDamagedAndForeignFiles) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/a";
    Trainer::create(tinyConfig(Precision::Fp8), nullptr)->save(path);
    const std::string good = bytesOf(path);
    const auto refused = [&](const std::string& bytes, const std::string& word) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
        try {
            Trainer::load(path);
            ADD_FAILURE() << "accepted: " << word;
        } catch (const engine::Error& error) {
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
    };
    refused("hello", "not an Amaxscope checkpoint");
    refused(good.substr(0, good.size() / 2), "damaged");
    refused(good.substr(0, 40), "damaged");
    std::string flipped = good;
    flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
    refused(flipped, "damaged");
    std::string newer = good;
    newer[8] = 9;
    refused(newer, "version 9");
}

TEST(CheckpointFile, failedSaveLeavesTheOldFile) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/a";
    const auto trainer = Trainer::create(tinyConfig(Precision::Fp32), nullptr);
    trainer->save(path);
    const std::string before = bytesOf(path);
    std::filesystem::create_directory(path + ".part");  // where the new file would be written
    trainer->step();
    EXPECT_THROW(trainer->save(path), engine::Error);
    EXPECT_EQ(bytesOf(path), before);
}

}  // namespace
