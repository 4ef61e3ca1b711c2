// Killing the recording process, filling the disk, several writers and readers at once: earlier rows stay intact.
#include "recording.h"
#include "store/database_file.h"
#include "store/write_health.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <new>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace profiling;

namespace {

/// recording_child running beside the test, from the moment it said "started".
class Child {
public:
    explicit Child(const std::string& database) {
        std::array<int, 2> ends{};
        if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
        m_pid = fork();
        if (m_pid == 0) {
            dup2(ends[1], STDOUT_FILENO);
            execl(TEST_RECORDING_CHILD, TEST_RECORDING_CHILD, database.c_str(), "100000000", "500", nullptr);
            _exit(127);
        }
        close(ends[1]);
        std::string output;
        char c = 0;
        while (output.find("started") == std::string::npos && read(ends[0], &c, 1) == 1) output += c;
        close(ends[0]);
    }
    ~Child() {
        if (m_pid > 0) kill();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    void signal(int number) const { ::kill(m_pid, number); }
    void kill() {
        ::kill(m_pid, SIGKILL);
        waitpid(m_pid, nullptr, 0);
        m_pid = 0;
    }

private:
    pid_t m_pid = 0;
};

void expectWholeSteps(Store& store, RunId run, std::size_t atLeast) {
    const std::vector<StepRow> steps = store.steps(run);
    EXPECT_GE(steps.size(), atLeast);
    for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i].step, static_cast<std::int64_t>(i));
    for (const TensorRow& tensor : store.tensors(run)) EXPECT_EQ(store.snapshots(run, tensor.id).size(), steps.size());
}

class KilledAfter : public testing::TestWithParam<int> {};

}  // namespace

TEST_P(KilledAfter, theFileOpensHoldsEveryCommittedStepAndTheRunShowsCrashed) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId earlier = test::recordRun(path, "earlier", 3);
    Child child(path);
    std::this_thread::sleep_for(std::chrono::milliseconds(GetParam()));
    const auto live = Store::open(path);
    const RunId run = live->runs().at(0).id;
    EXPECT_EQ(live->run(run).status, RunStatus::Running);
    const std::size_t seen = live->steps(run).size();
    child.kill();

    const auto store = Store::open(path);
    EXPECT_EQ(store->run(run).status, RunStatus::Crashed);
    EXPECT_EQ(store->run(run).endedAtNs, 0);
    expectWholeSteps(*store, run, seen);
    EXPECT_EQ(store->run(earlier).status, RunStatus::Finished);
    expectWholeSteps(*store, earlier, 3);

    // Looking does not write; opening for recording does.
    Database raw(path, OpenMode::ReadOnly, 1000);
    EXPECT_EQ(raw.queryInt("SELECT count(*) FROM run WHERE status = 'crashed'"), 0);
    const auto session = Session::open(path);
    EXPECT_EQ(raw.queryInt("SELECT count(*) FROM run WHERE status = 'crashed'"), 1);
    EXPECT_EQ(raw.queryInt("SELECT count(*) FROM run WHERE status = 'finished'"), 1);
}

INSTANTIATE_TEST_SUITE_P(Durability, KilledAfter, testing::Values(0, 130, 405, 640, 830));

TEST(Durability, aFullDiskIsReportedAndEarlierRunsStayIntact) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId earlier = test::recordRun(path, "earlier", 3);
    const test::Outcome outcome = test::runProgram({TEST_RECORDING_CHILD, path, "4000", "0", "300000"});
    EXPECT_EQ(outcome.exitCode, 3);
    EXPECT_NE(outcome.output.find("full"), std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("free some space"), std::string::npos) << outcome.output;
    const auto store = Store::open(path);
    expectWholeSteps(*store, earlier, 3);
    EXPECT_EQ(store->run(earlier).status, RunStatus::Finished);
    const RunId run = store->runs().at(0).id;
    expectWholeSteps(*store, run, 0);
    EXPECT_NE(store->run(run).status, RunStatus::Finished);
}

TEST(Durability, afterRoomWasMadeWhatWaitedIsWrittenAndNothingIsLost) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const auto session = Session::open(path);
    const auto recorder = session->startRun(test::describeRun("patient"), {});
    // A trigger stands in for the full disk: it makes every insert fail until it is dropped.
    Database other(path, OpenMode::ReadWriteCreate, 5000);
    other.exec("CREATE TRIGGER full BEFORE INSERT ON step BEGIN SELECT raise(ABORT, 'no room'); END");
    test::recordSteps(*recorder, 0, 4);
    for (int i = 0; i < 500 && recorder->failure().empty(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_NE(recorder->failure().find("no room"), std::string::npos);
    other.exec("DROP TRIGGER full");
    test::recordSteps(*recorder, 4, 1);
    for (int i = 0; i < 500 && !recorder->failure().empty(); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(recorder->failure(), "") << "a write that works clears the failure";
    recorder->close(RunStatus::Finished);
    const auto store = Store::open(path);
    expectWholeSteps(*store, recorder->run(), 5);
    EXPECT_EQ(store->tensors(recorder->run()).size(), 2U);
}

TEST(Durability, twoProgramsRecordIntoOneFile) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    std::atomic<int> finished{0};
    const auto record = [&](const std::string& name) {
        const auto session = Session::open(path);
        const auto recorder = session->startRun(test::describeRun(name), {});
        recorder->activate();
        for (int part = 0; part < 20; ++part) {
            test::recordSteps(*recorder, part * 25, 25);
            std::this_thread::sleep_for(std::chrono::milliseconds(40));
        }
        recorder->close(RunStatus::Finished);
        ++finished;
    };
    std::thread first(record, "first");
    std::thread second(record, "second");
    // A reader between the two of them never fails and only ever sees more.
    std::size_t most = 0;
    while (finished < 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (!std::filesystem::exists(path) || std::filesystem::file_size(path) == 0) continue;
        const auto store = Store::open(path);
        const std::vector<RunRow> runs = store->runs();
        std::size_t now = 0;
        for (const RunRow& run : runs) now += static_cast<std::size_t>(run.stepsDone);
        EXPECT_GE(now, most);
        most = now;
    }
    first.join();
    second.join();
    const auto store = Store::open(path);
    ASSERT_EQ(store->runs().size(), 2U);
    for (const RunRow& run : store->runs()) {
        expectWholeSteps(*store, run.id, 500);
        EXPECT_EQ(store->ranges(run.id, {}).size(), 1000U);
    }
}

TEST(Durability, openingAFileAgainInTheRecordingProgramLosesNothingWhenOtherProgramsCloseIt) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const auto session = Session::open(path);
    const auto reader = Store::open(path);
    const auto recorder = session->startRun(test::describeRun("long"), {});
    for (std::int64_t round = 0; round < 4; ++round) {
        test::recordSteps(*recorder, round * 5, 5);
        // Neither may take this process's locks off the file: the child would then think that it is the last one to
        // close it and would remove the WAL.
        EXPECT_EQ(test::errorOf([&] { Store::open(path)->runs(); }), "");
        EXPECT_EQ(test::errorOf([&] { Session::open(path); }), "");
        EXPECT_EQ(test::runProgram({TEST_RECORDING_CHILD, path, "20", "0"}).exitCode, 0);
        EXPECT_TRUE(std::filesystem::exists(path + "-wal")) << "round " << round;
    }
    recorder->close(RunStatus::Finished);
    EXPECT_EQ(reader->steps(recorder->run()).size(), 20U);
    const auto store = Store::open(path);
    ASSERT_EQ(store->runs().size(), 5U);
    for (const RunRow& run : store->runs()) {
        expectWholeSteps(*store, run.id, 20);
        EXPECT_EQ(run.status, RunStatus::Finished);
    }
    Database raw(path, OpenMode::ReadOnly, 1000);
    Statement check(raw, "PRAGMA integrity_check");
    ASSERT_TRUE(check.step());
    EXPECT_EQ(check.text(0), "ok");
}

TEST(Durability, everyCommitIsSyncedToTheDisk) {
    const test::TemporaryFolder folder;
    EXPECT_EQ(openForWriting(folder.file("a.amax"))->queryInt("PRAGMA synchronous"), 2);
}

TEST(WriteHealth, aLockIsReportedOnlyAfterAMinuteWithoutASuccessfulWrite) {
    using std::chrono::seconds;
    const WriteHealth::TimePoint start{};
    WriteHealth health;
    EXPECT_FALSE(health.failed(true, start, start + seconds(5)));
    EXPECT_FALSE(health.failed(true, start + seconds(7), start + seconds(59)));
    EXPECT_TRUE(health.failed(true, start + seconds(59), start + seconds(64)));
    health.succeeded();
    EXPECT_FALSE(health.failed(true, start + seconds(66), start + seconds(71)));
    EXPECT_TRUE(health.failed(false, start + seconds(72), start + seconds(72))) << "a full disk is told at once";
}

TEST(WriteHealth, onlyALockedFileIsTransient) {
    const test::TemporaryFolder folder;
    Database first(folder.file("a.db"), OpenMode::ReadWriteCreate, 0);
    Database second(folder.file("a.db"), OpenMode::ReadWriteCreate, 0);
    first.exec("CREATE TABLE t(x)");
    const auto transient = [&](const char* sql) {
        try {
            second.exec(sql);
        } catch (const Error& error) {
            return isTransient(error);
        }
        ADD_FAILURE() << sql << " worked";
        return false;
    };
    first.exec("BEGIN IMMEDIATE");
    EXPECT_TRUE(transient("INSERT INTO t VALUES (1)"));
    first.exec("COMMIT");
    second.exec("PRAGMA max_page_count = 2");
    EXPECT_FALSE(transient("INSERT INTO t VALUES (zeroblob(100000))"));
    EXPECT_FALSE(isTransient(std::bad_alloc()));
}

TEST(Durability, aLongReadDoesNotStopTheWriter) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    test::recordRun(path, "earlier", 50);
    Database reader(path, OpenMode::ReadOnly, 1000);
    Statement held(reader, "SELECT step FROM step");
    ASSERT_TRUE(held.step());  // a read transaction is open from here on
    const RunId run = test::recordRun(path, "meanwhile", 50);
    EXPECT_EQ(Store::open(path)->steps(run).size(), 50U);
    int rest = 1;
    while (held.step()) ++rest;
    EXPECT_EQ(rest, 50);
}
