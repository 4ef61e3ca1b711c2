// The heat map tensor × step: one pass over the snapshots in key order, each bin keeping its worst value.
#include "profiling/metrics.h"
#include "store/store_impl.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace profiling {

namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

double cellValue(HeatMetric metric, const SnapshotRow& snapshot, const std::string& format) {
    switch (metric) {
        case HeatMetric::Headroom:
            return headroomBits(snapshot, format);
        case HeatMetric::Saturated:
            return saturatedShare(snapshot);
        case HeatMetric::Underflowed:
            return underflowedShare(snapshot);
        case HeatMetric::Sqnr:
            return sqnrDb(snapshot);
    }
    return kNone;
}

/// Least headroom and SQNR, most saturation and underflow.
float worse(HeatMetric metric, float a, float b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    const bool lowIsBad = metric == HeatMetric::Headroom || metric == HeatMetric::Sqnr;
    return lowIsBad ? std::min(a, b) : std::max(a, b);
}

struct Extent {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();  // of all tensors
    std::int64_t last = 0;
    std::int64_t widest = -1;  // last − first snapshot of the tensor that was taken longest
    std::int64_t taken = 0;    // its snapshots
};

/// Tensors are taken at the same steps, but one that was pinned to BF16 midway has no more of them: the extent is that
/// of all, and the one taken longest tells the interval.
Extent extentOf(Database& database, RunId run, const std::vector<TensorRow>& tensors, StepWindow window) {
    // Two look-ups in the key each, instead of a pass over all rows.
    Statement ends(database,
                   "SELECT (SELECT min(step) FROM scale_snapshot WHERE run_id = ?1 AND tensor_id = ?2"
                   " AND step BETWEEN ?3 AND ?4), (SELECT max(step) FROM scale_snapshot WHERE run_id = ?1"
                   " AND tensor_id = ?2 AND step BETWEEN ?3 AND ?4)");
    Extent extent;
    TensorId longest;
    for (const TensorRow& tensor : tensors) {
        ends.bind(run.value, tensor.id.value, window.first, window.last);
        if (!ends.step() || ends.isNull(0)) continue;
        const std::int64_t first = ends.integer(0);
        const std::int64_t last = ends.integer(1);
        extent.first = std::min(extent.first, first);
        extent.last = std::max(extent.last, last);
        if (last - first <= extent.widest) continue;
        extent.widest = last - first;
        longest = tensor.id;
    }
    if (!longest) return extent;
    Statement count(database,
                    "SELECT count(*) FROM scale_snapshot WHERE run_id = ? AND tensor_id = ? AND step BETWEEN ? AND ?");
    count.bind(run.value, longest.value, window.first, window.last);
    if (count.step()) extent.taken = count.integer(0);
    return extent;
}

}  // namespace

HeatMap StoreImpl::heatMap(RunId run, HeatMetric metric, StepWindow window, int maxColumns) {
    HeatMap map;
    map.tensors = tensors(run);
    if (map.tensors.empty() || maxColumns < 1) return map;

    const Extent extent = extentOf(*m_database, run, map.tensors, window);
    if (extent.taken == 0) return map;
    map.firstStep = extent.first;
    const std::int64_t lastStep = extent.last;
    const std::int64_t taken = extent.taken;
    const std::int64_t span = lastStep - map.firstStep + 1;
    // Steps without a snapshot get no column of their own: with one snapshot every n steps, a column is n steps wide.
    const std::int64_t interval = taken > 1 ? std::max<std::int64_t>(1, extent.widest / (taken - 1)) : 1;
    const std::int64_t columnsWanted = (span + interval - 1) / interval;
    const std::int64_t perColumn = (columnsWanted + maxColumns - 1) / maxColumns;
    map.stepsPerColumn = interval * perColumn;
    map.columns = static_cast<int>((span + map.stepsPerColumn - 1) / map.stepsPerColumn);

    const auto columns = static_cast<std::size_t>(map.columns);
    map.values.assign(map.tensors.size() * columns, kNone);
    Statement query(*m_database, snapshotsSql("ASC"));
    for (std::size_t row = 0; row < map.tensors.size(); ++row) {
        const TensorRow& tensor = map.tensors[row];
        query.bind(run.value, tensor.id.value, map.firstStep, lastStep);
        while (query.step()) {
            const SnapshotRow snapshot = readSnapshot(query);
            const auto column = static_cast<std::size_t>((snapshot.step - map.firstStep) / map.stepsPerColumn);
            float& cell = map.values[row * columns + column];
            cell = worse(metric, cell, static_cast<float>(cellValue(metric, snapshot, tensor.format)));
        }
    }
    return map;
}

}  // namespace profiling
