// Turns one run's pending records into rows. What is pending stays so until the caller says that its transaction was
// committed: a failed one is tried again with nothing lost.
#pragma once

#include "capture/run_channel.h"
#include "profiling/session.h"
#include "store/sqlite.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace profiling {

/// The prepared statements of one connection, and the ids of the names it has written.
class RowStatements {
public:
    explicit RowStatements(Database& database);
    /// Row of table name for an interned name.
    std::int64_t nameRow(std::uint32_t interned);
    /// After a rollback, rows written in that transaction are gone.
    void forgetNames() { m_nameRows.clear(); }

    Database& database;
    Statement insertTensor;
    Statement insertStep;
    Statement insertSnapshot;
    Statement insertExponents;
    Statement updateValidation;
    Statement insertEvent;
    Statement insertGeneration;
    Statement insertSample;
    Statement insertRange;
    Statement insertKernel;
    Statement upsertIssue;
    Statement insertName;
    Statement selectName;

private:
    std::vector<std::int64_t> m_nameRows;  // by interned id; 0: not known yet
};

class RunWriter {
public:
    static constexpr std::size_t kMaxPendingRanges = std::size_t{1} << 18U;

    RunWriter(RunId run, std::shared_ptr<RunChannel> channel) : m_run(run), m_channel(std::move(channel)) {}

    RunId run() const { return m_run; }
    RunChannel& channel() { return *m_channel; }
    /// Takes what is new from the channel. True when there is anything to write.
    bool drain();
    /// Within the caller's transaction.
    void write(RowStatements& rows);
    /// The transaction of the last write() was committed.
    void committed();

private:
    void writeTensors(RowStatements& rows);
    void writeSteps(RowStatements& rows);
    void writeSnapshots(RowStatements& rows);
    void writeExponents(RowStatements& rows, const std::vector<std::int64_t>& tensorRows);
    void writeNotes(RowStatements& rows);
    void writeRanges(RowStatements& rows);
    void writeIssues(RowStatements& rows);

    const RunId m_run;
    const std::shared_ptr<RunChannel> m_channel;
    RunRecords m_records;
    std::vector<RangeEvent> m_ranges;
    std::vector<std::int64_t> m_tensorRows;         // by tensor index, committed
    std::vector<std::int64_t> m_pendingTensorRows;  // the same, of the open transaction
    std::int64_t m_droppedWritten = 0;
    std::int64_t m_droppedPending = 0;
};

}  // namespace profiling
