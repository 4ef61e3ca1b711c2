// Implementation of writing inspections.
#include "store/inspection_writer.h"

namespace profiling {

InspectionId insertInspection(Database& database, const InspectionRecord& record) {
    const InspectionDescription& d = record.description;
    Statement(database,
              "INSERT INTO inspection(uuid, path, at_ns, program_version, architecture, tensors)"
              " VALUES (?,?,?,?,?,?)")
        .bind(record.uuid, d.path, record.atNs, AMAXSCOPE_VERSION, d.architecture, d.tensors)
        .run();
    const InspectionId id{database.lastInsertId()};
    Statement insert(database,
                     "INSERT INTO inspected_tensor(inspection_id, i, tensor, recipe, role, format, dtype, rows, cols,"
                     " count, amax, smallest, scale_inv_min, scale_inv_max, saturated, underflowed, zeros, non_finite,"
                     " sq_error, sq_signal) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    std::int64_t i = 0;
    for (const InspectedTensor& t : record.tensors) {
        insert
            .bind(id.value, i++, t.tensor, t.recipe, t.role, t.format, t.dtype, t.rows, t.cols, t.count, t.amax,
                  t.smallest, t.scaleInvMin, t.scaleInvMax, t.saturated, t.underflowed, t.zeros, t.nonFinite, t.sqError,
                  t.sqSignal)
            .run();
    }
    return id;
}

void BufferedInspection::add(const InspectedTensor& tensor) {
    m_record.tensors.push_back(tensor);
}

InspectionId BufferedInspection::commit() {
    if (!m_sink) {
        throw Error(ErrorKind::Failure, "inspection of " + m_record.description.path, "is written already",
                    "please report this as a bug");
    }
    const InspectionId id = m_sink->writeInspection(m_record);
    m_sink = nullptr;
    return id;
}

}  // namespace profiling
