// A run's row as JSON, shared by the commands that print runs.
#pragma once

#include "json_lines.h"
#include "profiling/queries.h"

namespace cli {

/// Everything but steps and snapshots; configuration and machine as nested objects.
Json runJson(const profiling::RunRow& run);

}  // namespace cli
