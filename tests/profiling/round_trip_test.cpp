// What a recorder is told comes back from the store, to the bit, and while the run is going on.
#include "recording.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

using namespace profiling;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Asks until the answer is yes, for at most ten seconds.
template <typename Question>
bool eventually(Question question) {
    for (int i = 0; i < 1000; ++i) {
        if (question()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

}  // namespace

TEST(RoundTrip, aRunKeepsEveryFieldOfItsDescription) {
    const test::TemporaryFolder folder;
    const RunId id = test::recordRun(folder.file("a.amax"), "first", 5);
    const auto store = Store::open(folder.file("a.amax"));
    const RunRow run = store->run(id);
    const RunDescription expected = test::describeRun("first");
    EXPECT_EQ(run.name, "first");
    EXPECT_EQ(run.status, RunStatus::Finished);
    EXPECT_EQ(run.uuid.size(), 36U);
    EXPECT_EQ(run.uuid[14], '4');
    EXPECT_FALSE(run.bench);
    EXPECT_GT(run.startedAtNs, 1'600'000'000'000'000'000);
    EXPECT_GE(run.endedAtNs, run.startedAtNs);
    EXPECT_EQ(run.description.device, expected.device);
    EXPECT_EQ(run.description.deviceName, expected.deviceName);
    EXPECT_EQ(run.description.backend, expected.backend);
    EXPECT_EQ(run.description.kernels, expected.kernels);
    EXPECT_EQ(run.description.precisionAsked, expected.precisionAsked);
    EXPECT_EQ(run.description.precision, expected.precision);
    EXPECT_EQ(run.description.precisionReason, expected.precisionReason);
    EXPECT_TRUE(run.description.emulated);
    EXPECT_EQ(run.description.recipeJson, expected.recipeJson);
    EXPECT_EQ(run.description.modelJson, expected.modelJson);
    EXPECT_EQ(run.description.trainJson, expected.trainJson);
    EXPECT_EQ(run.description.hostJson, expected.hostJson);
    EXPECT_EQ(run.description.data, expected.data);
    EXPECT_EQ(run.description.seed, expected.seed);
    EXPECT_EQ(run.description.stepsPlanned, expected.stepsPlanned);
    EXPECT_EQ(run.description.parameters, expected.parameters);
    EXPECT_EQ(run.description.memoryBytes, expected.memoryBytes);
    EXPECT_EQ(run.description.flopsPerStep, expected.flopsPerStep);
    EXPECT_EQ(run.description.tokensPerStep, expected.tokensPerStep);
    EXPECT_FALSE(run.programVersion.empty());
    EXPECT_EQ(run.stepsDone, 5);
    EXPECT_EQ(run.lastStep, 4);
    EXPECT_DOUBLE_EQ(run.lastLoss, 4.96);
    EXPECT_DOUBLE_EQ(run.tokensPerSecond, 1024000.0);
}

TEST(RoundTrip, snapshotsKeepTheirBits) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("bits"), {});
    recorder->onTensors(test::twoTensors());
    const float odd = std::nextafterf(0.1F, 1.0F);
    recorder->onStepBegin(0);
    engine::TensorSnapshot strange{};
    strange.tensor = 1;
    strange.amax = odd;
    strange.scale = 0x1p-140F;
    strange.saturated = 4;
    strange.underflowed = 5;
    strange.zeros = 6;
    strange.nonFinite = 7;
    strange.count = 8;
    strange.sqError = 1e-300;
    strange.sqSignal = kInfinity;
    strange.scaleInvMin = 0x1p-149F;
    strange.scaleInvMax = odd;
    strange.smallest = 0x1p-149F;
    const std::vector<engine::TensorSnapshot> first{strange,
                                                    test::snapshot(0, std::numeric_limits<float>::infinity(), 3.0F)};
    recorder->onStepEnd(test::stepStats(0), first);
    recorder->onStepBegin(1);
    const std::vector<engine::TensorSnapshot> second{test::snapshot(0, std::numeric_limits<float>::quiet_NaN(), 2.0F)};
    recorder->onStepEnd(test::stepStats(1), second);
    recorder->close(RunStatus::Finished);

    const auto store = Store::open(folder.file("a.amax"));
    const std::vector<TensorRow> tensors = store->tensors(recorder->run());
    ASSERT_EQ(tensors.size(), 2U);
    EXPECT_EQ(tensors[0].fullName(), "layer.0.qkv.input");
    EXPECT_EQ(tensors[1].format, "E5M2");
    EXPECT_EQ(tensors[1].cols, 96);
    const std::vector<SnapshotRow> gradient = store->snapshots(recorder->run(), tensors[1].id);
    ASSERT_EQ(gradient.size(), 1U);
    EXPECT_EQ(gradient[0].amax, static_cast<double>(odd));
    EXPECT_EQ(gradient[0].scale, 0x1p-140);
    EXPECT_EQ(gradient[0].saturated, 4);
    EXPECT_EQ(gradient[0].underflowed, 5);
    EXPECT_EQ(gradient[0].zeros, 6);
    EXPECT_EQ(gradient[0].nonFinite, 7);
    EXPECT_EQ(gradient[0].count, 8);
    EXPECT_EQ(gradient[0].sqError, 1e-300);
    EXPECT_EQ(gradient[0].sqSignal, kInfinity);
    EXPECT_EQ(gradient[0].scaleInvMin, 0x1p-149);
    EXPECT_EQ(gradient[0].scaleInvMax, static_cast<double>(odd));
    EXPECT_EQ(gradient[0].smallest, 0x1p-149);
    const std::vector<SnapshotRow> input = store->snapshots(recorder->run(), tensors[0].id);
    ASSERT_EQ(input.size(), 2U);
    EXPECT_EQ(input[0].amax, kInfinity);
    EXPECT_TRUE(std::isnan(input[1].amax));
    EXPECT_EQ(input[1].scaleInvMin, 0.5);
    EXPECT_TRUE(std::isnan(input[1].smallest)) << "not looked for";
    EXPECT_EQ(store->snapshots(recorder->run(), tensors[0].id, 0).size(), 1U);
}

TEST(RoundTrip, aTensorThatWasNotCastHasNoScaleAndNoSums) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("results"), {});
    const std::vector<engine::TensorInfo> tensors{{0, "layer.0.qkv", "output", "FP32", 64, 96},
                                                  {1, "layer.0.qkv", "weight", "E2M1", 64, 96}};
    recorder->onTensors(tensors);
    const std::vector<engine::TensorSnapshot> snapshots{test::uncastSnapshot(0, 2.5F), test::snapshot(1, 3.0F, 2.0F)};
    recorder->onStepEnd(test::stepStats(0), snapshots);
    recorder->close(RunStatus::Finished);
    const auto store = Store::open(folder.file("a.amax"));
    const std::vector<TensorRow> rows = store->tensors(recorder->run());
    EXPECT_EQ(rows.at(0).fullName(), "layer.0.qkv.output");
    EXPECT_EQ(rows.at(0).format, "FP32");
    EXPECT_EQ(rows.at(1).format, "E2M1");
    const SnapshotRow output = store->snapshots(recorder->run(), rows[0].id).at(0);
    EXPECT_EQ(output.amax, 2.5);
    EXPECT_EQ(output.count, 100);
    for (const double absent :
         {output.scale, output.sqError, output.sqSignal, output.scaleInvMin, output.scaleInvMax}) {
        EXPECT_TRUE(std::isnan(absent));
    }
    EXPECT_EQ(store->snapshots(recorder->run(), rows[1].id).at(0).scale, 2.0);
}

TEST(RoundTrip, stepsComeInOrderWithNonFiniteLossesAndValidations) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("steps"), {});
    recorder->onTensors({});
    engine::StepStats stats = test::stepStats(0);
    stats.loss = kNaN;
    stats.gradNorm = kInfinity;
    stats.skipped = true;
    recorder->onStepBegin(0);
    recorder->onStepEnd(stats, {});
    recorder->onStepBegin(1);
    recorder->onStepEnd(test::stepStats(1), {});
    recorder->onValidation(1, 4.5);
    recorder->onEvent({1, 77, engine::Severity::Warning, "non_finite", "loss is not a number"});
    recorder->onGeneration({1, "0,3", "6,9", 2, 2});
    recorder->addSample("step_ms", 1, 41.5);
    recorder->addSample("step_ms", 0, 40.0);
    recorder->close(RunStatus::Interrupted);

    const auto store = Store::open(folder.file("a.amax"));
    const std::vector<StepRow> steps = store->steps(recorder->run());
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_TRUE(std::isnan(steps[0].loss));
    EXPECT_EQ(steps[0].gradNorm, kInfinity);
    EXPECT_TRUE(steps[0].skipped);
    EXPECT_FALSE(steps[0].valLoss.has_value());
    EXPECT_EQ(steps[1].valLoss, 4.5);
    EXPECT_EQ(store->steps(recorder->run(), 0).size(), 1U);
    const std::vector<EventRow> events = store->events(recorder->run());
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].code, "non_finite");
    EXPECT_EQ(events[0].atNs, 77);
    const std::vector<GenerationRow> generations = store->generations(recorder->run());
    ASSERT_EQ(generations.size(), 1U);
    EXPECT_EQ(generations[0].output, "6,9");
    const std::vector<SampleRow> samples = store->samples(recorder->run());
    ASSERT_EQ(samples.size(), 2U);
    EXPECT_EQ(samples[0].value, 40.0);
    EXPECT_EQ(store->run(recorder->run()).status, RunStatus::Interrupted);
    EXPECT_EQ(store->run(recorder->run()).valLoss, 4.5);
}

TEST(RoundTrip, theNewestValidationCountsEvenWhenItWasNotFinite) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("diverged"), {});
    recorder->onTensors({});
    const auto validate = [&](std::int64_t step, double loss) {
        recorder->onStepEnd(test::stepStats(step), {});
        recorder->onValidation(step, loss);
    };
    validate(0, 4.5);
    validate(1, kNaN);
    recorder->onStepEnd(test::stepStats(2), {});
    recorder->close(RunStatus::Finished);
    const auto store = Store::open(folder.file("a.amax"));
    const RunRow run = store->run(recorder->run());
    ASSERT_TRUE(run.valLoss.has_value());
    EXPECT_TRUE(std::isnan(*run.valLoss));
    const std::vector<StepRow> steps = store->steps(recorder->run());
    EXPECT_EQ(steps.at(0).valLoss, 4.5);
    ASSERT_TRUE(steps.at(1).valLoss.has_value());
    EXPECT_TRUE(std::isnan(*steps.at(1).valLoss));
    EXPECT_FALSE(steps.at(2).valLoss.has_value());

    const auto second = session->startRun(test::describeRun("infinite"), {});
    second->onStepEnd(test::stepStats(0), {});
    second->onValidation(0, kInfinity);
    second->close(RunStatus::Finished);
    EXPECT_EQ(store->run(second->run()).valLoss, kInfinity);
}

TEST(RoundTrip, theSpeedOfABenchmarkIsTheMedianOfItsRepeats) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("bench"), {});
    test::recordSteps(*recorder, 0, 5);
    const auto store = Store::open(folder.file("a.amax"));
    ASSERT_TRUE(eventually([&] { return store->run(recorder->run()).stepsDone == 5; }));
    EXPECT_DOUBLE_EQ(store->run(recorder->run()).tokensPerSecond, 1024000.0);
    recorder->addSample("step_ms", 0, 1.0);
    std::int64_t repeat = 0;
    for (const double value : {700.0, 500.0, kNaN, 900.0}) recorder->addSample("tokens_per_second", repeat++, value);
    recorder->close(RunStatus::Finished);
    EXPECT_DOUBLE_EQ(store->run(recorder->run()).tokensPerSecond, 700.0);
}

TEST(RoundTrip, aStepIsVisibleWhileTheRunGoesOnAndTheStoreNoticesTheChange) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("live"), {});
    const auto store = Store::open(folder.file("a.amax"));
    EXPECT_EQ(store->run(recorder->run()).status, RunStatus::Running);
    const std::int64_t before = store->dataVersion();
    EXPECT_EQ(store->dataVersion(), before);
    test::recordSteps(*recorder, 0, 3);
    EXPECT_TRUE(eventually([&] { return store->steps(recorder->run()).size() == 3; }));
    EXPECT_NE(store->dataVersion(), before);
    EXPECT_EQ(store->run(recorder->run()).stepsDone, 3);
    test::recordSteps(*recorder, 3, 2);
    EXPECT_TRUE(eventually([&] { return store->run(recorder->run()).stepsDone == 5; }));
    recorder->close(RunStatus::Finished);
    EXPECT_EQ(store->run(recorder->run()).status, RunStatus::Finished);
}

TEST(RoundTrip, aRecorderDestroyedWithoutCloseMarksTheRunFailed) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    RunId id;
    {
        const auto recorder = session->startRun(test::describeRun("lost"), {});
        id = recorder->run();
        test::recordSteps(*recorder, 0, 2);
    }
    const auto store = Store::open(folder.file("a.amax"));
    EXPECT_EQ(store->run(id).status, RunStatus::Failed);
    EXPECT_EQ(store->steps(id).size(), 2U);
}

TEST(RoundTrip, closingTwiceKeepsTheFirstStatus) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("twice"), {});
    recorder->close(RunStatus::Finished);
    recorder->close(RunStatus::Failed);
    EXPECT_EQ(Store::open(folder.file("a.amax"))->run(recorder->run()).status, RunStatus::Finished);
}

TEST(RoundTrip, aSnapshotOfAnUnknownTensorIsReportedByClose) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("bad"), {});
    recorder->onTensors(test::twoTensors());
    const std::vector<engine::TensorSnapshot> snapshots{test::snapshot(2, 1, 1)};
    recorder->onStepEnd(test::stepStats(0), snapshots);
    const std::string text = test::errorOf([&] { recorder->close(RunStatus::Finished); });
    EXPECT_NE(text.find("tensor 2"), std::string::npos) << text;
    EXPECT_EQ(Store::open(folder.file("a.amax"))->run(recorder->run()).status, RunStatus::Failed);
}
