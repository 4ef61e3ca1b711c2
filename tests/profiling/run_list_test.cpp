// What users do to the list of runs: rename, group, delete, undo, purge, and copy the file.
#include "recording.h"
#include "store/sqlite.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace profiling;

TEST(RunList, isNewestFirstAndFollowsRenames) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId first = test::recordRun(path, "first", 1);
    const RunId second = test::recordRun(path, "second", 1);
    const auto store = Store::open(path);
    ASSERT_EQ(store->runs().size(), 2U);
    EXPECT_EQ(store->runs()[0].id, second);
    const auto session = Session::open(path);
    session->renameRun(first, "renamed");
    EXPECT_EQ(store->run(first).name, "renamed");
    EXPECT_NE(test::errorOf([&] { session->renameRun(RunId{99}, "x"); }).find("run 99"), std::string::npos);
}

TEST(RunList, benchesNameTheirRunsAndTheirBaseline) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const BenchId bench = session->createBench("precisions");
    RunDescription description = test::describeRun("fp32");
    description.bench = bench;
    const auto baseline = session->startRun(description, {});
    const auto other = session->startRun(description, {});
    session->setBenchBaseline(bench, baseline->run());
    baseline->close(RunStatus::Finished);
    other->close(RunStatus::Finished);
    const auto store = Store::open(folder.file("a.amax"));
    EXPECT_EQ(store->run(baseline->run()).benchName, "precisions");
    EXPECT_TRUE(store->run(baseline->run()).isBaseline);
    EXPECT_FALSE(store->run(other->run()).isBaseline);
    EXPECT_EQ(store->run(other->run()).bench, bench);
}

TEST(RunList, deletedRunsAreHiddenEverywhereAndComeBackOnUndo) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId run = test::recordRun(path, "gone", 4);
    test::recordRun(path, "kept", 1);
    const auto session = Session::open(path);
    const auto store = Store::open(path);
    const TensorId tensor = store->tensors(run).at(0).id;
    session->setRunsDeleted({run}, true);
    EXPECT_EQ(store->runs().size(), 1U);
    EXPECT_NE(test::errorOf([&] { store->run(run); }), "");
    EXPECT_TRUE(store->steps(run).empty());
    EXPECT_TRUE(store->tensors(run).empty());
    EXPECT_TRUE(store->snapshots(run, tensor).empty());
    EXPECT_TRUE(store->ranges(run, {}).empty());
    EXPECT_TRUE(store->kernelSummary(run, {}).empty());
    EXPECT_EQ(store->heatMap(run, HeatMetric::Sqnr, {}, 10).columns, 0);
    EXPECT_EQ(store->fileInfo().runs, 1);
    EXPECT_EQ(store->fileInfo().snapshots, 2);
    session->setRunsDeleted({run}, false);
    EXPECT_EQ(store->runs().size(), 2U);
    EXPECT_EQ(store->steps(run).size(), 4U);
}

TEST(RunList, purgingRemovesEveryRowOfHiddenRunsAndNoOther) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId kept = test::recordRun(path, "kept", 3);
    const auto session = Session::open(path);
    RunDescription description = test::describeRun("gone");
    description.bench = session->createBench("bench");
    const auto recorder = session->startRun(description, {});
    recorder->activate();
    test::recordSteps(*recorder, 0, 3);
    recorder->onEvent({0, 1, engine::Severity::Info, "checkpoint", "saved"});
    recorder->onGeneration({0, "a", "b", 0, 0});
    recorder->addSample("step_ms", 0, 1);
    recorder->close(RunStatus::Finished);
    session->setBenchBaseline(description.bench, recorder->run());
    session->setRunsDeleted({recorder->run()}, true);
    session->purgeDeletedRuns();

    Database raw(path, OpenMode::ReadOnly, 1000);
    for (const char* table : {"step", "tensor", "scale_snapshot", "range", "kernel", "event", "generation", "sample"}) {
        const std::string sql =
            std::string("SELECT count(*) FROM ") + table + " WHERE run_id <> " + std::to_string(kept.value);
        EXPECT_EQ(raw.queryInt(sql.c_str()), 0) << table;
    }
    EXPECT_EQ(raw.queryInt("SELECT count(*) FROM run"), 1);
    EXPECT_EQ(raw.queryInt("SELECT count(*) FROM bench"), 0);
    const auto store = Store::open(path);
    EXPECT_EQ(store->steps(kept).size(), 3U);
    EXPECT_EQ(store->ranges(kept, {}).size(), 6U);
    EXPECT_GT(test::recordRun(path, "new", 1).value, recorder->run().value);
}

TEST(RunList, purgingGivesTheRoomBack) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    test::recordRun(path, "kept", 1);
    const RunId gone = test::recordRun(path, "gone", 2000);
    Database raw(path, OpenMode::ReadOnly, 1000);
    const std::int64_t before = raw.queryInt("PRAGMA page_count");
    const auto session = Session::open(path);
    session->setRunsDeleted({gone}, true);
    session->purgeDeletedRuns();
    EXPECT_LT(raw.queryInt("PRAGMA page_count"), before / 2);
    EXPECT_EQ(raw.queryInt("PRAGMA freelist_count"), 0);
}

TEST(RunList, aRunThatIsStillBeingRecordedIsNotPurged) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("live"), {});
    session->setRunsDeleted({recorder->run()}, true);
    session->purgeDeletedRuns();
    test::recordSteps(*recorder, 0, 2);
    recorder->close(RunStatus::Finished);
    session->setRunsDeleted({recorder->run()}, false);
    EXPECT_EQ(Store::open(folder.file("a.amax"))->steps(recorder->run()).size(), 2U);
}

TEST(SaveCopy, ofAFileThatIsInUseLeavesTheTargetAsItWas) {
    const test::TemporaryFolder folder;
    const RunId run = test::recordRun(folder.file("live.amax"), "run", 5);
    const std::string path = folder.file("plain.amax");
    const std::string target = folder.file("target.amax");
    Store::open(folder.file("live.amax"))->saveCopy(path, false);  // not in WAL mode: a writer locks readers out
    Store::open(path)->saveCopy(target, false);
    const auto store = Store::open(path);
    Database other(path, OpenMode::ReadWriteCreate, 100);
    other.exec("BEGIN EXCLUSIVE");
    const std::string text = test::errorOf([&] { store->saveCopy(target, true); });
    EXPECT_NE(text.find("in use by another program"), std::string::npos) << text;
    EXPECT_EQ(Store::open(target)->steps(run).size(), 5U);
    EXPECT_FALSE(std::filesystem::exists(target + ".part"));
}

TEST(SaveCopy, holdsTheRowsOfALiveFileAndReplacesOnlyWhenAsked) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const std::string copy = folder.file("copy ä.amax");
    const RunId run = test::recordRun(path, "run", 5);
    const auto session = Session::open(path);
    const auto live = session->startRun(test::describeRun("live"), {});
    const auto store = Store::open(path);
    store->saveCopy(copy, false);
    EXPECT_EQ(Store::open(copy)->steps(run).size(), 5U);
    EXPECT_EQ(Store::open(copy)->runs().size(), 2U);
    EXPECT_NE(test::errorOf([&] { store->saveCopy(copy, false); }).find("exists already"), std::string::npos);
    std::ofstream(copy + "-wal") << "stale";
    session->renameRun(run, "renamed");
    store->saveCopy(copy, true);
    EXPECT_EQ(Store::open(copy)->run(run).name, "renamed");
    EXPECT_FALSE(std::filesystem::exists(copy + ".part"));
    EXPECT_NE(test::errorOf([&] { store->saveCopy(path, true); }).find("is the file itself"), std::string::npos);
    EXPECT_NE(test::errorOf([&] { store->saveCopy(folder.file("no/b.amax"), true); }), "");
    EXPECT_EQ(test::errorOf([&] { Session::open(copy); }), "");
}
