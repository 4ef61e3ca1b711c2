// The derived numbers, as resources/docs/numbers.md defines them.
#include "profiling/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace profiling {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct FormatLimits {
    double max;        // largest finite value
    double minNormal;  // smallest normal value
};

FormatLimits limitsOf(const std::string& format) {
    if (format == "E4M3") return {448.0, 0x1p-6};
    if (format == "E5M2") return {57344.0, 0x1p-14};
    throw Error(ErrorKind::Usage, "number format '" + format + "'", "not known", "use E4M3 or E5M2");
}

double share(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kNaN;
}

double quantile(const std::vector<double>& sorted, double position) {
    const double index = position * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(index);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    if (sorted[below] == sorted[above]) return sorted[below];
    return sorted[below] + (sorted[above] - sorted[below]) * (index - static_cast<double>(below));
}

}  // namespace

double formatMax(const std::string& format) {
    return limitsOf(format).max;
}

double formatMinNormal(const std::string& format) {
    return limitsOf(format).minNormal;
}

double headroomBits(const SnapshotRow& snapshot, const std::string& format) {
    if (std::isnan(snapshot.amax)) return kNaN;
    return std::log2(formatMax(format) / (snapshot.amax * snapshot.scale));
}

double saturatedShare(const SnapshotRow& snapshot) {
    return share(snapshot.saturated, snapshot.count);
}

double underflowedShare(const SnapshotRow& snapshot) {
    return share(snapshot.underflowed, snapshot.count);
}

double sqnrDb(const SnapshotRow& snapshot) {
    if (!(snapshot.sqSignal > 0)) return kNaN;
    if (snapshot.sqError == 0) return kInfinity;
    return 10.0 * std::log10(snapshot.sqSignal / snapshot.sqError);
}

double staleFactor(const SnapshotRow& snapshot, const std::string& format, int margin) {
    // Such an amax gives no new scale: the old one is kept.
    if (!(snapshot.amax > 0) || std::isinf(snapshot.amax)) return kNaN;
    const double fresh = std::ldexp(formatMax(format) / snapshot.amax, -margin);
    return snapshot.scale / fresh;
}

double tokensPerSecond(const StepRow& step) {
    return step.durationNs > 0 ? static_cast<double>(step.tokens) / (static_cast<double>(step.durationNs) * 1e-9) : 0;
}

Spread spread(std::span<const double> values) {
    std::vector<double> sorted;
    std::copy_if(values.begin(), values.end(), std::back_inserter(sorted),
                 [](double value) { return !std::isnan(value); });
    if (sorted.empty()) return {};
    std::sort(sorted.begin(), sorted.end());
    return {sorted.size(),         sorted.front(),         quantile(sorted, 0.25),
            quantile(sorted, 0.5), quantile(sorted, 0.75), sorted.back()};
}

}  // namespace profiling
