// The derived numbers that views, reports and the command line show, each defined once. See resources/docs/numbers.md.
#pragma once

#include "profiling/queries.h"

#include <span>
#include <string>

namespace profiling {

/// Largest finite value of "E4M3" (448), "E5M2" (57344) or "E2M1" (6). NaN for "BF16" and "FP32": nothing is scaled
/// into these, so they have no limits here. Throws Error (Usage) for another name.
double formatMax(const std::string& format);
double formatMinNormal(const std::string& format);
double formatMinSubnormal(const std::string& format);

/// Whether the tensor was cast at this step. Where it was not, there is no headroom, share, SQNR or stale factor: NaN.
bool isCast(const SnapshotRow& snapshot);

/// Bits below saturation, log2(max / (amax·scale)); negative: saturated; +inf for amax 0; NaN for amax NaN.
/// Block recipes: of the block with the largest amax, whose scale is the one recorded.
double headroomBits(const SnapshotRow& snapshot, const std::string& format);
double saturatedShare(const SnapshotRow& snapshot);    // of all elements
double underflowedShare(const SnapshotRow& snapshot);  // of all elements
/// 10·log10(Σx² / Σ(x−q)²) dB; +inf without error, NaN without signal.
double sqnrDb(const SnapshotRow& snapshot);
/// scale used ÷ scale that this step's amax would give; above 1: the scale was too large for this step.
double staleFactor(const SnapshotRow& snapshot, const std::string& format, int margin);
/// Bits between the largest and the smallest element that is not 0, log2(amax) − log2(smallest); NaN: not looked for,
/// or all are 0.
double dynamicRangeBits(const SnapshotRow& snapshot);

/// The same of a tensor in a model file.
double saturatedShare(const InspectedTensor& tensor);
double underflowedShare(const InspectedTensor& tensor);
double sqnrDb(const InspectedTensor& tensor);
double dynamicRangeBits(const InspectedTensor& tensor);

/// A share of all elements, 0 … 1, as far as a histogram tells it: a limit inside a binade leaves open on which side
/// its elements are.
struct ShareBounds {
    double atLeast;
    double atMost;
};
/// Shares of the elements x with 0 < |x·scale| < the format's smallest subnormal, and with |x·scale| > its largest
/// value. `exponents` and `snapshot` are of the same tensor and step, `format` and `scale` any that are asked about;
/// infinities are in neither. NaN when the tensor has no elements or the format no limits.
ShareBounds belowSubnormalShare(const ExponentRow& exponents, const SnapshotRow& snapshot, const std::string& format,
                                double scale);
ShareBounds aboveMaxShare(const ExponentRow& exponents, const SnapshotRow& snapshot, const std::string& format,
                          double scale);

double tokensPerSecond(const StepRow& step);

struct Spread {
    std::size_t count = 0;
    double min = 0, q1 = 0, median = 0, q3 = 0, max = 0;  // linear interpolation between order statistics
};
/// Ignores NaN; all zeros when nothing is left.
Spread spread(std::span<const double> values);

}  // namespace profiling
