// The writing side of a run database: one connection, one writer thread for all runs recorded through it, and the small
// changes users make to the list of runs.
#include "profiling/session.h"

#include "capture/engine_recorder.h"
#include "store/database_file.h"
#include "store/inspection_writer.h"
#include "store/process_identity.h"
#include "store/run_writer.h"
#include "store/write_health.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>

namespace profiling {

namespace {

using SteadyClock = std::chrono::steady_clock;

// A step is visible within a second: at most this long in the queue, the rest is for writing.
constexpr auto kCommitInterval = std::chrono::milliseconds(400);
/// Rings are emptied more often than rows are committed: tiny models fill one within half a second.
constexpr auto kDrainInterval = std::chrono::milliseconds(100);
// After a failed write; what waits meanwhile is kept.
constexpr auto kRetryInterval = std::chrono::seconds(2);

std::string newUuid() {
    std::random_device device;
    std::array<std::uint32_t, 4> words{};
    for (std::uint32_t& word : words) word = device();
    words[1] = (words[1] & 0xFFFF0FFFU) | 0x00004000U;  // version 4
    words[2] = (words[2] & 0x3FFFFFFFU) | 0x80000000U;  // variant 1
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%08x-%04x-%04x-%04x-%04x%08x", words[0], words[1] >> 16U,
                  words[1] & 0xFFFFU, words[2] >> 16U, words[2] & 0xFFFFU, words[3]);
    return text.data();
}

/// Only what is certain is written: a run whose writer is merely silent reads `crashed` and stays `running`.
void markCrashedRuns(Database& database) {
    std::vector<std::int64_t> crashed;
    {
        Statement running(database,
                          "SELECT r.id, writer_pid, writer_start, writer_boot, writer_namespace, writer_host,"
                          " started_at_ns, (SELECT start_ns + duration_ns FROM step WHERE run_id = r.id"
                          " ORDER BY step DESC LIMIT 1) FROM run AS r WHERE status = 'running'");
        while (running.step()) {
            const ProcessIdentity writer{running.integer(1), running.integer(2), running.text(3), running.integer(4),
                                         running.text(5)};
            const std::int64_t lastSignOfLife = std::max(running.integer(6), running.integer(7));
            if (liveness(writer, engine::clockNs() - lastSignOfLife) == Liveness::Gone) {
                crashed.push_back(running.integer(0));
            }
        }
    }
    if (crashed.empty()) return;
    Transaction transaction(database);
    Statement mark(database, "UPDATE run SET status = 'crashed' WHERE id = ? AND status = 'running'");
    for (const std::int64_t id : crashed) mark.bind(id).run();
    transaction.commit();
}

class SessionImpl final : public Session,
                          public RunFinisher,
                          public InspectionSink,
                          public std::enable_shared_from_this<SessionImpl> {
public:
    explicit SessionImpl(const std::string& path)
        : m_path(path), m_database(openForWriting(path)), m_rows(*m_database) {
        markCrashedRuns(*m_database);
        m_thread = std::thread([this] { writeLoop(); });
    }

    ~SessionImpl() override {
        {
            const std::lock_guard lock(m_mutex);
            m_stop = true;
        }
        m_wake.notify_all();
        m_thread.join();
    }

    const std::string& path() const override { return m_path; }
    std::unique_ptr<RunRecorder> startRun(const RunDescription& description, const RecordOptions& options) override;
    BenchId createBench(const std::string& name) override;
    void setBenchBaseline(BenchId bench, RunId run) override;
    void renameRun(RunId run, const std::string& name) override;
    void setRunsDeleted(const std::vector<RunId>& runs, bool deleted) override;
    void purgeDeletedRuns() override;
    std::unique_ptr<InspectionWriter> startInspection(const InspectionDescription& description,
                                                      std::int64_t beganNs) override;
    void setInspectionsDeleted(const std::vector<InspectionId>& inspections, bool deleted) override;
    InspectionId writeInspection(const InspectionRecord& record) override;
    void finishRun(RunId run, RunStatus status) override;

private:
    void writeLoop();
    bool drainAll();  // true: there is something to write
    void writePending();
    void writeFailed(const std::exception& error, SteadyClock::time_point startedAt);
    RunId insertRun(const RunDescription& description);
    void setStatus(RunId run, RunStatus status);

    const std::string m_path;
    std::mutex m_mutex;  // guards everything below
    std::condition_variable m_wake;
    bool m_stop = false;
    std::unique_ptr<Database> m_database;
    RowStatements m_rows;
    std::vector<std::unique_ptr<RunWriter>> m_writers;  // runs being recorded
    SteadyClock::time_point m_nextCommit{};
    SteadyClock::time_point m_retryAt{};
    WriteHealth m_health;
    std::thread m_thread;
};

void SessionImpl::writeLoop() {
    std::unique_lock lock(m_mutex);
    while (!m_stop) {
        if (m_writers.empty()) {
            m_wake.wait(lock, [this] { return m_stop || !m_writers.empty(); });
            continue;
        }
        m_wake.wait_until(lock, SteadyClock::now() + kDrainInterval, [this] { return m_stop; });
        const SteadyClock::time_point startedAt = SteadyClock::now();
        try {
            const bool work = drainAll();
            if (startedAt < m_nextCommit) continue;
            m_nextCommit = startedAt + kCommitInterval;
            if (work) writePending();
        } catch (const std::exception& error) {
            // Out of memory included: an exception that left this thread would end the program.
            writeFailed(error, startedAt);
        }
    }
}

bool SessionImpl::drainAll() {
    bool work = false;
    for (const auto& writer : m_writers) work = writer->drain() || work;
    return work;
}

void SessionImpl::writePending() {
    if (SteadyClock::now() < m_retryAt) return;
    Transaction transaction(*m_database);
    for (const auto& writer : m_writers) writer->write(m_rows);
    transaction.commit();
    m_health.succeeded();
    for (const auto& writer : m_writers) {
        writer->committed();
        writer->channel().clearFailure();
    }
}

void SessionImpl::writeFailed(const std::exception& error, SteadyClock::time_point startedAt) {
    const SteadyClock::time_point now = SteadyClock::now();
    m_rows.forgetNames();
    m_retryAt = now + kRetryInterval;
    if (!m_health.failed(isTransient(error), startedAt, now)) return;
    for (const auto& writer : m_writers) writer->channel().setFailure(error.what());
}

RunId SessionImpl::insertRun(const RunDescription& d) {
    const ProcessIdentity process = currentProcess();
    Statement insert(
        *m_database,
        "INSERT INTO run(uuid, name, bench_id, status, started_at_ns, device, device_name, backend, kernels,"
        " precision_asked, precision, precision_reason, emulated, recipe, model, train, data, seed, host,"
        " program_version, steps_planned, first_step, parameters, memory_bytes, flops_per_step,"
        " tokens_per_step, writer_pid, writer_start, writer_boot, writer_namespace, writer_host)"
        " VALUES (?,?,nullif(?,0),'running',?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    insert
        .bind(newUuid(), d.name, d.bench.value, engine::clockNs(), d.device, d.deviceName, d.backend, d.kernels,
              d.precisionAsked, d.precision, d.precisionReason, d.emulated, d.recipeJson, d.modelJson, d.trainJson,
              d.data, static_cast<std::int64_t>(d.seed), d.hostJson, AMAXSCOPE_VERSION, d.stepsPlanned, d.firstStep,
              d.parameters, d.memoryBytes, d.flopsPerStep, d.tokensPerStep, process.pid, process.start, process.boot,
              process.pidNamespace, process.host)
        .run();
    return RunId{m_database->lastInsertId()};
}

std::unique_ptr<RunRecorder> SessionImpl::startRun(const RunDescription& description, const RecordOptions& options) {
    auto channel = std::make_shared<RunChannel>();
    RunId run;
    {
        const std::lock_guard lock(m_mutex);
        Transaction transaction(*m_database);
        run = insertRun(description);
        transaction.commit();
        m_writers.push_back(std::make_unique<RunWriter>(run, channel));
    }
    m_wake.notify_all();
    return std::make_unique<EngineRecorder>(run, options, std::move(channel), shared_from_this());
}

void SessionImpl::setStatus(RunId run, RunStatus status) {
    Statement update(*m_database, "UPDATE run SET status = ?, ended_at_ns = ? WHERE id = ?");
    update.bind(name(status), engine::clockNs(), run.value).run();
}

void SessionImpl::finishRun(RunId run, RunStatus status) {
    const std::lock_guard lock(m_mutex);
    const auto found =
        std::find_if(m_writers.begin(), m_writers.end(), [run](const auto& writer) { return writer->run() == run; });
    if (found == m_writers.end()) return;
    const std::unique_ptr<RunWriter> writer = std::move(*found);
    m_writers.erase(found);
    const SteadyClock::time_point giveUpAt = SteadyClock::now() + WriteHealth::kPatience;
    // Turns after the first: the ring held more ranges than a batch may hold, or another program holds the file.
    for (bool more = true; more;) {
        try {
            more = writer->drain();
            Transaction transaction(*m_database);
            writer->write(m_rows);
            if (!more) setStatus(run, status);
            transaction.commit();
            m_health.succeeded();
            writer->committed();
            writer->channel().clearFailure();
        } catch (const std::exception& error) {
            m_rows.forgetNames();
            more = true;
            if (isTransient(error) && SteadyClock::now() < giveUpAt) continue;
            writer->channel().setFailure(error.what());
            try {
                setStatus(run, RunStatus::Failed);
            } catch (const Error&) {
                // The first error is the one to report; the run is found `crashed` once this process is gone.
            }
            throw;
        }
    }
}

BenchId SessionImpl::createBench(const std::string& benchName) {
    const std::lock_guard lock(m_mutex);
    Statement insert(*m_database, "INSERT INTO bench(name, created_at_ns) VALUES (?, ?)");
    insert.bind(benchName, engine::clockNs()).run();
    return BenchId{m_database->lastInsertId()};
}

void SessionImpl::setBenchBaseline(BenchId bench, RunId run) {
    const std::lock_guard lock(m_mutex);
    Statement update(*m_database, "UPDATE bench SET baseline_run_id = nullif(?, 0) WHERE id = ?");
    update.bind(run.value, bench.value).run();
}

void SessionImpl::renameRun(RunId run, const std::string& newName) {
    const std::lock_guard lock(m_mutex);
    Statement update(*m_database, "UPDATE run SET name = ? WHERE id = ?");
    update.bind(newName, run.value).run();
    if (m_database->queryInt("SELECT changes()") == 0) {
        throw Error(ErrorKind::Usage, "run " + std::to_string(run.value), "not in " + m_path,
                    "choose a run of this file");
    }
}

void SessionImpl::setRunsDeleted(const std::vector<RunId>& runs, bool deleted) {
    const std::lock_guard lock(m_mutex);
    Transaction transaction(*m_database);
    Statement update(*m_database, "UPDATE run SET deleted = ? WHERE id = ?");
    for (const RunId run : runs) update.bind(deleted, run.value).run();
    transaction.commit();
}

std::unique_ptr<InspectionWriter> SessionImpl::startInspection(const InspectionDescription& description,
                                                               std::int64_t beganNs) {
    InspectionRecord record{newUuid(), beganNs != 0 ? beganNs : engine::clockNs(), description, {}};
    return std::make_unique<BufferedInspection>(std::move(record), shared_from_this());
}

InspectionId SessionImpl::writeInspection(const InspectionRecord& record) {
    const std::lock_guard lock(m_mutex);
    Transaction transaction(*m_database);
    const InspectionId id = insertInspection(*m_database, record);
    transaction.commit();
    return id;
}

void SessionImpl::setInspectionsDeleted(const std::vector<InspectionId>& inspections, bool deleted) {
    const std::lock_guard lock(m_mutex);
    Transaction transaction(*m_database);
    Statement update(*m_database, "UPDATE inspection SET deleted = ? WHERE id = ?");
    for (const InspectionId inspection : inspections) update.bind(deleted, inspection.value).run();
    transaction.commit();
}

void SessionImpl::purgeDeletedRuns() {
    const std::lock_guard lock(m_mutex);
    markCrashedRuns(*m_database);
    // Foreign keys are checked only here: recording would pay for them with every row. The setting cannot change
    // inside a transaction.
    m_database->exec("PRAGMA foreign_keys = ON");
    try {
        Transaction transaction(*m_database);
        m_database->exec("DELETE FROM run WHERE deleted = 1 AND status <> 'running'");
        m_database->exec("DELETE FROM inspection WHERE deleted = 1");
        m_database->exec("DELETE FROM bench WHERE id NOT IN (SELECT bench_id FROM run WHERE bench_id IS NOT NULL)");
        transaction.commit();
    } catch (const Error&) {
        m_database->exec("PRAGMA foreign_keys = OFF");
        throw;
    }
    m_database->exec("PRAGMA foreign_keys = OFF");
    try {
        m_database->exec("PRAGMA incremental_vacuum");
    } catch (const Error&) {
        // The runs are gone; the room they took is given back by the next purge, and used by new rows until then.
    }
}

}  // namespace

std::shared_ptr<Session> Session::open(const std::string& path) {
    return std::make_shared<SessionImpl>(path);
}

}  // namespace profiling
