// Thinning, gaps, log2 and smoothing of plot data; see plot_series.h.
#include "models/plot_series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gui {
namespace {

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

/// Adds the points of [begin, end) that matter to `out`, in order.
void addColumn(const Series& series, std::size_t begin, std::size_t end, Series& out) {
    constexpr std::size_t kKeepAll = 5;
    if (end - begin <= kKeepAll) {
        for (std::size_t i = begin; i < end; ++i) out.add(series.x[i], series.y[i]);
        return;
    }
    std::array<std::size_t, 5> keep{begin, end - 1, begin, begin, begin};
    auto& [first, last, least, greatest, gap] = keep;
    for (std::size_t i = begin; i < end; ++i) {
        if (std::isnan(series.y[i])) {
            if (!std::isnan(series.y[gap])) gap = i;
            continue;
        }
        if (!(series.y[i] >= series.y[least])) least = i;        // also replaces a NaN
        if (!(series.y[i] <= series.y[greatest])) greatest = i;  // also replaces a NaN
    }
    std::sort(keep.begin(), keep.end());
    const auto* stop = std::unique(keep.begin(), keep.end());
    for (const auto* it = keep.begin(); it != stop; ++it) out.add(series.x[*it], series.y[*it]);
}

/// Exponential moving average in one direction, without the bias of its start.
template <typename Iterator>
std::vector<double> averaged(Iterator begin, Iterator end, double weight) {
    std::vector<double> out;
    double sum = 0;
    double bias = 1;
    for (Iterator it = begin; it != end; ++it) {
        if (!std::isfinite(*it)) {
            out.push_back(kGap);
            continue;
        }
        sum = weight * sum + (1 - weight) * *it;
        bias *= weight;
        out.push_back(sum / (1 - bias));
    }
    return out;
}

}  // namespace

void Limits::include(double value) {
    if (!std::isfinite(value)) return;
    low = valid ? std::min(low, value) : value;
    high = valid ? std::max(high, value) : value;
    valid = true;
}

void Limits::include(const Limits& other) {
    if (!other.valid) return;
    include(other.low);
    include(other.high);
}

Limits finiteLimits(const Series& series) {
    Limits limits;
    for (const double value : series.y) limits.include(value);
    return limits;
}

Series decimate(const Series& series, double firstX, double lastX, int columns) {
    const auto begin = std::lower_bound(series.x.begin(), series.x.end(), firstX);
    const auto end = std::upper_bound(begin, series.x.end(), lastX);
    std::size_t from = static_cast<std::size_t>(begin - series.x.begin());
    std::size_t to = static_cast<std::size_t>(end - series.x.begin());
    if (from > 0) --from;  // the line enters and leaves the picture
    if (to < series.size()) ++to;

    Series out;
    if (columns < 1 || to - from <= static_cast<std::size_t>(columns) * 2) {
        for (std::size_t i = from; i < to; ++i) out.add(series.x[i], series.y[i]);
        return out;
    }
    const double width = (lastX - firstX) / columns;
    std::size_t start = from;
    while (start < to) {
        const double column = std::floor((series.x[start] - firstX) / width);
        const double limit = firstX + (column + 1) * width;
        std::size_t stop = start + 1;
        while (stop < to && series.x[stop] < limit) ++stop;
        addColumn(series, start, stop, out);
        start = stop;
    }
    return out;
}

Series lonePoints(const Series& series) {
    Series lone;
    const auto isGap = [&](std::size_t i) { return std::isnan(series.y[i]); };
    for (std::size_t i = 0; i < series.size(); ++i) {
        const bool openLeft = i == 0 || isGap(i - 1);
        const bool openRight = i + 1 == series.size() || isGap(i + 1);
        if (!isGap(i) && openLeft && openRight) lone.add(series.x[i], series.y[i]);
    }
    return lone;
}

Log2Series toLog2(const Series& series) {
    Log2Series result;
    result.line.x = series.x;
    result.line.y.reserve(series.size());
    for (std::size_t i = 0; i < series.size(); ++i) {
        const double value = series.y[i];
        const bool drawable = std::isfinite(value) && value > 0;
        result.line.y.push_back(drawable ? std::log2(value) : kGap);
        if (drawable || value == kNotRecorded) continue;
        auto& marks = std::isnan(value) ? result.nansAt : (value > 0 ? result.infinitesAt : result.zerosAt);
        marks.push_back(series.x[i]);
    }
    return result;
}

Series smoothed(const Series& series, double weight) {
    const std::vector<double> forward = averaged(series.y.begin(), series.y.end(), weight);
    const std::vector<double> backward = averaged(series.y.rbegin(), series.y.rend(), weight);
    Series out;
    out.x = series.x;
    for (std::size_t i = 0; i < forward.size(); ++i) {
        out.y.push_back((forward[i] + backward[forward.size() - 1 - i]) / 2);
    }
    return out;
}

std::size_t nearestIndex(const Series& series, double x) {
    const auto right = std::lower_bound(series.x.begin(), series.x.end(), x);
    if (right == series.x.end()) return series.empty() ? 0 : series.size() - 1;
    const std::size_t index = static_cast<std::size_t>(right - series.x.begin());
    if (index > 0 && x - series.x[index - 1] < series.x[index] - x) return index - 1;
    return index;
}

std::vector<std::size_t> paretoFront(const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (std::isfinite(x[i]) && std::isfinite(y[i])) order.push_back(i);
    }
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return x[a] != x[b] ? x[a] > x[b] : y[a] < y[b]; });
    std::vector<std::size_t> front;
    for (const std::size_t i : order) {
        if (front.empty() || y[i] < y[front.back()]) front.push_back(i);
    }
    std::reverse(front.begin(), front.end());
    return front;
}

}  // namespace gui
