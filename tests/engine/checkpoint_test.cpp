// Saving and resuming: byte for byte for every precision, recipe and way to store weights; damaged and foreign files.
#include "engine/error.h"
#include "training_runs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <vector>

namespace {

using engine::Precision;
using engine::RunConfig;
using engine::Trainer;

struct SavedRun {
    std::string name;
    RunConfig config;
};

void PrintTo(const SavedRun& tested, std::ostream* out) {
    *out << tested.name;
}

std::vector<SavedRun> savedRuns() {
    std::vector<SavedRun> runs;
    for (const Precision precision : {Precision::Fp32, Precision::Bf16}) {
        runs.push_back({engine::name(precision), tinyConfig(precision, 10)});
    }
    for (const engine::RecipeKind kind : kAllRecipes) {
        RunConfig config = recipeConfig(kind, 6);
        runs.push_back({engine::name(kind), config});
        config.train.weights = engine::WeightStorage::Fp8;
        runs.push_back({std::string(engine::name(kind)) + "_weights", config});
        config.train.weights = engine::WeightStorage::Fp8KeepInit;
        runs.push_back({std::string(engine::name(kind)) + "_weights_keep_init", config});
    }
    RunConfig llama = recipeConfig(engine::RecipeKind::MxFp8, 6);
    useLlamaModules(llama.model);
    llama.train.accumulate = 2;
    runs.push_back({"llama_mxfp8_accumulated", llama});
    return runs;
}

class Checkpoint : public testing::TestWithParam<SavedRun> {
protected:
    TemporaryFolder m_folder;
    std::string path(const char* name) const { return m_folder.path() + "/" + name; }
};

TEST_P(Checkpoint, resumedRunContinuesBitForBit) {
    const RunConfig& config = GetParam().config;
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
    const auto trainer = Trainer::create(GetParam().config, nullptr);
    while (!trainer->done()) trainer->step();
    trainer->save(path("model"));
    EXPECT_EQ(Trainer::load(path("model"))->generate({0, 3, 6, 9}, 8), trainer->generate({0, 3, 6, 9}, 8));
}

INSTANTIATE_TEST_SUITE_P(Runs, Checkpoint, testing::ValuesIn(savedRuns()),
                         [](const auto& tested) { return tested.param.name; });

// A history resized in the middle of a run, without and with a checkpoint in between.
TEST(ResumedHistory, isResizedAsInAnUninterruptedRun) {
    for (const int length : {2, 8}) {
        const TemporaryFolder folder;
        RunConfig config = tinyConfig(Precision::Fp8, 12);
        config.recipe.amaxHistoryLen = 4;
        RunConfig resized = config;
        resized.recipe.amaxHistoryLen = length;

        const auto first = Trainer::create(config, nullptr);
        for (int i = 0; i < 6; ++i) first->step();
        first->save(folder.path() + "/cut");
        const auto resumed = Trainer::resume(folder.path() + "/cut", resized, nullptr);
        std::vector<double> actual;
        while (!resumed->done()) actual.push_back(resumed->step().loss);
        resumed->save(folder.path() + "/resumed");

        first->resizeAmaxHistory(length);
        std::vector<double> expected;
        while (!first->done()) expected.push_back(first->step().loss);
        first->save(folder.path() + "/uninterrupted");
        EXPECT_EQ(actual, expected) << "4 → " << length;
        EXPECT_EQ(bytesOf(folder.path() + "/resumed"), bytesOf(folder.path() + "/uninterrupted")) << "4 → " << length;
        EXPECT_EQ(resumed->config().recipe.amaxHistoryLen, length);
    }
}

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
