// Summaries and heat maps against numbers worked out by hand. Rows are put in with SQL, so that times are known.
#include "recording.h"
#include "store/sqlite.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace profiling;

namespace {

/// Kernel rows of run 1: (step, name, duration in ns).
void addKernels(const std::string& path, const std::vector<std::tuple<int, std::string, int>>& kernels) {
    Database database(path, OpenMode::ReadWriteCreate, 5000);
    int id = 1000;
    for (const auto& [step, name, duration] : kernels) {
        Statement(database, "INSERT OR IGNORE INTO name(text) VALUES (?)").bind(name).run();
        Statement(database,
                  "INSERT INTO kernel SELECT 1, ?, ?, 0, 0, 0, id, 0, 0, 5, ?, 10.0, NULL, 'cpu' FROM name"
                  " WHERE text = ?")
            .bind(step, ++id, duration, name)
            .run();
    }
}

RunId recordWithoutRanges(const std::string& path, std::int64_t steps) {
    const auto session = Session::open(path);
    const auto recorder = session->startRun(test::describeRun("plain"), RecordOptions{false});
    test::recordSteps(*recorder, 0, steps);
    recorder->close(RunStatus::Finished);
    return recorder->run();
}

/// Input tensor: amax 1, scale 2^step, so headroom is log2(448) − step. Taken every `interval` steps.
RunId recordDoublingScale(const std::string& path, std::int64_t first, std::int64_t snapshots, std::int64_t interval) {
    const auto session = Session::open(path);
    const auto recorder = session->startRun(test::describeRun("scales"), RecordOptions{false});
    recorder->onTensors(test::twoTensors());
    for (std::int64_t i = 0; i < snapshots; ++i) {
        const std::int64_t step = first + i * interval;
        std::vector<engine::TensorSnapshot> taken{test::snapshot(0, 1, std::ldexp(1.0F, static_cast<int>(i)))};
        taken[0].saturated = i;
        recorder->onStepEnd(test::stepStats(step), taken);
    }
    recorder->close(RunStatus::Finished);
    return recorder->run();
}

}  // namespace

TEST(Summaries, agreeWithNumbersWorkedOutByHand) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId run = recordWithoutRanges(path, 2);  // two steps of 1 ms
    addKernels(path,
               {{0, "a", 100000}, {0, "a", 300000}, {1, "a", 200000}, {1, "a", 600000}, {0, "b", 50000}, {-1, "a", 9}});
    const std::vector<SummaryRow> rows = Store::open(path)->kernelSummary(run, {});
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].name, "a");
    EXPECT_EQ(rows[0].calls, 4);
    EXPECT_EQ(rows[0].totalNs, 1200000);
    EXPECT_DOUBLE_EQ(rows[0].meanNs, 300000.0);
    EXPECT_EQ(rows[0].medianNs, 250000);
    EXPECT_EQ(rows[0].minNs, 100000);
    EXPECT_EQ(rows[0].maxNs, 600000);
    // Deviations −2, 0, −1, 3 in 1e5: squares 4 + 0 + 1 + 9 = 14; divided by 3.
    EXPECT_NEAR(rows[0].stddevNs, 1e5 * std::sqrt(14.0 / 3.0), 1e-6);
    EXPECT_DOUBLE_EQ(rows[0].share, 0.6);
    EXPECT_EQ(rows[0].flops, 40);
    EXPECT_EQ(rows[0].bytes, 0);
    EXPECT_EQ(rows[1].name, "b");
    EXPECT_EQ(rows[1].medianNs, 50000);
    EXPECT_EQ(rows[1].stddevNs, 0);
}

TEST(Summaries, lookOnlyAtTheirWindowOfSteps) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId run = recordWithoutRanges(path, 3);
    addKernels(path, {{0, "a", 100000}, {1, "a", 300000}, {2, "a", 500000}});
    const std::vector<SummaryRow> rows = Store::open(path)->kernelSummary(run, {1, 1});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].totalNs, 300000);
    EXPECT_DOUBLE_EQ(rows[0].share, 0.3);
}

TEST(HeatMaps, haveOneColumnPerStepWhenThereIsRoom) {
    const test::TemporaryFolder folder;
    const RunId run = recordDoublingScale(folder.file("a.amax"), 0, 5, 1);
    const HeatMap map = Store::open(folder.file("a.amax"))->heatMap(run, HeatMetric::Headroom, {}, 100);
    ASSERT_EQ(map.tensors.size(), 2U);
    ASSERT_EQ(map.columns, 5);
    EXPECT_EQ(map.stepsPerColumn, 1);
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_FLOAT_EQ(map.values[i], static_cast<float>(std::log2(448.0)) - static_cast<float>(i));
    for (std::size_t i = 5; i < 10; ++i) EXPECT_TRUE(std::isnan(map.values[i]));
}

TEST(HeatMaps, binsShowTheirWorstValue) {
    const test::TemporaryFolder folder;
    const RunId run = recordDoublingScale(folder.file("a.amax"), 0, 7, 1);
    const auto store = Store::open(folder.file("a.amax"));
    const HeatMap headroom = store->heatMap(run, HeatMetric::Headroom, {}, 3);
    ASSERT_EQ(headroom.columns, 3);
    EXPECT_EQ(headroom.stepsPerColumn, 3);
    EXPECT_FLOAT_EQ(headroom.values[0], static_cast<float>(std::log2(448.0) - 2));
    EXPECT_FLOAT_EQ(headroom.values[1], static_cast<float>(std::log2(448.0) - 5));
    EXPECT_FLOAT_EQ(headroom.values[2], static_cast<float>(std::log2(448.0) - 6));
    const HeatMap saturated = store->heatMap(run, HeatMetric::Saturated, {}, 3);
    EXPECT_FLOAT_EQ(saturated.values[0], 0.02F);
    EXPECT_FLOAT_EQ(saturated.values[1], 0.05F);
    const HeatMap window = store->heatMap(run, HeatMetric::Saturated, {4, 5}, 3);
    EXPECT_EQ(window.firstStep, 4);
    ASSERT_EQ(window.columns, 2);
    EXPECT_FLOAT_EQ(window.values[0], 0.04F);
}

TEST(HeatMaps, haveNoEmptyColumnsBetweenSnapshotsTakenEveryFewSteps) {
    const test::TemporaryFolder folder;
    const RunId run = recordDoublingScale(folder.file("a.amax"), 3, 4, 10);
    const HeatMap map = Store::open(folder.file("a.amax"))->heatMap(run, HeatMetric::Saturated, {}, 100);
    EXPECT_EQ(map.firstStep, 3);
    EXPECT_EQ(map.stepsPerColumn, 10);
    ASSERT_EQ(map.columns, 4);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(map.values[i], static_cast<float>(i) / 100);
}

TEST(HeatMaps, reachToTheEndWhenTheFirstTensorStopsEarly) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("pinned"), RecordOptions{false});
    recorder->onTensors(test::twoTensors());
    for (std::int64_t step = 0; step < 60; step += 10) {
        std::vector<engine::TensorSnapshot> taken{test::snapshot(1, 1, 1)};
        if (step <= 10) taken.push_back(test::snapshot(0, 1, 1));
        recorder->onStepEnd(test::stepStats(step), taken);
    }
    recorder->close(RunStatus::Finished);
    const auto store = Store::open(folder.file("a.amax"));
    const HeatMap map = store->heatMap(recorder->run(), HeatMetric::Saturated, {}, 100);
    EXPECT_EQ(map.stepsPerColumn, 10);
    ASSERT_EQ(map.columns, 6);
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(std::isnan(map.values[i]), i > 1) << i;
        EXPECT_FLOAT_EQ(map.values[6 + i], 0.01F);
    }
    // A window in which the first tensor has nothing at all.
    EXPECT_EQ(store->heatMap(recorder->run(), HeatMetric::Saturated, {20, 49}, 100).columns, 3);
}

TEST(HeatMaps, haveNothingToShowForTensorsThatAreNotCast) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("mixed"), RecordOptions{false});
    const std::vector<engine::TensorInfo> tensors{{0, "layer.0.qkv", "input", "E2M1", 64, 32},
                                                  {1, "layer.0.qkv", "output", "FP32", 64, 96},
                                                  {2, "lm_head", "weight", "BF16", 64, 96}};
    recorder->onTensors(tensors);
    const std::vector<engine::TensorSnapshot> taken{test::snapshot(0, 3, 1), test::uncastSnapshot(1, 0),
                                                    test::uncastSnapshot(2, 9)};
    recorder->onStepEnd(test::stepStats(0), taken);
    recorder->close(RunStatus::Finished);
    const auto store = Store::open(folder.file("a.amax"));
    for (const auto& [metric, expected] : {std::pair{HeatMetric::Headroom, 1.0F},
                                           {HeatMetric::Saturated, 0.01F},
                                           {HeatMetric::Underflowed, 0.02F},
                                           {HeatMetric::Sqnr, 20.0F}}) {
        const HeatMap map = store->heatMap(recorder->run(), metric, {}, 10);
        ASSERT_EQ(map.tensors.size(), 3U);
        ASSERT_EQ(map.columns, 1);
        EXPECT_FLOAT_EQ(map.values[0], expected) << name(metric);
        EXPECT_TRUE(std::isnan(map.values[1])) << name(metric);
        EXPECT_TRUE(std::isnan(map.values[2])) << name(metric);
    }
}

TEST(HeatMaps, ofARunWithoutSnapshotsAreEmpty) {
    const test::TemporaryFolder folder;
    const auto session = Session::open(folder.file("a.amax"));
    const auto recorder = session->startRun(test::describeRun("none"), RecordOptions{false});
    recorder->onTensors(test::twoTensors());
    recorder->close(RunStatus::Finished);
    const HeatMap map = Store::open(folder.file("a.amax"))->heatMap(recorder->run(), HeatMetric::Sqnr, {}, 100);
    EXPECT_EQ(map.columns, 0);
    EXPECT_TRUE(map.values.empty());
}

TEST(Views, nameTheirRowsForOtherPeoplesScripts) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    test::recordRun(path, "run", 3);
    Database database(path, OpenMode::ReadOnly, 1000);
    EXPECT_EQ(database.queryInt("SELECT count(*) FROM kernel_named WHERE name = 'gemm'"), 3);
    EXPECT_EQ(database.queryInt("SELECT count(*) FROM range_named WHERE name = 'step'"), 3);
    EXPECT_EQ(database.queryInt("SELECT count(*) FROM snapshot_named WHERE role = 'grad_output'"), 3);
    EXPECT_EQ(database.queryInt("PRAGMA application_id"), 0x414D4158);
    EXPECT_EQ(database.queryInt("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
                                " AND name NOT LIKE 'sqlite%' AND strict = 0"),
              0);
}

TEST(Views, aSnapshotQueryUsesTheKey) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    test::recordRun(path, "run", 1);
    Database database(path, OpenMode::ReadOnly, 1000);
    for (const char* sql :
         {"SELECT * FROM scale_snapshot WHERE run_id = 1 AND tensor_id = 1 AND step > 3 ORDER BY step",
          "SELECT * FROM kernel WHERE run_id = 1 AND step BETWEEN 1 AND 2",
          "SELECT counts FROM exponent_hist WHERE run_id = 1 AND tensor_id = 1 AND step <= 9 ORDER BY step DESC LIMIT "
          "1",
          "SELECT val_loss FROM step WHERE run_id = 1 AND validated = 1 ORDER BY step DESC LIMIT 1"}) {
        Statement plan(database, std::string("EXPLAIN QUERY PLAN ") + sql);
        ASSERT_TRUE(plan.step());
        EXPECT_EQ(plan.text(3).rfind("SEARCH", 0), 0U) << plan.text(3);
        EXPECT_FALSE(plan.step());
    }
}
