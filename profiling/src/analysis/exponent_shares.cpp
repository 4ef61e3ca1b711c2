// What a format would lose of a tensor, told from the tensor's exponent histogram.
#include "profiling/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace profiling {

namespace {

constexpr double kMinNormalFp32 = 0x1p-126;

/// Elements on one side of a limit for certain, and those that may be on either.
struct Count {
    std::int64_t certain = 0;
    std::int64_t open = 0;
};

ShareBounds shares(const Count& count, std::int64_t elements) {
    const auto all = static_cast<double>(elements);
    return {static_cast<double>(count.certain) / all, static_cast<double>(count.certain + count.open) / all};
}

ShareBounds none() {
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
}

std::int64_t countedElements(const ExponentRow& exponents) {
    std::int64_t sum = 0;
    for (const std::uint32_t count : exponents.counts) sum += count;
    return sum;
}

/// Calls visit(lower edge, upper edge, elements) for each binade.
template <typename Visit>
void forEachBinade(const ExponentRow& exponents, Visit visit) {
    double lower = std::ldexp(1.0, exponents.firstExponent);
    for (const std::uint32_t count : exponents.counts) {
        visit(lower, lower * 2, std::int64_t{count});
        lower *= 2;
    }
}

/// FP32 subnormals, which are in no binade.
Count uncountedBelow(const ExponentRow& exponents, const SnapshotRow& snapshot, double limit) {
    if (snapshot.smallest >= kMinNormalFp32) return {};
    const std::int64_t rest = snapshot.count - countedElements(exponents);
    // Only a cast counts zeros and non-finite elements; without one they cannot be told from subnormals.
    if (!isCast(snapshot)) return {0, std::max<std::int64_t>(rest, 0)};
    const std::int64_t subnormals = std::max<std::int64_t>(rest - snapshot.zeros - snapshot.nonFinite, 0);
    return limit >= kMinNormalFp32 ? Count{subnormals, 0} : Count{0, subnormals};
}

}  // namespace

ShareBounds belowSubnormalShare(const ExponentRow& exponents, const SnapshotRow& snapshot, const std::string& format,
                                double scale) {
    const double limit = formatMinSubnormal(format) / scale;
    if (std::isnan(limit) || snapshot.count <= 0) return none();
    if (snapshot.smallest >= limit) return {0, 0};
    Count below = uncountedBelow(exponents, snapshot, limit);
    forEachBinade(exponents, [&](double lower, double upper, std::int64_t count) {
        if (upper <= limit || snapshot.amax < limit) {
            below.certain += count;
        } else if (lower < limit) {
            below.open += count;
        }
    });
    return shares(below, snapshot.count);
}

ShareBounds aboveMaxShare(const ExponentRow& exponents, const SnapshotRow& snapshot, const std::string& format,
                          double scale) {
    const double limit = formatMax(format) / scale;
    if (std::isnan(limit) || snapshot.count <= 0) return none();
    if (snapshot.amax <= limit) return {0, 0};
    Count above;
    forEachBinade(exponents, [&](double lower, double upper, std::int64_t count) {
        if (lower > limit) {
            above.certain += count;
        } else if (upper > limit) {
            above.open += count;
        }
    });
    return shares(above, snapshot.count);
}

}  // namespace profiling
