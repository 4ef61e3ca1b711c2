// Implementation: one insert statement per table, rows in key order.
#include "store/run_writer.h"

#include "capture/name_registry.h"
#include "store/exponents.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace profiling {

namespace {

constexpr double kNull = std::numeric_limits<double>::quiet_NaN();  // bound as NULL

/// The engine says 0 where there is none.
double nullIfZero(float value) {
    return value == 0 ? kNull : static_cast<double>(value);
}

}  // namespace

RowStatements::RowStatements(Database& databaseToUse)
    : database(databaseToUse),
      insertTensor(database, "INSERT INTO tensor(run_id, layer, role, format, rows, cols) VALUES (?,?,?,?,?,?)"),
      insertStep(database,
                 "INSERT OR REPLACE INTO step(run_id, step, start_ns, duration_ns, loss, grad_norm, lr, tokens,"
                 " skipped, memory_bytes) VALUES (?,?,?,?,?,?,?,?,?,?)"),
      insertSnapshot(database,
                     "INSERT OR REPLACE INTO scale_snapshot(run_id, tensor_id, step, amax, scale, saturated,"
                     " underflowed, zeros, non_finite, count, sq_error, sq_signal, scale_inv_min, scale_inv_max,"
                     " smallest) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
      insertExponents(database,
                      "INSERT OR REPLACE INTO exponent_hist(run_id, tensor_id, step, counts, first_exponent)"
                      " VALUES (?,?,?,?,?)"),
      updateValidation(database, "UPDATE step SET val_loss = ?, validated = 1 WHERE run_id = ? AND step = ?"),
      insertEvent(database, "INSERT INTO event(run_id, step, at_ns, severity, code, text) VALUES (?,?,?,?,?,?)"),
      insertGeneration(database,
                       "INSERT INTO generation(run_id, step, prompt, output, correct, total) VALUES (?,?,?,?,?,?)"),
      insertSample(database, "INSERT OR REPLACE INTO sample(run_id, metric, i, value) VALUES (?,?,?,?)"),
      insertRange(database,
                  "INSERT INTO range(run_id, step, id, parent_id, thread, depth, kind, name_id, start_ns,"
                  " duration_ns, flops, bytes) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"),
      insertKernel(database,
                   "INSERT INTO kernel(run_id, step, id, range_id, thread, depth, name_id, device, stream,"
                   " start_ns, duration_ns, flops, bytes, source) VALUES (?,?,?,?,?,?,?,0,0,?,?,?,?,'cpu')"),
      upsertIssue(database,
                  "INSERT INTO import_issue(run_id, name, severity, count, first_example) VALUES (?,?,?,?,?)"
                  " ON CONFLICT DO UPDATE SET count = excluded.count"),
      insertName(database, "INSERT INTO name(text) VALUES (?) ON CONFLICT DO NOTHING"),
      selectName(database, "SELECT id FROM name WHERE text = ?") {}

std::int64_t RowStatements::nameRow(std::uint32_t interned) {
    if (interned >= m_nameRows.size()) m_nameRows.resize(interned + 1, 0);
    std::int64_t& row = m_nameRows[interned];
    if (row == 0) {
        const std::string& text = internedText(interned);
        insertName.bind(text).run();
        selectName.bind(text);
        if (selectName.step()) row = selectName.integer(0);
        selectName.reset();
    }
    return row;
}

bool RunWriter::drain() {
    const std::size_t room = kMaxPendingRanges - std::min(kMaxPendingRanges, m_ranges.size());
    m_channel->drain(m_records, m_ranges, room);
    m_droppedPending = m_channel->droppedRanges();
    return !m_records.empty() || !m_ranges.empty() || m_droppedPending != m_droppedWritten;
}

void RunWriter::write(RowStatements& rows) {
    writeTensors(rows);
    writeSteps(rows);
    writeSnapshots(rows);
    writeNotes(rows);
    writeRanges(rows);
    writeIssues(rows);
}

void RunWriter::committed() {
    if (!m_records.tensors.empty()) m_tensorRows.swap(m_pendingTensorRows);
    m_records.clear();
    m_ranges.clear();
    m_droppedWritten = m_droppedPending;
}

void RunWriter::writeTensors(RowStatements& rows) {
    m_pendingTensorRows.clear();
    for (const engine::TensorInfo& tensor : m_records.tensors) {
        rows.insertTensor.bind(m_run.value, tensor.layer, tensor.role, tensor.format, tensor.rows, tensor.cols).run();
        m_pendingTensorRows.push_back(rows.database.lastInsertId());
    }
}

void RunWriter::writeSteps(RowStatements& rows) {
    for (const engine::StepStats& step : m_records.steps) {
        rows.insertStep
            .bind(m_run.value, step.step, step.startNs, step.durationNs, step.loss, step.gradNorm, step.lr, step.tokens,
                  step.skipped, step.memoryBytes)
            .run();
    }
    for (const ValidationRecord& validation : m_records.validations) {
        rows.updateValidation.bind(validation.loss, m_run.value, validation.step).run();
    }
}

void RunWriter::writeSnapshots(RowStatements& rows) {
    const std::vector<std::int64_t>& tensorRows = m_records.tensors.empty() ? m_tensorRows : m_pendingTensorRows;
    std::sort(m_records.snapshots.begin(), m_records.snapshots.end(), [](const auto& a, const auto& b) {
        return std::tie(a.snapshot.tensor, a.step) < std::tie(b.snapshot.tensor, b.step);
    });
    for (const SnapshotRecord& record : m_records.snapshots) {
        const engine::TensorSnapshot& s = record.snapshot;
        const auto index = static_cast<std::size_t>(s.tensor);
        if (index >= tensorRows.size()) {
            throw Error(ErrorKind::Failure, rows.database.path(),
                        "a snapshot names tensor " + std::to_string(s.tensor) + ", which was never announced",
                        "please report this as a bug");
        }
        const bool cast = s.scale != 0;
        rows.insertSnapshot
            .bind(m_run.value, tensorRows[index], record.step, static_cast<double>(s.amax), nullIfZero(s.scale),
                  s.saturated, s.underflowed, s.zeros, s.nonFinite, s.count, cast ? s.sqError : kNull,
                  cast ? s.sqSignal : kNull, nullIfZero(s.scaleInvMin), nullIfZero(s.scaleInvMax),
                  nullIfZero(s.smallest))
            .run();
    }
    writeExponents(rows, tensorRows);
}

/// The snapshots are in key order and their tensors known.
void RunWriter::writeExponents(RowStatements& rows, const std::vector<std::int64_t>& tensorRows) {
    std::vector<unsigned char> bytes;
    for (const SnapshotRecord& record : m_records.snapshots) {
        const engine::TensorSnapshot& s = record.snapshot;
        if (s.exponents.empty()) continue;
        encodeCounts(s.exponents, bytes);
        rows.insertExponents
            .bind(m_run.value, tensorRows[static_cast<std::size_t>(s.tensor)], record.step,
                  std::span<const unsigned char>(bytes), s.firstExponent)
            .run();
    }
}

void RunWriter::writeNotes(RowStatements& rows) {
    for (const engine::EngineEvent& event : m_records.events) {
        rows.insertEvent
            .bind(m_run.value, event.step, event.atNs, static_cast<int>(event.severity), event.code, event.text)
            .run();
    }
    for (const engine::GenerationSample& sample : m_records.generations) {
        rows.insertGeneration.bind(m_run.value, sample.step, sample.prompt, sample.output, sample.correct, sample.total)
            .run();
    }
    for (const SampleRecord& sample : m_records.samples) {
        rows.insertSample.bind(m_run.value, sample.metric, sample.i, sample.value).run();
    }
}

void RunWriter::writeRanges(RowStatements& rows) {
    // Ranges arrive when they close, inner ones first; the key follows the order of opening.
    std::sort(m_ranges.begin(), m_ranges.end(),
              [](const RangeEvent& a, const RangeEvent& b) { return std::tie(a.step, a.id) < std::tie(b.step, b.id); });
    for (const RangeEvent& range : m_ranges) {
        const std::int64_t name = rows.nameRow(range.name);
        if (range.kind == engine::RangeKind::Kernel) {
            rows.insertKernel
                .bind(m_run.value, range.step, range.id, range.parent, range.thread, static_cast<int>(range.depth),
                      name, range.startNs, range.durationNs, range.flops, range.bytes)
                .run();
        } else {
            rows.insertRange
                .bind(m_run.value, range.step, range.id, range.parent, range.thread, static_cast<int>(range.depth),
                      static_cast<int>(range.kind), name, range.startNs, range.durationNs, range.flops, range.bytes)
                .run();
        }
    }
}

void RunWriter::writeIssues(RowStatements& rows) {
    if (m_droppedPending == m_droppedWritten) return;
    static constexpr const char* kExample = "the disk was slower than the trainer and the buffer for ranges was full";
    rows.upsertIssue
        .bind(m_run.value, "ranges_dropped", static_cast<int>(engine::Severity::Warning), m_droppedPending, kExample)
        .run();
    if (m_droppedWritten == 0) {
        // The count goes on changing; the event says once that the timeline has gaps from here on.
        rows.insertEvent
            .bind(m_run.value, std::int64_t{-1}, engine::clockNs(), static_cast<int>(engine::Severity::Warning),
                  "ranges_dropped", std::string("some ranges were not recorded: ") + kExample)
            .run();
    }
}

}  // namespace profiling
