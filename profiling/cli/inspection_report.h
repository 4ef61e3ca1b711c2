// How inspections of weight files are shown, fresh or from a database: a table for each recipe, or JSON lines.
#pragma once

#include "profiling/inspections.h"

#include <string>
#include <vector>

namespace cli {

/// A table for each recipe in the order of their first rows, each with a line for all its tensors together.
void printInspected(const std::vector<profiling::InspectedTensor>& tensors);
/// A "tensor" object for each row, then a "total" object for each recipe.
void printInspectedJson(const std::string& path, const std::vector<profiling::InspectedTensor>& tensors);

void printInspections(const std::vector<profiling::InspectionRow>& inspections);
void printInspectionJson(const profiling::InspectionRow& inspection);

}  // namespace cli
