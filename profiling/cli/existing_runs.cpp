// Runs named on the command line; see existing_runs.h.
#include "existing_runs.h"

#include "arguments.h"

namespace cli {

std::vector<profiling::RunRow> existingRuns(const std::string& database, const std::vector<std::string>& ids) {
    const std::unique_ptr<profiling::Store> store = profiling::Store::open(database);
    std::vector<profiling::RunRow> runs;
    for (const std::int64_t id : runIds(ids)) runs.push_back(store->run({id}));
    return runs;
}

}  // namespace cli
