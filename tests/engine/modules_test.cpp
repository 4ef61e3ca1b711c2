// The modules of a Transformer layer in every combination: fused equals unfused, micro-batches equal one batch, shared
// and stored weights behave.
#include "src/trainer_impl.h"
#include "training_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

namespace {

using engine::Activation;
using engine::Precision;
using engine::RecipeKind;
using engine::RunConfig;
using engine::Trainer;
using engine::TrainerImpl;
using engine::WeightStorage;

struct Variant {
    std::string name;
    RunConfig config;
};

void PrintTo(const Variant& tested, std::ostream* out) {
    *out << tested.name;
}

std::vector<Variant> variants() {
    std::vector<Variant> all;
    for (const Precision precision : {Precision::Fp32, Precision::Bf16}) {
        all.push_back({engine::name(precision), recipeConfig(RecipeKind::Delayed)});
        all.back().config.train.precision = precision;
        all.push_back({std::string(engine::name(precision)) + "_llama", all.back().config});
        useLlamaModules(all.back().config.model);
    }
    for (const RecipeKind kind : kAllRecipes) {
        all.push_back({engine::name(kind), recipeConfig(kind)});
        all.push_back({std::string(engine::name(kind)) + "_llama", recipeConfig(kind)});
        useLlamaModules(all.back().config.model);
    }
    for (const Activation activation : {Activation::Relu, Activation::GeGlu}) {
        all.push_back({engine::name(activation), recipeConfig(RecipeKind::Current)});
        all.back().config.model.activation = activation;
    }
    return all;
}

class Modules : public testing::TestWithParam<Variant> {};

TEST_P(Modules, areTheSameFusedAndUnfused) {
    RunConfig unfused = GetParam().config;
    unfused.train.fused = false;
    const std::vector<double> expected = losses(unfused);
    EXPECT_EQ(losses(GetParam().config), expected);
    EXPECT_TRUE(std::all_of(expected.begin(), expected.end(), [](double loss) { return std::isfinite(loss); }));
    EXPECT_NE(expected.front(), expected.back());
}

TEST_P(Modules, learn) {
    RunConfig config = GetParam().config;
    config.train.steps = 40;
    config.train.lr = 3e-3;
    const std::vector<double> curve = losses(config);
    EXPECT_LT(curve.back(), 0.95 * curve.front());
}

INSTANTIATE_TEST_SUITE_P(Variants, Modules, testing::ValuesIn(variants()),
                         [](const auto& tested) { return tested.param.name; });

// Gradients of one batch of four sequences and of two micro-batches of two, over the same data.
TEST(MicroBatches, addUpToTheGradientOfTheWholeBatch) {
    RunConfig whole = tinyConfig(Precision::Fp32, 1);
    useLlamaModules(whole.model);
    whole.model.tiedHead = false;
    RunConfig split = whole;
    split.train.batch = 2;
    split.train.accumulate = 2;
    TrainerImpl a(whole, nullptr, TrainerImpl::Purpose::Train, true);
    TrainerImpl b(split, nullptr, TrainerImpl::Purpose::Train, true);
    engine::Network& one = a.network();
    engine::Network& two = b.network();
    const int seqLen = whole.model.seqLen;
    std::vector<int> inputs(4U * static_cast<std::size_t>(seqLen));
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = static_cast<int>(i * 7 % 50);
    const auto load = [&](engine::Network& network, int firstRow, int rows) {
        const auto begin = inputs.begin() + std::ptrdiff_t{firstRow} * seqLen;
        std::copy_n(begin, rows * seqLen, network.inputs());
        std::copy_n(begin, rows * seqLen, network.targets());
    };
    const float scale = 1.0F / static_cast<float>(inputs.size());
    load(one, 0, 4);
    engine::Pass pass{4, seqLen, true, {}};
    one.forward(pass);
    one.loss(pass, scale);
    one.backward(pass);
    for (int part = 0; part < 2; ++part) {
        load(two, 2 * part, 2);
        engine::Pass half{2, seqLen, true, {}};
        half.firstMicroBatch = part == 0;
        half.lastMicroBatch = part == 1;
        two.forward(half);
        two.loss(half, scale);
        two.backward(half);
    }
    double error = 0;
    double norm = 0;
    for (std::int64_t i = 0; i < one.gradientFloats(); ++i) {
        error += std::pow(static_cast<double>(one.gradients()[i]) - static_cast<double>(two.gradients()[i]), 2);
        norm += std::pow(static_cast<double>(one.gradients()[i]), 2);
    }
    EXPECT_GT(norm, 0.0);
    EXPECT_LT(std::sqrt(error / norm), 1e-6);
}

// cases.md D10: the bytes of a cached weight keep the scale they were cast with; its history takes one amax per step.
TEST(MicroBatches, castAWeightOncePerStep) {
    RunConfig config = tinyConfig(Precision::Fp8, 3);
    config.train.accumulate = 3;
    Recorder recorder;
    const auto trainer = Trainer::create(config, &recorder);
    while (!trainer->done()) trainer->step();
    for (const engine::TensorSnapshot& snapshot : recorder.snapshots) {
        const engine::TensorInfo& tensor = recorder.tensorOf(snapshot);
        const std::int64_t casts = tensor.role == "weight" ? 1 : 3;
        EXPECT_EQ(snapshot.count, casts * tensor.rows * tensor.cols) << tensor.layer << tensor.role;
    }
    EXPECT_EQ(recorder.steps.front().tokens, 3 * config.train.batch * config.model.seqLen);
}

TEST(TiedHead, sharesItsWeightAndGradientWithTheEmbedding) {
    RunConfig config = tinyConfig(Precision::Fp32, 1);
    const auto parameters = [&] {
        config.model.vocab = 64;
        return engine::estimate(config).parameters;
    };
    const std::int64_t untied = parameters();
    config.model.tiedHead = true;
    EXPECT_EQ(parameters(), untied - 64 * config.model.dModel);
    TrainerImpl trainer(config, nullptr, TrainerImpl::Purpose::Train, true);
    const auto& table = trainer.network().table();
    EXPECT_TRUE(
        std::none_of(table.begin(), table.end(), [](const auto& spec) { return spec.name == "lm_head.weight"; }));
}

class StoredWeights : public testing::TestWithParam<RecipeKind> {};

TEST_P(StoredWeights, takeTheirBytesInsteadOfFp32) {
    RunConfig config = recipeConfig(GetParam());
    TrainerImpl masters(config, nullptr, TrainerImpl::Purpose::Train, true);
    config.train.weights = WeightStorage::Fp8;
    TrainerImpl stored(config, nullptr, TrainerImpl::Purpose::Train, true);
    std::int64_t weights = 0;
    for (const engine::GemmLayer& layer : stored.network().layers()) {
        if (layer.weightIsStored) weights += layer.out * layer.in;
    }
    EXPECT_GT(weights, 0);
    EXPECT_EQ(masters.info().memoryBytes - stored.info().memoryBytes, 4 * weights);
}

TEST_P(StoredWeights, learn) {
    for (const WeightStorage storage : {WeightStorage::Fp8, WeightStorage::Fp8KeepInit}) {
        RunConfig config = recipeConfig(GetParam(), 60);
        config.train.weights = storage;
        config.train.lr = 3e-3;
        const std::vector<double> curve = losses(config);
        EXPECT_LT(curve.back(), 0.97 * curve.front()) << engine::name(storage);
    }
}

// Masters start from the values before the cast, so that the first update differs between the two.
TEST_P(StoredWeights, keepTheInitialValuesOnlyWhenAsked) {
    RunConfig config = recipeConfig(GetParam(), 3);
    config.train.weights = WeightStorage::Fp8;
    const std::vector<double> rounded = losses(config);
    config.train.weights = WeightStorage::Fp8KeepInit;
    const std::vector<double> kept = losses(config);
    EXPECT_EQ(rounded.front(), kept.front()) << "the first forward pass sees the same bytes";
    EXPECT_NE(rounded.back(), kept.back());
}

INSTANTIATE_TEST_SUITE_P(Recipes, StoredWeights, testing::ValuesIn(kAllRecipes),
                         [](const auto& tested) { return std::string(engine::name(tested.param)); });

}  // namespace
