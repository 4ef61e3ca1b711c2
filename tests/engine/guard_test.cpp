// Reactions to saturation and to numbers that are not finite.
#include "engine/error.h"
#include "src/trainer_impl.h"
#include "training_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using engine::Guard;
using engine::Precision;
using engine::RunConfig;
using engine::Trainer;

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

TEST(Guard, movesSaturatingTensorsToBf16) {
    const RunConfig config = saturatingConfig();
    Recorder recorder;
    const auto trainer = Trainer::create(config, &recorder);
    while (!trainer->done()) trainer->step();
    EXPECT_GE(recorder.count("saturation"), 1);
    ASSERT_GE(recorder.count("fallback"), 1);
    const std::size_t whole = recorder.tensors.size();
    const auto last =
        std::count_if(recorder.stepOf.begin(), recorder.stepOf.end(), [](std::int64_t s) { return s == 39; });
    EXPECT_LT(static_cast<std::size_t>(last), whole) << "a tensor in BF16 has no FP8 snapshot";
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

// Everything that training changes but the scales: parameters, moments, AdamW's count.
struct ModelState {
    std::vector<float> values;
    std::int64_t updates;
    bool operator==(const ModelState&) const = default;
};

ModelState stateOf(engine::TrainerImpl& trainer) {
    ModelState state{{}, trainer.state().updates};
    engine::Network& network = trainer.network();
    const auto add = [&](const float* data, std::int64_t count) {
        state.values.insert(state.values.end(), data, data + count);
    };
    add(network.parameters(), network.parameterFloats());
    add(trainer.moments1(), network.gradientFloats());
    add(trainer.moments2(), network.gradientFloats());
    return state;
}

TEST(Guard, leavesTheModelAsItWasWhereverItSkips) {
    for (const Guard guard : {Guard::Warn, Guard::Skip, Guard::Fallback, Guard::Stop}) {
        RunConfig config = saturatingConfig();
        config.train.guard = guard;
        engine::TrainerImpl trainer(config, nullptr, engine::TrainerImpl::Purpose::Train, true);
        int skipped = 0;
        int stopped = 0;
        while (!trainer.done() && stopped == 0) {
            const ModelState before = stateOf(trainer);
            const std::int64_t step = trainer.nextStep();
            bool applied = false;
            try {
                applied = !trainer.step().skipped;
            } catch (const engine::Error&) {
                stopped = 1;
            }
            skipped += applied ? 0 : 1;
            EXPECT_EQ(stateOf(trainer) == before, !applied) << engine::name(guard) << " at step " << step;
        }
        if (guard == Guard::Stop) {
            EXPECT_EQ(stopped, 1);
        } else if (guard != Guard::Warn) {
            EXPECT_GT(skipped, 0) << engine::name(guard);
        }
    }
}

TEST(Guard, returnsATensorToItsFormatAfterItsSteps) {
    RunConfig config = saturatingConfig();
    config.train.guardSteps = 5;
    Recorder recorder;
    const auto trainer = Trainer::create(config, &recorder);
    while (!trainer->done()) trainer->step();
    ASSERT_GE(recorder.count("fallback_end"), 1);
    const auto begin = std::find_if(recorder.events.begin(), recorder.events.end(),
                                    [](const auto& event) { return event.code == "fallback"; });
    EXPECT_NE(begin->text.find("runs in BF16 for 5 steps"), std::string::npos) << begin->text;
    const std::string tensor = begin->text.substr(0, begin->text.find(' '));
    const auto end = std::find_if(recorder.events.begin(), recorder.events.end(), [&](const auto& event) {
        return event.code == "fallback_end" && event.text.starts_with(tensor + " ");
    });
    ASSERT_NE(end, recorder.events.end());
    EXPECT_EQ(end->step - begin->step, 6) << "five steps lie between the step that fell back and the first one after";
}

TEST(Guard, triesItsLimit) {
    const auto saturations = [](double limit) {
        RunConfig config = saturatingConfig();
        config.train.guard = Guard::Warn;
        config.train.guardLimit = limit;
        Recorder recorder;
        const auto trainer = Trainer::create(config, &recorder);
        while (!trainer->done()) trainer->step();
        return recorder.count("saturation");
    };
    EXPECT_GE(saturations(0.25), saturations(1.0));
    EXPECT_GT(saturations(0.25), 0);
    EXPECT_EQ(saturations(32), 0);
}

}  // namespace
