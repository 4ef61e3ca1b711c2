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
    double max;           // largest finite value
    double minNormal;     // smallest normal value
    double minSubnormal;  // smallest value above 0
};

FormatLimits limitsOf(const std::string& format) {
    if (format == "E4M3") return {448.0, 0x1p-6, 0x1p-9};
    if (format == "E5M2") return {57344.0, 0x1p-14, 0x1p-16};
    if (format == "E2M1") return {6.0, 1.0, 0.5};
    if (format == "BF16" || format == "FP32") return {kNaN, kNaN, kNaN};
    throw Error(ErrorKind::Usage, "number format '" + format + "'", "not known", "use E4M3, E5M2, E2M1, BF16 or FP32");
}

double share(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kNaN;
}

double decibels(double signal, double error) {
    if (!(signal > 0)) return kNaN;
    if (error == 0) return kInfinity;
    return 10.0 * std::log10(signal / error);
}

double rangeBits(double amax, double smallest) {
    return smallest > 0 ? std::log2(amax) - std::log2(smallest) : kNaN;
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

double formatMinSubnormal(const std::string& format) {
    return limitsOf(format).minSubnormal;
}

bool isCast(const SnapshotRow& snapshot) {
    return !std::isnan(snapshot.scale);
}

double headroomBits(const SnapshotRow& snapshot, const std::string& format) {
    const double max = formatMax(format);
    if (!isCast(snapshot) || std::isnan(snapshot.amax) || std::isnan(max)) return kNaN;
    return std::log2(max / (snapshot.amax * snapshot.scale));
}

double saturatedShare(const SnapshotRow& snapshot) {
    return isCast(snapshot) ? share(snapshot.saturated, snapshot.count) : kNaN;
}

double underflowedShare(const SnapshotRow& snapshot) {
    return isCast(snapshot) ? share(snapshot.underflowed, snapshot.count) : kNaN;
}

double sqnrDb(const SnapshotRow& snapshot) {
    return isCast(snapshot) ? decibels(snapshot.sqSignal, snapshot.sqError) : kNaN;
}

double staleFactor(const SnapshotRow& snapshot, const std::string& format, int margin) {
    // Such an amax gives no new scale: the old one is kept.
    if (!(snapshot.amax > 0) || std::isinf(snapshot.amax)) return kNaN;
    const double fresh = std::ldexp(formatMax(format) / snapshot.amax, -margin);
    return snapshot.scale / fresh;
}

double dynamicRangeBits(const SnapshotRow& snapshot) {
    return rangeBits(snapshot.amax, snapshot.smallest);
}

double saturatedShare(const InspectedTensor& tensor) {
    return share(tensor.saturated, tensor.count);
}

double underflowedShare(const InspectedTensor& tensor) {
    return share(tensor.underflowed, tensor.count);
}

double sqnrDb(const InspectedTensor& tensor) {
    return decibels(tensor.sqSignal, tensor.sqError);
}

double dynamicRangeBits(const InspectedTensor& tensor) {
    return rangeBits(tensor.amax, tensor.smallest);
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
