// Collects the tensors of one inspection in memory and hands them to the session in one piece.
#pragma once

#include "profiling/inspections.h"
#include "store/sqlite.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace profiling {

/// Everything that one inspection writes.
struct InspectionRecord {
    std::string uuid;
    std::int64_t atNs = 0;
    InspectionDescription description;
    std::vector<InspectedTensor> tensors;
};

/// Within the caller's transaction.
InspectionId insertInspection(Database& database, const InspectionRecord& record);

/// What the writer needs from the session.
class InspectionSink {
public:
    virtual ~InspectionSink() = default;
    virtual InspectionId writeInspection(const InspectionRecord& record) = 0;
};

class BufferedInspection final : public InspectionWriter {
public:
    BufferedInspection(InspectionRecord record, std::shared_ptr<InspectionSink> sink)
        : m_record(std::move(record)), m_sink(std::move(sink)) {}

    void add(const InspectedTensor& tensor) override;
    InspectionId commit() override;

private:
    InspectionRecord m_record;
    std::shared_ptr<InspectionSink> m_sink;  // null once committed
};

}  // namespace profiling
