// What happens to numbers between a query and a plot: thinning to the pixels there are, gaps where a value cannot be
// drawn, log2 with marks for zeros and infinities, smoothing. Knows no widgets.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace gui {

/// Value of a point on a log2 plot where nothing was recorded: a gap without a mark, unlike a recorded NaN.
inline constexpr double kNotRecorded = -std::numeric_limits<double>::infinity();

/// Points by ascending x. A NaN in y is a gap: no line is drawn across it.
struct Series {
    std::vector<double> x;
    std::vector<double> y;

    std::size_t size() const { return x.size(); }
    bool empty() const { return x.empty(); }
    void add(double atX, double value) {
        x.push_back(atX);
        y.push_back(value);
    }
    void clear() {
        x.clear();
        y.clear();
    }
};

struct Limits {
    double low = 0;
    double high = 0;
    bool valid = false;  // false: no finite value seen
    void include(double value);
    void include(const Limits& other);
};

/// Least and greatest finite y.
Limits finiteLimits(const Series& series);

/// At most about five points per column within [firstX, lastX] and one neighbour on each side: a column keeps its
/// first, last, least and greatest value and a gap if it has one, so no peak and no gap is lost.
Series decimate(const Series& series, double firstX, double lastX, int columns);

/// Points between two gaps: a line cannot show them, so they are drawn as dots.
Series lonePoints(const Series& series);

/// log2 of every value. Zero, negative and non-finite values become gaps; where they were is kept for marks, except
/// for kNotRecorded.
struct Log2Series {
    Series line;
    std::vector<double> zerosAt;      // x of values that are 0 (or negative)
    std::vector<double> infinitesAt;  // x of +inf
    std::vector<double> nansAt;       // x of NaN
};
Log2Series toLog2(const Series& series);

/// Exponential moving average run forwards and backwards, so that a falling curve is not drawn late; weight 0 leaves
/// the series as it is, 0.9 averages over about ten points each way. Gaps stay gaps and do not disturb the average.
Series smoothed(const Series& series, double weight);

/// Index of the point whose x is nearest; size() for an empty series.
std::size_t nearestIndex(const Series& series, double x);

/// Indices of points that no other point beats in both: greater x and lesser y are better. By ascending x.
std::vector<std::size_t> paretoFront(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace gui
