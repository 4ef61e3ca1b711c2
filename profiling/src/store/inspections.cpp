// Reading inspections. A file of schema version 1 has no tables for them and so holds none.
#include "store/store_impl.h"

namespace profiling {

namespace {

InspectedTensor readTensor(const Statement& row) {
    InspectedTensor t;
    t.tensor = row.text(0);
    t.recipe = row.text(1);
    t.role = row.text(2);
    t.format = row.text(3);
    t.dtype = row.text(4);
    t.rows = row.integer(5);
    t.cols = row.integer(6);
    t.count = row.integer(7);
    t.amax = row.real(8);
    t.smallest = row.real(9);
    t.scaleInvMin = row.real(10);
    t.scaleInvMax = row.real(11);
    t.saturated = row.integer(12);
    t.underflowed = row.integer(13);
    t.zeros = row.integer(14);
    t.nonFinite = row.integer(15);
    t.sqError = row.real(16);
    t.sqSignal = row.real(17);
    return t;
}

}  // namespace

std::vector<InspectionRow> StoreImpl::inspections() {
    std::vector<InspectionRow> rows;
    if (!hasVersion2()) return rows;
    Statement query(*m_database,
                    "SELECT id, uuid, at_ns, program_version, path, architecture, tensors,"
                    " (SELECT count(*) FROM inspected_tensor WHERE inspection_id = inspection.id)"
                    " FROM inspection WHERE deleted = 0 ORDER BY id DESC");
    while (query.step()) {
        rows.push_back({InspectionId{query.integer(0)},
                        query.text(1),
                        query.integer(2),
                        query.text(3),
                        {query.text(4), query.text(5), query.integer(6)},
                        query.integer(7)});
    }
    return rows;
}

std::vector<InspectedTensor> StoreImpl::inspectedTensors(InspectionId inspection) {
    std::string known;
    bool found = false;
    for (const InspectionRow& row : inspections()) {
        found = found || row.id == inspection;
        known = std::to_string(row.id.value) + (known.empty() ? "" : ", ") + known;
    }
    if (!found) {
        throw Error(ErrorKind::Usage, "inspection " + std::to_string(inspection.value), "not in " + m_path,
                    known.empty() ? "the file holds no inspections" : "the inspections are " + known);
    }
    std::vector<InspectedTensor> rows;
    Statement query(*m_database,
                    "SELECT tensor, recipe, role, format, dtype, rows, cols, count, amax, smallest, scale_inv_min,"
                    " scale_inv_max, saturated, underflowed, zeros, non_finite, sq_error, sq_signal"
                    " FROM inspected_tensor WHERE inspection_id = ? ORDER BY i");
    query.bind(inspection.value);
    while (query.step()) rows.push_back(readTensor(query));
    return rows;
}

}  // namespace profiling
