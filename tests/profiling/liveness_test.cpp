// Which runs count as crashed: sure by the process where it can be looked up, else by how long it wrote nothing.
#include "recording.h"
#include "store/process_identity.h"
#include "store/sqlite.h"

#include <gtest/gtest.h>

using namespace profiling;

namespace {

constexpr std::int64_t kShort = 1'000'000'000;
constexpr std::int64_t kLong = 2 * kSilentNs;

/// A run left `running` by a process that `change` describes, and that wrote its last step `silentNs` ago.
RunId leaveRunning(const std::string& path, const std::string& change, std::int64_t silentNs) {
    const RunId run = test::recordRun(path, "left", 2);
    Database raw(path, OpenMode::ReadWriteCreate, 1000);
    const std::string row = std::to_string(run.value);
    const std::string then = std::to_string(engine::clockNs() - silentNs);
    raw.exec("UPDATE run SET status = 'running', started_at_ns = 5, " + change + " WHERE id = " + row);
    raw.exec("UPDATE step SET start_ns = " + then + " WHERE step = 1 AND run_id = " + row);
    return run;
}

std::string storedStatus(const std::string& path, RunId run) {
    Database raw(path, OpenMode::ReadOnly, 1000);
    Statement query(raw, "SELECT status FROM run WHERE id = ?");
    return query.bind(run.value).step() ? query.text(0) : "no such run";
}

}  // namespace

TEST(Liveness, aProcessOfThisMachineAndNamespaceIsLookedUp) {
    const ProcessIdentity here = currentProcess();
    EXPECT_EQ(liveness(here, kLong), Liveness::Alive);
    ProcessIdentity other = here;
    other.start += 1;
    EXPECT_EQ(liveness(other, 0), Liveness::Gone);
}

TEST(Liveness, aProcessOfAnotherNamespaceOrMachineIsJudgedByItsSilence) {
    ProcessIdentity container = currentProcess();
    container.pidNamespace += 1;
    container.start += 1;
    EXPECT_EQ(liveness(container, kShort), Liveness::Alive);
    EXPECT_EQ(liveness(container, kLong), Liveness::Silent);
    ProcessIdentity machine = currentProcess();
    machine.boot = "another";
    machine.host = "another";
    EXPECT_EQ(liveness(machine, kShort), Liveness::Alive);
    EXPECT_EQ(liveness(machine, kLong), Liveness::Silent);
}

TEST(Liveness, nothingSurvivesARestartOfItsMachine) {
    ProcessIdentity before = currentProcess();
    before.boot = "an earlier one";
    EXPECT_EQ(liveness(before, kLong), Liveness::Gone);
}

TEST(Liveness, aRunRecordedInAnotherContainerIsShownRunningWhileItWrites) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId run = leaveRunning(path, "writer_namespace = 1, writer_pid = 1, writer_start = 1", kShort);
    EXPECT_EQ(Store::open(path)->run(run).status, RunStatus::Running);
    Session::open(path);
    EXPECT_EQ(storedStatus(path, run), "running");
}

TEST(Liveness, aSilentRunReadsCrashedButIsNeitherMarkedNorPurged) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId run = leaveRunning(path, "writer_namespace = 1", kLong);
    EXPECT_EQ(Store::open(path)->run(run).status, RunStatus::Crashed);
    const auto session = Session::open(path);
    session->setRunsDeleted({run}, true);
    session->purgeDeletedRuns();
    EXPECT_EQ(storedStatus(path, run), "running");
    session->setRunsDeleted({run}, false);
    EXPECT_EQ(Store::open(path)->steps(run).size(), 2U);
}

TEST(Liveness, aRunWhoseProcessIsGoneIsMarked) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.amax");
    const RunId run = leaveRunning(path, "writer_start = writer_start + 1", kShort);
    EXPECT_EQ(Store::open(path)->run(run).status, RunStatus::Crashed);
    Session::open(path);
    EXPECT_EQ(storedStatus(path, run), "crashed");
}
