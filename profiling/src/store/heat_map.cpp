// The heat map tensor × step: one pass over the snapshots in key order, each bin keeping its worst value.
#include "profiling/metrics.h"
#include "store/store_impl.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

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

}  // namespace

HeatMap StoreImpl::heatMap(RunId run, HeatMetric metric, StepWindow window, int maxColumns) {
    HeatMap map;
    map.tensors = tensors(run);
    if (map.tensors.empty() || maxColumns < 1) return map;

    // All tensors are taken at the same steps, so the first one tells the extent and the interval.
    Statement extent(*m_database,
                     "SELECT min(step), max(step), count(*) FROM scale_snapshot"
                     " WHERE run_id = ? AND tensor_id = ? AND step BETWEEN ? AND ?");
    extent.bind(run.value, map.tensors.front().id.value, window.first, window.last);
    if (!extent.step() || extent.integer(2) == 0) return map;
    map.firstStep = extent.integer(0);
    const std::int64_t lastStep = extent.integer(1);
    const std::int64_t taken = extent.integer(2);
    const std::int64_t span = lastStep - map.firstStep + 1;
    // Steps without a snapshot get no column of their own: with one snapshot every n steps, a column is n steps wide.
    const std::int64_t interval = taken > 1 ? std::max<std::int64_t>(1, (lastStep - map.firstStep) / (taken - 1)) : 1;
    const std::int64_t columnsWanted = (span + interval - 1) / interval;
    const std::int64_t perColumn = (columnsWanted + maxColumns - 1) / maxColumns;
    map.stepsPerColumn = interval * perColumn;
    map.columns = static_cast<int>((span + map.stepsPerColumn - 1) / map.stepsPerColumn);

    const auto columns = static_cast<std::size_t>(map.columns);
    map.values.assign(map.tensors.size() * columns, kNone);
    Statement query(*m_database, kSnapshotsOfTensor);
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
