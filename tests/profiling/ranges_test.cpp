// Ranges of the engine reach the run that is active on their thread, nested, with their work.
#include "capture/run_channel.h"
#include "recording.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

using namespace profiling;
using engine::RangeKind;

namespace {

std::map<std::string, RangeRow> byName(const std::vector<RangeRow>& rows) {
    std::map<std::string, RangeRow> map;
    for (const RangeRow& row : rows) map.emplace(row.name, row);
    return map;
}

}  // namespace

TEST(Ranges, nestAndCarryTheirStepKindAndParent) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("nested"), {});
    recorder->activate();
    { const engine::Range outside("validation", RangeKind::Phase); }
    recorder->onStepBegin(7);
    {
        const engine::Range step("step", RangeKind::Step);
        const engine::Range forward("forward", RangeKind::Phase);
        { const engine::Range kernel("gemm", RangeKind::Kernel, {100, 50}); }
        { const engine::Range kernel("cast", RangeKind::Kernel, {1, 2}); }
    }
    recorder->onStepEnd(test::stepStats(7), {});
    recorder->close(RunStatus::Finished);

    const auto store = Store::open(folder.file("a.amax"));
    const std::vector<RangeRow> all = store->ranges(recorder->run(), StepWindow{-1});
    ASSERT_EQ(all.size(), 5U);
    auto rows = byName(all);
    EXPECT_EQ(rows.at("validation").step, -1);
    EXPECT_EQ(rows.at("step").step, 7);
    EXPECT_EQ(rows.at("step").parent, 0);
    EXPECT_EQ(rows.at("step").depth, 0);
    EXPECT_EQ(rows.at("step").kind, "step");
    EXPECT_EQ(rows.at("forward").parent, rows.at("step").id);
    EXPECT_EQ(rows.at("gemm").parent, rows.at("forward").id);
    EXPECT_EQ(rows.at("cast").parent, rows.at("forward").id);
    EXPECT_EQ(rows.at("gemm").depth, 2);
    EXPECT_EQ(rows.at("gemm").kind, "kernel");
    EXPECT_EQ(rows.at("gemm").thread, 0);
    EXPECT_LE(rows.at("step").startNs, rows.at("gemm").startNs);
    EXPECT_GE(rows.at("step").startNs + rows.at("step").durationNs,
              rows.at("cast").startNs + rows.at("cast").durationNs);
    EXPECT_EQ(store->ranges(recorder->run(), {}).size(), 4U);

    const std::vector<SummaryRow> kernels = store->kernelSummary(recorder->run(), {});
    ASSERT_EQ(kernels.size(), 2U);
    const SummaryRow& gemm = kernels[0].name == "gemm" ? kernels[0] : kernels[1];
    EXPECT_EQ(gemm.flops, 100);
    EXPECT_EQ(gemm.bytes, 50);
    EXPECT_EQ(gemm.kind, "kernel");
}

TEST(Ranges, aRangeOpenedJustBeforeItsStepBelongsToIt) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("early"), {});
    recorder->activate();
    {
        const engine::Range step("step", RangeKind::Step);
        recorder->onStepBegin(3);
        recorder->onStepEnd(test::stepStats(3), {});
    }
    recorder->close(RunStatus::Finished);
    const std::vector<RangeRow> rows = Store::open(folder.file("a.amax"))->ranges(recorder->run(), {});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].step, 3);
}

TEST(Ranges, twoRecordersTakeTurnsOnOneThread) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto first = session->startRun(test::describeRun("first"), {});
    const auto second = session->startRun(test::describeRun("second"), {});
    for (std::int64_t step = 0; step < 4; ++step) {
        for (RunRecorder* recorder : {first.get(), second.get()}) {
            recorder->activate();
            test::recordSteps(*recorder, step, 1);
        }
    }
    { const engine::Range last("only in the second", RangeKind::Module); }
    first->close(RunStatus::Finished);
    second->close(RunStatus::Finished);
    { const engine::Range after("in none", RangeKind::Module); }

    const auto store = Store::open(folder.file("a.amax"));
    EXPECT_EQ(store->ranges(first->run(), StepWindow{-1}).size(), 8U);
    EXPECT_EQ(store->ranges(second->run(), StepWindow{-1}).size(), 9U);
}

TEST(Ranges, otherThreadsAndUnactivatedRunsRecordNone) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("one thread"), {});
    test::recordSteps(*recorder, 0, 1);
    recorder->activate();
    std::thread([] { const engine::Range elsewhere("elsewhere", RangeKind::Module); }).join();
    { const engine::Range here("here", RangeKind::Module); }
    recorder->close(RunStatus::Finished);
    const std::vector<RangeRow> rows = Store::open(folder.file("a.amax"))->ranges(recorder->run(), StepWindow{-1});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].name, "here");
}

TEST(Ranges, everyThreadThatActivatedTheRunHasARingOfItsOwn) {
    constexpr int kEach = 2000;
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("three threads"), {});
    recorder->activate();
    recorder->onStepBegin(4);
    const engine::Range outer("outer", RangeKind::Step);
    const auto push = [&] {
        recorder->activate();
        for (int i = 0; i < kEach; ++i) {
            const engine::Range layer("layer", RangeKind::Layer);
            const engine::Range kernel("kernel", RangeKind::Kernel);
        }
    };
    std::thread first(push);
    std::thread second(push);
    for (int i = 0; i < kEach; ++i) const engine::Range mine("mine", RangeKind::Module);
    first.join();
    second.join();
    recorder->onStepEnd(test::stepStats(4), {});
    recorder->close(RunStatus::Finished);
    const auto store = Store::open(folder.file("a.amax"));
    std::map<std::pair<int, std::string>, int> counts;
    std::map<std::int64_t, RangeRow> layers;
    const std::vector<RangeRow> rows = store->ranges(recorder->run(), {4, 4});
    for (const RangeRow& row : rows) {
        ++counts[{row.thread, row.name}];
        if (row.name == "layer") layers.emplace(row.id, row);
    }
    EXPECT_EQ((counts[{0, "mine"}]), kEach);
    for (const int thread : {1, 2}) {
        EXPECT_EQ((counts[{thread, "layer"}]), kEach);
        EXPECT_EQ((counts[{thread, "kernel"}]), kEach);
    }
    // Nesting is that of the thread, and a range of another thread is nobody's parent.
    for (const RangeRow& row : rows) {
        if (row.name == "layer") {
            EXPECT_EQ(row.parent, 0);
        } else if (row.name == "kernel") {
            EXPECT_EQ(layers.at(row.parent).thread, row.thread);
        }
    }
}

TEST(Ranges, areNotRecordedWhenSwitchedOff) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("off"), RecordOptions{false});
    recorder->activate();
    test::recordSteps(*recorder, 0, 2);
    recorder->close(RunStatus::Finished);
    const auto store = Store::open(folder.file("a.amax"));
    EXPECT_TRUE(store->ranges(recorder->run(), StepWindow{-1}).empty());
    EXPECT_EQ(store->steps(recorder->run()).size(), 2U);
}

TEST(Ranges, aFullRingDropsAndCountsButKeepsStepsAndSnapshots) {
    RunChannel channel(4);
    RangeRing& ring = channel.ringOf(1);
    RangeEvent range{};
    for (int i = 0; i < 10; ++i) {
        range.id = i;
        channel.pushRange(ring, range);
        channel.endStep(test::stepStats(i), {});
    }
    RunRecords records;
    std::vector<RangeEvent> ranges;
    channel.drain(records, ranges, 100);
    EXPECT_EQ(ranges.size(), 4U);
    EXPECT_EQ(ranges.back().id, 3);
    EXPECT_EQ(channel.droppedRanges(), 6);
    EXPECT_EQ(records.steps.size(), 10U);
    channel.pushRange(ring, range);
    channel.drain(records, ranges, 100);
    EXPECT_EQ(ranges.size(), 5U);
}

TEST(Ranges, aBurstBeyondTheRingIsReportedInTheRun) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("burst"), {});
    recorder->activate();
    // Far more than the ring holds between two turns of the writer.
    for (std::size_t i = 0; i < 8 * RunChannel::kRingCapacity; ++i) const engine::Range range("r", RangeKind::Kernel);
    test::recordSteps(*recorder, 0, 1);
    recorder->close(RunStatus::Finished);
    const auto store = Store::open(folder.file("a.amax"));
    const std::vector<EventRow> events = store->events(recorder->run());
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].code, "ranges_dropped");
    EXPECT_EQ(store->steps(recorder->run()).size(), 1U);
}

#if defined(TEST_OUTSIDE_TOOL)
TEST(Ranges, anOutsideToolAndOurRecordingBothGetThem) {
    const test::TemporaryFolder folder;
    const test::Outcome outcome = test::runProgram({TEST_RECORDING_CHILD, folder.file("a.amax"), "5", "0"},
                                                   {std::string("NVTX_INJECTION64_PATH='") + TEST_OUTSIDE_TOOL + "'"});
    EXPECT_EQ(outcome.exitCode, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("an outside NVTX tool is attached"), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("pushes 10 pops 10"), std::string::npos) << outcome.output;
    const auto store = Store::open(folder.file("a.amax"));
    EXPECT_EQ(store->ranges(store->runs().at(0).id, {}).size(), 10U);
}

TEST(Ranges, comeThroughTheStaticInjectionWithoutAnOutsideTool) {
    const test::TemporaryFolder folder;
    const test::Outcome outcome = test::runProgram({TEST_RECORDING_CHILD, folder.file("a.amax"), "5", "0"});
    EXPECT_EQ(outcome.exitCode, 0);
    EXPECT_NE(outcome.output.find("nvtx static injection"), std::string::npos) << outcome.output;
    const auto store = Store::open(folder.file("a.amax"));
    EXPECT_EQ(store->ranges(store->runs().at(0).id, {}).size(), 10U);
}
#endif
