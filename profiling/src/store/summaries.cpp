// Totals of kernels and ranges by name, and the ranges themselves.
#include "store/store_impl.h"

#include <algorithm>
#include <cmath>

namespace profiling {

namespace {

constexpr int kKernelKind = static_cast<int>(engine::RangeKind::Kernel);

const char* kindName(std::int64_t kind) {
    switch (static_cast<engine::RangeKind>(kind)) {
        case engine::RangeKind::Step:
            return "step";
        case engine::RangeKind::Phase:
            return "phase";
        case engine::RangeKind::Layer:
            return "layer";
        case engine::RangeKind::Module:
            return "module";
        case engine::RangeKind::Kernel:
            return "kernel";
    }
    return "module";
}

struct Group {
    std::vector<std::int64_t> durations;
    double flops = 0;
    double bytes = 0;
};

SummaryRow summaryOf(Group& group, std::string name, std::int64_t kind, std::int64_t stepTimeNs) {
    std::vector<std::int64_t>& durations = group.durations;
    std::sort(durations.begin(), durations.end());
    SummaryRow row;
    row.name = std::move(name);
    row.kind = kindName(kind);
    row.calls = static_cast<std::int64_t>(durations.size());
    for (const std::int64_t duration : durations) row.totalNs += duration;
    row.meanNs = static_cast<double>(row.totalNs) / static_cast<double>(row.calls);
    const std::size_t half = durations.size() / 2;
    row.medianNs = durations.size() % 2 == 1 ? durations[half] : (durations[half - 1] + durations[half]) / 2;
    row.minNs = durations.front();
    row.maxNs = durations.back();
    double squares = 0;
    for (const std::int64_t duration : durations) {
        const double difference = static_cast<double>(duration) - row.meanNs;
        squares += difference * difference;
    }
    if (row.calls > 1) row.stddevNs = std::sqrt(squares / static_cast<double>(row.calls - 1));
    if (stepTimeNs > 0) row.share = static_cast<double>(row.totalNs) / static_cast<double>(stepTimeNs);
    row.flops = group.flops;
    row.bytes = group.bytes;
    return row;
}

double orZero(double value) {
    return std::isnan(value) ? 0 : value;
}

}  // namespace

/// sql: parameters run, first step, last step; columns kind, name_id, duration_ns, flops, bytes.
std::vector<SummaryRow> StoreImpl::summarize(RunId run, StepWindow window, std::string_view sql) {
    std::vector<SummaryRow> rows;
    if (isHidden(run)) return rows;
    std::map<std::pair<std::int64_t, std::int64_t>, Group> groups;
    Statement query(*m_database, sql);
    query.bind(run.value, window.first, window.last);
    while (query.step()) {
        Group& group = groups[{query.integer(0), query.integer(1)}];
        group.durations.push_back(query.integer(2));
        group.flops += orZero(query.real(3));
        group.bytes += orZero(query.real(4));
    }
    Statement stepTime(*m_database,
                       "SELECT ifnull(sum(duration_ns), 0) FROM step WHERE run_id = ? AND step BETWEEN ? AND ?");
    stepTime.bind(run.value, window.first, window.last);
    const std::int64_t stepTimeNs = stepTime.step() ? stepTime.integer(0) : 0;
    Statement nameOf(*m_database, "SELECT text FROM name WHERE id = ?");
    for (auto& [key, group] : groups) {
        nameOf.bind(key.second);
        std::string text = nameOf.step() ? nameOf.text(0) : "?";
        rows.push_back(summaryOf(group, std::move(text), key.first, stepTimeNs));
    }
    std::sort(rows.begin(), rows.end(), [](const SummaryRow& a, const SummaryRow& b) {
        return a.totalNs != b.totalNs ? a.totalNs > b.totalNs : a.name < b.name;
    });
    return rows;
}

std::vector<SummaryRow> StoreImpl::kernelSummary(RunId run, StepWindow window) {
    return summarize(run, window,
                     "SELECT 5, name_id, duration_ns, flops, bytes FROM kernel"
                     " WHERE run_id = ? AND step BETWEEN ? AND ?");
}

std::vector<SummaryRow> StoreImpl::rangeSummary(RunId run, StepWindow window) {
    return summarize(run, window,
                     "SELECT kind, name_id, duration_ns, flops, bytes FROM range"
                     " WHERE run_id = ? AND step BETWEEN ? AND ?");
}

std::vector<RangeRow> StoreImpl::ranges(RunId run, StepWindow window) {
    std::vector<RangeRow> rows;
    if (isHidden(run)) return rows;
    Statement query(
        *m_database,
        "SELECT g.id, g.parent_id, g.step, g.thread, g.depth, n.text, g.kind, g.start_ns, g.duration_ns,"
        " g.flops, g.bytes"
        " FROM range AS g JOIN name AS n ON n.id = g.name_id WHERE g.run_id = ?1 AND g.step BETWEEN ?2 AND ?3"
        " UNION ALL "
        "SELECT k.id, k.range_id, k.step, k.thread, k.depth, n.text, ?4, k.start_ns, k.duration_ns, k.flops, k.bytes"
        " FROM kernel AS k JOIN name AS n ON n.id = k.name_id WHERE k.run_id = ?1 AND k.step BETWEEN ?2 AND ?3"
        " ORDER BY 8, 1");
    query.bind(run.value, window.first, window.last, kKernelKind);
    while (query.step()) {
        rows.push_back({query.integer(0), query.integer(1), query.integer(2), static_cast<int>(query.integer(3)),
                        static_cast<int>(query.integer(4)), query.text(5), kindName(query.integer(6)), query.integer(7),
                        query.integer(8), orZero(query.real(9)), orZero(query.real(10))});
    }
    return rows;
}

}  // namespace profiling
