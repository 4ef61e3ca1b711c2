// amaxscope-cli delete: hides runs, brings them back, or removes all hidden ones for good.
#include "arguments.h"
#include "commands.h"
#include "existing_runs.h"
#include "messages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>

namespace cli {
namespace {

struct DeleteOptions {
    std::string database;
    std::vector<std::string> ids;
    bool undo = false;
    bool purge = false;
};

void requireSense(const DeleteOptions& options) {
    if (options.undo && options.purge) {
        throw UsageError("--purge", "cannot be undone", "leave out --undo or --purge");
    }
    if (options.purge && !options.ids.empty()) {
        throw UsageError("--purge", "removes all deleted runs, not single ones",
                         "delete the runs first, then: amaxscope-cli delete --purge");
    }
    if (!options.purge && options.ids.empty()) {
        throw UsageError("delete", "needs a run id or more", "see amaxscope-cli runs, then: amaxscope-cli delete 3");
    }
}

void hide(const std::string& database, const std::vector<std::string>& ids) {
    std::vector<profiling::RunId> runs;
    for (const profiling::RunRow& run : existingRuns(database, ids)) {
        if (run.status == profiling::RunStatus::Running) {
            throw UsageError("run " + std::to_string(run.id.value), "is being recorded", "stop it first");
        }
        runs.push_back(run.id);
    }
    profiling::Session::open(database)->setRunsDeleted(runs, true);
    std::cout << fmt::format("deleted: run {}; back again with: amaxscope-cli delete --undo {} --db {}\n",
                             fmt::join(ids, ", "), fmt::join(ids, " "), database)
              << std::flush;
}

void bringBack(const std::string& database, const std::vector<std::string>& ids) {
    std::vector<profiling::RunId> runs;
    for (const std::int64_t id : runIds(ids)) runs.push_back({id});
    existingRuns(database, {});
    profiling::Session::open(database)->setRunsDeleted(runs, false);
    existingRuns(database, ids);  // names the id that was never there
    std::cout << fmt::format("back again: run {}\n", fmt::join(ids, ", ")) << std::flush;
}

void purge(const std::string& database) {
    existingRuns(database, {});
    profiling::Session::open(database)->purgeDeletedRuns();
    std::cout << "deleted runs are removed for good from " << database << std::endl;
}

int deleteRuns(const DeleteOptions& options) {
    requireSense(options);
    if (options.purge) {
        purge(options.database);
    } else if (options.undo) {
        bringBack(options.database, options.ids);
    } else {
        hide(options.database, options.ids);
    }
    return kDone;
}

}  // namespace

void addDelete(CLI::App& app, Action& run) {
    const auto options = std::make_shared<DeleteOptions>();
    CLI::App& command = addCommand<DeleteOptions>(app, run, "delete", "Delete runs; --undo brings them back",
                                                  "amaxscope-cli delete 3 4 --db a.amax", options, deleteRuns);
    command.add_option("IDS", options->ids, "run ids, as listed by runs")->type_name("");
    addDatabase(command, options->database);
    command.add_flag("--undo", options->undo, "bring deleted runs back");
    command.add_flag("--purge", options->purge, "remove all deleted runs for good; takes no ids");
}

}  // namespace cli
