// Writing runs as text for other programs. Numbers use a decimal point and enough digits to read back the same value.
#pragma once

#include "profiling/queries.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace profiling {

enum class TextFormat : std::uint8_t { Csv = 1, Json = 2 };

/// CSV: RFC 4180 (CRLF lines, quotes doubled), one header line, one of: "runs", "steps", "snapshots", "kernels",
/// "ranges", "events", "samples", "generations", "tensors", "import_issues", "exponents" (one line per binade). What a
/// tensor that was not cast does not have is an empty field. Throws Error (Usage) for another table, naming these.
void exportCsv(Store& store, const std::vector<RunId>& runs, const std::string& table, std::ostream& out);
std::vector<std::string> exportTables();

/// JSON: one object {"runs":[…]} with configuration, machine, steps, tensors with their snapshots and exponent
/// histograms, kernels, events, samples, generations and import issues of each run. Non-finite numbers become the
/// strings "inf",
/// "-inf", "nan"; what a tensor that was not cast does not have is null.
void exportJson(Store& store, const std::vector<RunId>& runs, std::ostream& out);

}  // namespace profiling
