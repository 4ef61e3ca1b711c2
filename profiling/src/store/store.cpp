// The reading side: Store over one read-only connection. Short queries are here; those that go over many rows are in
// summaries.cpp and heat_map.cpp.
#include "store/store_impl.h"

#include "store/database_file.h"
#include "store/process_identity.h"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace profiling {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kRunColumns =
    "SELECT r.id, r.uuid, r.name, ifnull(r.bench_id, 0), ifnull(b.name, ''), ifnull(b.baseline_run_id = r.id, 0),"
    " r.status, r.started_at_ns, ifnull(r.ended_at_ns, 0), r.device, r.device_name, r.backend, r.kernels,"
    " r.precision_asked, r.precision, r.precision_reason, r.emulated, r.recipe, r.model, r.train, r.data, r.seed,"
    " r.host, r.program_version, r.steps_planned, r.first_step, r.parameters, r.memory_bytes, r.flops_per_step,"
    " r.tokens_per_step, r.writer_pid, r.writer_start, r.writer_boot, r.writer_namespace, r.writer_host,"
    " (SELECT start_ns + duration_ns FROM step WHERE run_id = r.id ORDER BY step DESC LIMIT 1)"
    " FROM run AS r LEFT JOIN bench AS b ON b.id = r.bench_id WHERE r.deleted = 0";

RunStatus statusOf(Statement& row) {
    const std::string text = row.text(6);
    for (const RunStatus status :
         {RunStatus::Finished, RunStatus::Interrupted, RunStatus::Failed, RunStatus::Crashed}) {
        if (text == name(status)) return status;
    }
    const ProcessIdentity writer{row.integer(30), row.integer(31), row.text(32), row.integer(33), row.text(34)};
    const std::int64_t lastSignOfLife = std::max(row.integer(7), row.integer(35));
    return liveness(writer, engine::clockNs() - lastSignOfLife) == Liveness::Alive ? RunStatus::Running
                                                                                   : RunStatus::Crashed;
}

RunRow readRun(Statement& row) {
    RunRow run;
    run.id = RunId{row.integer(0)};
    run.uuid = row.text(1);
    run.name = row.text(2);
    run.bench = BenchId{row.integer(3)};
    run.benchName = row.text(4);
    run.isBaseline = row.integer(5) != 0;
    run.status = statusOf(row);
    run.startedAtNs = row.integer(7);
    run.endedAtNs = row.integer(8);
    RunDescription& d = run.description;
    d.name = run.name;
    d.bench = run.bench;
    d.device = row.text(9);
    d.deviceName = row.text(10);
    d.backend = row.text(11);
    d.kernels = row.text(12);
    d.precisionAsked = row.text(13);
    d.precision = row.text(14);
    d.precisionReason = row.text(15);
    d.emulated = row.integer(16) != 0;
    d.recipeJson = row.text(17);
    d.modelJson = row.text(18);
    d.trainJson = row.text(19);
    d.data = row.text(20);
    d.seed = static_cast<std::uint64_t>(row.integer(21));
    d.hostJson = row.text(22);
    run.programVersion = row.text(23);
    d.stepsPlanned = row.integer(24);
    d.firstStep = row.integer(25);
    d.parameters = row.integer(26);
    d.memoryBytes = row.integer(27);
    d.flopsPerStep = row.real(28);
    d.tokensPerStep = row.integer(29);
    return run;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

StoreImpl::StoreImpl(const std::string& path) : m_path(path), m_database(openForReading(path)) {}

std::int64_t StoreImpl::dataVersion() {
    return m_database->queryInt("PRAGMA data_version");
}

FileInfo StoreImpl::fileInfo() {
    FileInfo info;
    info.path = m_path;
    for (const char* suffix : {"", "-wal"}) {
        std::error_code missing;
        const auto bytes = fs::file_size(m_path + suffix, missing);
        if (!missing) info.bytes += static_cast<std::int64_t>(bytes);
    }
    Statement journal(*m_database, "PRAGMA journal_mode");
    info.wal = journal.step() && journal.text(0) == "wal";
    info.schemaVersion = static_cast<int>(m_database->queryInt("PRAGMA user_version"));
    info.runs = m_database->queryInt("SELECT count(*) FROM run WHERE deleted = 0");
    info.snapshots = m_database->queryInt(
        "SELECT count(*) FROM scale_snapshot WHERE run_id IN (SELECT id FROM run WHERE deleted = 0)");
    if (hasVersion2()) info.inspections = m_database->queryInt("SELECT count(*) FROM inspection WHERE deleted = 0");
    return info;
}

void StoreImpl::addProgress(RunRow& run) {
    Progress& progress = m_progress[run.id];
    Statement newer(*m_database,
                    "SELECT step, duration_ns, tokens, loss FROM step WHERE run_id = ? AND step > ? ORDER BY step");
    newer.bind(run.id.value, progress.lastStep);
    while (newer.step()) {
        progress.lastStep = newer.integer(0);
        progress.lastLoss = newer.real(3);
        ++progress.steps;
        const double seconds = static_cast<double>(newer.integer(1)) * 1e-9;
        if (progress.steps > 2 && seconds > 0)
            progress.rates.push_back(static_cast<double>(newer.integer(2)) / seconds);
    }
    if (progress.ratesSummed != progress.rates.size()) {
        progress.tokensPerSecond = median(progress.rates);
        progress.ratesSummed = progress.rates.size();
    }
    run.stepsDone = progress.steps;
    run.lastStep = progress.lastStep;
    run.lastLoss = progress.lastLoss;
    const double ofRepeats = median(repeats(run.id));
    run.tokensPerSecond = ofRepeats > 0 ? ofRepeats : progress.tokensPerSecond;
    Statement validated(*m_database,
                        "SELECT val_loss FROM step WHERE run_id = ? AND validated = 1"
                        " ORDER BY step DESC LIMIT 1");
    if (validated.bind(run.id.value).step()) run.valLoss = validated.real(0);
}

/// Tokens per second of a benchmark's repeats; empty for other runs.
std::vector<double> StoreImpl::repeats(RunId run) {
    std::vector<double> values;
    Statement query(*m_database, "SELECT value FROM sample WHERE run_id = ? AND metric = 'tokens_per_second'");
    query.bind(run.value);
    while (query.step()) {
        if (!query.isNull(0)) values.push_back(query.real(0));
    }
    return values;
}

std::vector<RunRow> StoreImpl::runs() {
    std::vector<RunRow> rows;
    {
        Statement query(*m_database, std::string(kRunColumns) + " ORDER BY r.id DESC");
        while (query.step()) rows.push_back(readRun(query));
    }
    for (RunRow& run : rows) addProgress(run);
    return rows;
}

RunRow StoreImpl::run(RunId id) {
    Statement query(*m_database, std::string(kRunColumns) + " AND r.id = ?");
    query.bind(id.value);
    if (query.step()) {
        RunRow row = readRun(query);
        query.reset();
        addProgress(row);
        return row;
    }
    std::string known;
    Statement ids(*m_database, "SELECT id FROM run WHERE deleted = 0 ORDER BY id");
    while (ids.step()) known += (known.empty() ? "" : ", ") + std::to_string(ids.integer(0));
    throw Error(ErrorKind::Usage, "run " + std::to_string(id.value), "not in " + m_path,
                known.empty() ? "the file holds no runs" : "the runs are " + known);
}

std::vector<StepRow> StoreImpl::steps(RunId run, std::int64_t after) {
    std::vector<StepRow> rows;
    if (isHidden(run)) return rows;
    Statement query(*m_database,
                    "SELECT step, start_ns, duration_ns, loss, val_loss, grad_norm, lr, tokens, skipped,"
                    " memory_bytes, validated FROM step WHERE run_id = ? AND step > ? ORDER BY step");
    query.bind(run.value, after);
    while (query.step()) {
        StepRow row{};
        row.step = query.integer(0);
        row.startNs = query.integer(1);
        row.durationNs = query.integer(2);
        row.loss = query.real(3);
        if (query.integer(10) != 0) row.valLoss = query.real(4);
        row.gradNorm = query.real(5);
        row.lr = query.real(6);
        row.tokens = query.integer(7);
        row.skipped = query.integer(8) != 0;
        row.memoryBytes = query.integer(9);
        rows.push_back(row);
    }
    return rows;
}

std::vector<TensorRow> StoreImpl::tensors(RunId run) {
    std::vector<TensorRow> rows;
    if (isHidden(run)) return rows;
    Statement query(*m_database, "SELECT id, layer, role, format, rows, cols FROM tensor WHERE run_id = ? ORDER BY id");
    query.bind(run.value);
    while (query.step()) {
        rows.push_back({TensorId{query.integer(0)}, query.text(1), query.text(2), query.text(3), query.integer(4),
                        query.integer(5)});
    }
    return rows;
}

bool StoreImpl::hasVersion2() {
    return m_database->queryInt("PRAGMA user_version") >= 2;
}

std::string StoreImpl::snapshotsSql(std::string_view order) {
    return std::string(
               "SELECT step, amax, scale, saturated, underflowed, zeros, non_finite, count, sq_error,"
               " sq_signal, ") +
           (hasVersion2() ? "scale_inv_min, scale_inv_max, smallest" : "NULL, NULL, NULL") +
           " FROM scale_snapshot WHERE run_id = ? AND tensor_id = ? AND step BETWEEN ? AND ? ORDER BY step " +
           std::string(order);
}

SnapshotRow StoreImpl::readSnapshot(const Statement& row) {
    return {row.integer(0), row.real(1), row.real(2), row.integer(3), row.integer(4), row.integer(5), row.integer(6),
            row.integer(7), row.real(8), row.real(9), row.real(10),   row.real(11),   row.real(12)};
}

std::vector<SnapshotRow> StoreImpl::snapshots(RunId run, TensorId tensor, std::int64_t after) {
    std::vector<SnapshotRow> rows;
    if (isHidden(run)) return rows;
    Statement query(*m_database, snapshotsSql("ASC"));
    query.bind(run.value, tensor.value, after + 1, std::numeric_limits<std::int64_t>::max());
    while (query.step()) rows.push_back(readSnapshot(query));
    return rows;
}

std::optional<SnapshotRow> StoreImpl::snapshotAt(RunId run, TensorId tensor, std::int64_t step) {
    if (isHidden(run)) return {};
    Statement query(*m_database, snapshotsSql("DESC LIMIT 1"));
    query.bind(run.value, tensor.value, std::int64_t{0}, step);
    if (!query.step()) return {};
    return readSnapshot(query);
}

std::vector<EventRow> StoreImpl::events(RunId run) {
    std::vector<EventRow> rows;
    if (isHidden(run)) return rows;
    Statement query(*m_database,
                    "SELECT step, at_ns, severity, code, text FROM event WHERE run_id = ? ORDER BY step, id");
    query.bind(run.value);
    while (query.step()) {
        rows.push_back({query.integer(0), query.integer(1), static_cast<engine::Severity>(query.integer(2)),
                        query.text(3), query.text(4)});
    }
    return rows;
}

std::vector<SampleRow> StoreImpl::samples(RunId run) {
    std::vector<SampleRow> rows;
    if (isHidden(run)) return rows;
    Statement query(*m_database, "SELECT metric, i, value FROM sample WHERE run_id = ? ORDER BY metric, i");
    query.bind(run.value);
    while (query.step()) rows.push_back({run, query.text(0), query.integer(1), query.real(2)});
    return rows;
}

std::vector<GenerationRow> StoreImpl::generations(RunId run) {
    std::vector<GenerationRow> rows;
    if (isHidden(run)) return rows;
    Statement query(*m_database,
                    "SELECT step, prompt, output, correct, total FROM generation WHERE run_id = ? ORDER BY step, id");
    query.bind(run.value);
    while (query.step()) {
        rows.push_back({query.integer(0), query.text(1), query.text(2), static_cast<int>(query.integer(3)),
                        static_cast<int>(query.integer(4))});
    }
    return rows;
}

std::vector<ImportIssueRow> StoreImpl::importIssues(RunId run) {
    std::vector<ImportIssueRow> rows;
    if (isHidden(run)) return rows;
    Statement query(*m_database,
                    "SELECT name, severity, count, first_example FROM import_issue WHERE run_id = ? ORDER BY name");
    query.bind(run.value);
    while (query.step()) {
        rows.push_back(
            {query.text(0), static_cast<engine::Severity>(query.integer(1)), query.integer(2), query.text(3)});
    }
    return rows;
}

bool StoreImpl::isHidden(RunId run) {
    Statement query(*m_database, "SELECT deleted FROM run WHERE id = ?");
    return !query.bind(run.value).step() || query.integer(0) != 0;
}

void StoreImpl::saveCopy(const std::string& target, bool overwrite) {
    std::error_code ignored;
    if (fs::exists(target, ignored)) {
        if (fs::equivalent(target, m_path, ignored)) {
            throw Error(ErrorKind::Usage, target, "is the file itself", "choose another name");
        }
        if (!overwrite || fs::is_directory(target, ignored)) {
            throw Error(ErrorKind::Usage, target, "exists already", "choose another name");
        }
    }
    // The copy grows beside the target and takes its name when it is whole.
    const std::string part = target + ".part";
    fs::remove(part, ignored);
    try {
        {
            Database copy(part, OpenMode::ReadWriteCreate, kBusyMs);
            sqlite3_backup* backup = sqlite3_backup_init(copy.handle(), "main", m_database->handle(), "main");
            if (backup == nullptr) copy.fail(sqlite3_errcode(copy.handle()));
            // Only SQLITE_DONE means whole: finish() is documented not to report a busy file.
            const int copied = sqlite3_backup_step(backup, -1);
            const int finished = sqlite3_backup_finish(backup);
            if (copied == SQLITE_BUSY || copied == SQLITE_LOCKED) m_database->fail(copied);
            if (copied != SQLITE_DONE) copy.fail(copied);
            if (finished != SQLITE_OK) copy.fail(finished);
            copy.exec("PRAGMA journal_mode = DELETE");  // one file, readable from a folder that is not writable
        }
        // A WAL left beside a replaced file would be taken for the copy's own.
        for (const char* suffix : {"-wal", "-shm"}) fs::remove(target + suffix, ignored);
        fs::rename(part, target);
    } catch (const fs::filesystem_error& error) {
        fs::remove(part, ignored);
        throw Error(ErrorKind::Failure, target, error.code().message(), "choose another folder");
    } catch (const DatabaseError& error) {
        fs::remove(part, ignored);
        throw Error(error.kind(), target, error.why(), error.fix());
    }
}

std::unique_ptr<Store> Store::open(const std::string& path) {
    return std::make_unique<StoreImpl>(path);
}

}  // namespace profiling
