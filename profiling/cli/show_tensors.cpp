// Implementation of show --tensors and show --exponents.
#include "show_tensors.h"

#include "json_lines.h"
#include "messages.h"
#include "profiling/metrics.h"
#include "table.h"
#include "token_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

namespace cli {
namespace {

using profiling::ShareBounds;
using profiling::SnapshotRow;
using profiling::TensorRow;

constexpr std::int64_t kBarWidth = 40;

std::string boundsText(const ShareBounds& bounds) {
    const std::string least = shareText(bounds.atLeast);
    const std::string most = shareText(bounds.atMost);
    return least == most ? least : fmt::format("{} to {}", least, most);
}

std::string shape(const TensorRow& tensor) {
    return fmt::format("{}x{}", tensor.rows, tensor.cols);
}

Json tensorHead(const TensorRow& tensor) {
    return {{"tensor", tensor.fullName()}, {"layer", tensor.layer}, {"role", tensor.role},
            {"format", tensor.format},     {"rows", tensor.rows},   {"cols", tensor.cols}};
}

Json figuresJson(const TensorRow& tensor, const SnapshotRow& s) {
    Json json = tensorHead(tensor);
    json.update({{"step", s.step},
                 {"count", s.count},
                 {"amax", jsonNumber(s.amax)},
                 {"scale", orNull(s.scale)},
                 {"scale_inv_min", orNull(s.scaleInvMin)},
                 {"scale_inv_max", orNull(s.scaleInvMax)},
                 {"smallest", orNull(s.smallest)},
                 {"headroom_bits", orNull(profiling::headroomBits(s, tensor.format))},
                 {"saturated_share", orNull(profiling::saturatedShare(s))},
                 {"underflowed_share", orNull(profiling::underflowedShare(s))},
                 {"sqnr_db", orNull(profiling::sqnrDb(s))},
                 {"dynamic_range_bits", orNull(profiling::dynamicRangeBits(s))}});
    return json;
}

/// One scale per tensor that a format is asked about.
struct Trial {
    std::string format;
    double scale;
    const char* origin;
};

/// The scale that the step used, if it used one for the whole tensor, and for each format the one that puts this step's
/// amax on its largest value.
std::vector<Trial> trialsFor(const TensorRow& tensor, const SnapshotRow& snapshot) {
    std::vector<Trial> trials;
    const bool oneScale = profiling::isCast(snapshot) && !(snapshot.scaleInvMin < snapshot.scaleInvMax);
    if (oneScale && !std::isnan(profiling::formatMax(tensor.format))) {
        trials.push_back({tensor.format, snapshot.scale, "used"});
    }
    if (!(snapshot.amax > 0) || std::isinf(snapshot.amax)) return trials;
    for (const char* format : {"E4M3", "E5M2", "E2M1"}) {
        trials.push_back({format, profiling::formatMax(format) / snapshot.amax, "of this amax"});
    }
    return trials;
}

struct Histogram {
    TensorRow tensor;
    profiling::ExponentRow exponents;
    SnapshotRow snapshot;
};

TensorRow tensorNamed(profiling::Store& store, profiling::RunId run, const std::string& name) {
    std::vector<std::string> names;
    for (const TensorRow& tensor : store.tensors(run)) {
        if (tensor.fullName() == name) return tensor;
        names.push_back(tensor.fullName());
    }
    const std::string near = nearest(name, names);
    throw UsageError("--exponents " + name, fmt::format("run {} has no such tensor", run.value),
                     (near.empty() ? "" : "did you mean " + near + "? ") +
                         fmt::format("see amaxscope-cli show {} --tensors", run.value));
}

Histogram histogramOf(profiling::Store& store, profiling::RunId run, const std::string& name, std::int64_t step) {
    const TensorRow tensor = tensorNamed(store, run, name);
    const std::optional<profiling::ExponentRow> exponents = store.exponentsAt(run, tensor.id, step);
    if (!exponents) {
        const std::vector<std::int64_t> steps = store.exponentSteps(run, tensor.id);
        throw UsageError("--exponents " + name,
                         "there is no exponent histogram" +
                             (step == kLastStep ? std::string() : " at or before step " + std::to_string(step)),
                         steps.empty() ? "record the run with --exponents-every 10"
                                       : "the first one is that of step " + std::to_string(steps.front()));
    }
    const std::optional<SnapshotRow> snapshot = store.snapshotAt(run, tensor.id, exponents->step);
    if (!snapshot || snapshot->step != exponents->step) {
        throw profiling::Error(profiling::ErrorKind::Failure, name,
                               "step " + std::to_string(exponents->step) + " has a histogram and no snapshot",
                               "use a copy of the file made earlier");
    }
    return {tensor, *exponents, *snapshot};
}

Json boundsJson(const ShareBounds& bounds) {
    return {{"at_least", orNull(bounds.atLeast)}, {"at_most", orNull(bounds.atMost)}};
}

Json histogramJson(const Histogram& histogram, const std::vector<std::int64_t>& steps) {
    Json json = figuresJson(histogram.tensor, histogram.snapshot);
    json["first_exponent"] = histogram.exponents.firstExponent;
    json["counts"] = histogram.exponents.counts;
    json["steps"] = steps;
    json["formats"] = Json::array();
    for (const Trial& trial : trialsFor(histogram.tensor, histogram.snapshot)) {
        json["formats"].push_back(
            {{"format", trial.format},
             {"scale", jsonNumber(trial.scale)},
             {"scale_is", trial.origin},
             {"below_subnormal",
              boundsJson(belowSubnormalShare(histogram.exponents, histogram.snapshot, trial.format, trial.scale))},
             {"above_max",
              boundsJson(aboveMaxShare(histogram.exponents, histogram.snapshot, trial.format, trial.scale))}});
    }
    return json;
}

void printBinades(const Histogram& histogram) {
    const std::vector<std::uint32_t>& counts = histogram.exponents.counts;
    const auto all = static_cast<double>(histogram.snapshot.count);
    std::int64_t most = 1;
    std::int64_t counted = 0;
    for (const std::uint32_t count : counts) {
        most = std::max<std::int64_t>(most, count);
        counted += count;
    }
    std::cout << "\nElements with 2^e <= |x| < 2^(e+1)\n";
    Table table({"e", "elements", "share", ""}, {Align::Right, Align::Right, Align::Right, Align::Left});
    for (std::size_t i = counts.size(); i-- > 0;) {
        const std::int64_t bar = (counts[i] * kBarWidth + most - 1) / most;
        table.add({std::to_string(histogram.exponents.firstExponent + static_cast<int>(i)), std::to_string(counts[i]),
                   shareText(counts[i] / all), std::string(static_cast<std::size_t>(bar), '#')});
    }
    std::cout << table.text("  ")
              << fmt::format("  in no binade: {} (zeros, FP32 subnormals, infinities, NaN)\n",
                             histogram.snapshot.count - counted);
}

void printTrials(const Histogram& histogram) {
    const std::vector<Trial> trials = trialsFor(histogram.tensor, histogram.snapshot);
    if (trials.empty()) return;
    std::cout << "\nOutside a format with one scale for the tensor (share of all elements)\n";
    Table table({"format", "scale", "", "below its smallest", "above its largest"},
                {Align::Left, Align::Right, Align::Left, Align::Right, Align::Right});
    for (const Trial& trial : trials) {
        table.add({trial.format, significant(trial.scale), trial.origin,
                   boundsText(belowSubnormalShare(histogram.exponents, histogram.snapshot, trial.format, trial.scale)),
                   boundsText(aboveMaxShare(histogram.exponents, histogram.snapshot, trial.format, trial.scale))});
    }
    std::cout << table.text("  ");
}

void printHistogram(const Histogram& histogram) {
    const SnapshotRow& s = histogram.snapshot;
    const std::string range = decimals(profiling::dynamicRangeBits(s));
    std::cout << fmt::format("{} ({}, {}) at step {}\n", oneLine(histogram.tensor.fullName()),
                             oneLine(histogram.tensor.format), shape(histogram.tensor), s.step)
              << fmt::format("  amax {}, smallest {}, dynamic range {}\n", significant(s.amax),
                             std::isnan(s.smallest) ? "n/a" : significant(s.smallest),
                             range.empty() ? "n/a" : range + " bits")
              << (profiling::isCast(s) ? fmt::format("  scale {}, headroom {} bits, SQNR {} dB\n", significant(s.scale),
                                                     decimals(profiling::headroomBits(s, histogram.tensor.format)),
                                                     decimals(profiling::sqnrDb(s)))
                                       : std::string("  not cast at this step\n"));
    printBinades(histogram);
    printTrials(histogram);
}

}  // namespace

void showTensors(profiling::Store& store, const profiling::RunRow& run, std::int64_t step, bool json) {
    Json rows = Json::array();
    Table table({"tensor", "format", "shape", "step", "amax", "scale", "scale_inv", "headroom", "saturated",
                 "underflow", "SQNR dB", "range"},
                {Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                 Align::Right, Align::Right, Align::Right, Align::Right, Align::Right});
    for (const TensorRow& tensor : store.tensors(run.id)) {
        const std::optional<SnapshotRow> s = store.snapshotAt(run.id, tensor.id, step);
        if (!s) continue;
        rows.push_back(figuresJson(tensor, *s));
        table.add({tensor.fullName(), tensor.format, shape(tensor), std::to_string(s->step), significant(s->amax),
                   significant(s->scale), rangeText(s->scaleInvMin, s->scaleInvMax),
                   decimals(profiling::headroomBits(*s, tensor.format)), shareText(profiling::saturatedShare(*s)),
                   shareText(profiling::underflowedShare(*s)), decimals(profiling::sqnrDb(*s)),
                   decimals(profiling::dynamicRangeBits(*s))});
    }
    const std::string upTo = step == kLastStep ? "" : " up to step " + std::to_string(step);
    if (json) {
        printJsonLine({{"type", "tensors"}, {"run", run.id.value}, {"name", run.name}, {"tensors", std::move(rows)}});
    } else if (rows.empty()) {
        std::cout << fmt::format("run {} has no tensor snapshots{}\n", run.id.value, upTo);
    } else {
        std::cout << fmt::format(
                         "Tensors of run {}, newest snapshots{}; headroom and range in bits, shares of all elements\n",
                         run.id.value, upTo)
                  << table.text("  ");
    }
}

void showExponents(profiling::Store& store, const profiling::RunRow& run, const std::string& tensor, std::int64_t step,
                   bool json) {
    const Histogram histogram = histogramOf(store, run.id, tensor, step);
    if (!json) {
        printHistogram(histogram);
        return;
    }
    Json line = {{"type", "exponents"}, {"run", run.id.value}, {"name", run.name}};
    line.update(histogramJson(histogram, store.exponentSteps(run.id, histogram.tensor.id)));
    printJsonLine(line);
}

}  // namespace cli
