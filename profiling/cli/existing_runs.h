// Runs named on the command line, looked up before anything is changed: a typo changes nothing and creates no file.
#pragma once

#include "profiling/queries.h"

#include <string>
#include <vector>

namespace cli {

/// Throws profiling::Error when there is no database at this path, or no such run in it.
std::vector<profiling::RunRow> existingRuns(const std::string& database, const std::vector<std::string>& ids);

}  // namespace cli
