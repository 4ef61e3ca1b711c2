// The derived numbers that views, reports and the command line show, each defined once. See resources/docs/numbers.md.
#pragma once

#include "profiling/queries.h"

#include <span>
#include <string>

namespace profiling {

/// Largest finite value of "E4M3" (448) or "E5M2" (57344); throws Error (Usage) for another name.
double formatMax(const std::string& format);
double formatMinNormal(const std::string& format);

/// Bits below saturation, log2(max / (amax·scale)); negative: saturated; +inf for amax 0; NaN for amax NaN.
double headroomBits(const SnapshotRow& snapshot, const std::string& format);
double saturatedShare(const SnapshotRow& snapshot);    // of all elements
double underflowedShare(const SnapshotRow& snapshot);  // of all elements
/// 10·log10(Σx² / Σ(x−q)²) dB; +inf without error, NaN without signal.
double sqnrDb(const SnapshotRow& snapshot);
/// scale used ÷ scale that this step's amax would give; above 1: the scale was too large for this step.
double staleFactor(const SnapshotRow& snapshot, const std::string& format, int margin);

double tokensPerSecond(const StepRow& step);

struct Spread {
    std::size_t count = 0;
    double min = 0, q1 = 0, median = 0, q3 = 0, max = 0;  // linear interpolation between order statistics
};
/// Ignores NaN; all zeros when nothing is left.
Spread spread(std::span<const double> values);

}  // namespace profiling
