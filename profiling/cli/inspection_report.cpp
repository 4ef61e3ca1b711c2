// Tables and JSON lines of inspections; see inspection_report.h.
#include "inspection_report.h"

#include "engine/inspection.h"
#include "json_lines.h"
#include "profiling/metrics.h"
#include "table.h"
#include "token_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>

namespace cli {
namespace {

using profiling::InspectedTensor;

struct RecipeRows {
    std::vector<const InspectedTensor*> rows;
    InspectedTensor total;  // of all rows together
};

void addTo(InspectedTensor& total, const InspectedTensor& row) {
    total.count += row.count;
    total.amax = std::fmax(total.amax, row.amax);
    total.smallest = std::fmin(total.smallest, row.smallest);
    total.scaleInvMin = std::fmin(total.scaleInvMin, row.scaleInvMin);
    total.scaleInvMax = std::fmax(total.scaleInvMax, row.scaleInvMax);
    total.saturated += row.saturated;
    total.underflowed += row.underflowed;
    total.zeros += row.zeros;
    total.nonFinite += row.nonFinite;
    total.sqError += row.sqError;
    total.sqSignal += row.sqSignal;
}

std::vector<RecipeRows> byRecipe(const std::vector<InspectedTensor>& tensors) {
    std::vector<RecipeRows> groups;
    for (const InspectedTensor& row : tensors) {
        auto group = std::find_if(groups.begin(), groups.end(),
                                  [&](const RecipeRows& known) { return known.total.recipe == row.recipe; });
        if (group == groups.end()) {
            groups.emplace_back();
            group = groups.end() - 1;
            group->total.recipe = row.recipe;
            group->total.format = row.format;
            group->total.role = row.role;
        }
        group->rows.push_back(&row);
        addTo(group->total, row);
    }
    return groups;
}

double zerosShare(const InspectedTensor& tensor) {
    return tensor.count > 0 ? static_cast<double>(tensor.zeros) / static_cast<double>(tensor.count) : std::nan("");
}

/// "" too for a recipe that only a later program knows.
std::string shapeProblem(const InspectedTensor& tensor) {
    for (const std::string& word : engine::choices<engine::RecipeKind>()) {
        if (word != tensor.recipe) continue;
        return engine::weightShapeProblem(engine::parse<engine::RecipeKind>(word), tensor.rows, tensor.cols);
    }
    return "";
}

std::vector<std::string> cells(const std::string& name, const std::string& shape, const InspectedTensor& t,
                               const std::string& note) {
    return {name,
            t.dtype,
            shape,
            significant(t.amax),
            rangeText(t.scaleInvMin, t.scaleInvMax),
            decimals(profiling::sqnrDb(t)),
            shareText(profiling::saturatedShare(t)),
            shareText(profiling::underflowedShare(t)),
            shareText(zerosShare(t)),
            decimals(profiling::dynamicRangeBits(t)),
            note};
}

Json figures(const InspectedTensor& t) {
    return {{"count", t.count},
            {"amax", orNull(t.amax)},
            {"smallest", orNull(t.smallest)},
            {"scale_inv_min", orNull(t.scaleInvMin)},
            {"scale_inv_max", orNull(t.scaleInvMax)},
            {"saturated", t.saturated},
            {"underflowed", t.underflowed},
            {"zeros", t.zeros},
            {"non_finite", t.nonFinite},
            {"sq_error", jsonNumber(t.sqError)},
            {"sq_signal", jsonNumber(t.sqSignal)},
            {"saturated_share", orNull(profiling::saturatedShare(t))},
            {"underflowed_share", orNull(profiling::underflowedShare(t))},
            {"zeros_share", orNull(zerosShare(t))},
            {"sqnr_db", orNull(profiling::sqnrDb(t))},
            {"dynamic_range_bits", orNull(profiling::dynamicRangeBits(t))}};
}

void printGroup(const RecipeRows& group) {
    Table table(
        {"tensor", "dtype", "shape", "amax", "scale_inv", "SQNR dB", "saturated", "underflow", "zeros", "range", ""},
        {Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
         Align::Right, Align::Right, Align::Left});
    std::string firstProblem;
    for (const InspectedTensor* row : group.rows) {
        const std::string problem = shapeProblem(*row);
        if (firstProblem.empty()) firstProblem = problem;
        table.add(cells(row->tensor, fmt::format("{}x{}", row->rows, row->cols), *row,
                        problem.empty() ? "" : "shape not trainable"));
    }
    table.add(cells(fmt::format("all {}", group.rows.size()), grouped(static_cast<double>(group.total.count)),
                    group.total, ""));
    std::cout << fmt::format("\n{} ({}, as {})\n", oneLine(group.total.recipe), oneLine(group.total.format),
                             oneLine(group.total.role))
              << table.text("  ");
    if (group.total.nonFinite > 0) std::cout << fmt::format("  infinite or NaN: {}\n", group.total.nonFinite);
    if (!firstProblem.empty()) std::cout << "  shape not trainable, the first: " << firstProblem << "\n";
}

}  // namespace

void printInspected(const std::vector<InspectedTensor>& tensors) {
    for (const RecipeRows& group : byRecipe(tensors)) printGroup(group);
}

void printInspectedJson(const std::string& path, const std::vector<InspectedTensor>& tensors) {
    for (const InspectedTensor& row : tensors) {
        const std::string problem = shapeProblem(row);
        Json line = {{"type", "tensor"},     {"path", path},     {"tensor", row.tensor},
                     {"recipe", row.recipe}, {"role", row.role}, {"format", row.format},
                     {"dtype", row.dtype},   {"rows", row.rows}, {"cols", row.cols}};
        line.update(figures(row));
        line["shape_problem"] = problem.empty() ? Json(nullptr) : Json(problem);
        printJsonLine(line);
    }
    for (const RecipeRows& group : byRecipe(tensors)) {
        Json line = {{"type", "total"},
                     {"path", path},
                     {"recipe", group.total.recipe},
                     {"format", group.total.format},
                     {"tensors", group.rows.size()}};
        line.update(figures(group.total));
        printJsonLine(line);
    }
}

void printInspections(const std::vector<profiling::InspectionRow>& inspections) {
    Table table({"inspection", "when", "model file", "names", "tensors", "results"},
                {Align::Right, Align::Left, Align::Left, Align::Left, Align::Right, Align::Right});
    for (const profiling::InspectionRow& row : inspections) {
        const std::string& architecture = row.description.architecture;
        table.add({std::to_string(row.id.value), localTime(row.atNs), row.description.path,
                   architecture.empty() ? "-" : architecture, std::to_string(row.description.tensors),
                   std::to_string(row.inspected)});
    }
    std::cout << table.text("  ");
}

void printInspectionJson(const profiling::InspectionRow& row) {
    const std::string& architecture = row.description.architecture;
    printJsonLine({{"type", "inspection"},
                   {"inspection", row.id.value},
                   {"uuid", row.uuid},
                   {"at_ns", row.atNs},
                   {"program_version", row.programVersion},
                   {"path", row.description.path},
                   {"architecture", architecture.empty() ? Json(nullptr) : Json(architecture)},
                   {"tensors", row.description.tensors},
                   {"results", row.inspected}});
}

}  // namespace cli
