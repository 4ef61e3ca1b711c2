// amaxscope-cli runs: the runs in a database, newest first.
#include "arguments.h"
#include "commands.h"
#include "json_lines.h"
#include "messages.h"
#include "profiling/queries.h"
#include "run_json.h"
#include "table.h"

#include <fmt/format.h>

#include <iostream>

namespace cli {
namespace {

struct RunsOptions {
    std::string database;
    bool json = false;
};

int listRuns(const RunsOptions& options) {
    const std::unique_ptr<profiling::Store> store = profiling::Store::open(options.database);
    const std::vector<profiling::RunRow> runs = store->runs();
    if (options.json) {
        for (const profiling::RunRow& run : runs) printJsonLine(runJson(run));
        return kDone;
    }
    if (runs.empty()) {
        std::cout << options.database << " holds no runs yet" << std::endl;
        return kDone;
    }
    Table table({"id", "status", "name", "precision", "steps", "loss", "val loss", "tokens/s", "started", "benchmark"},
                {Align::Right, Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Right,
                 Align::Right, Align::Left, Align::Left});
    for (const profiling::RunRow& run : runs) {
        table.add({std::to_string(run.id.value), profiling::name(run.status), run.name,
                   run.description.precision + (run.description.emulated ? " (emulated)" : ""),
                   fmt::format("{}/{}", run.lastStep + 1, run.description.stepsPlanned), fixed(run.lastLoss, 4),
                   fixed(run.valLoss, 4), run.tokensPerSecond > 0 ? grouped(run.tokensPerSecond) : "n/a",
                   localTime(run.startedAtNs), run.benchName + (run.isBaseline ? " (baseline)" : "")});
    }
    std::cout << table.text() << std::flush;
    return kDone;
}

}  // namespace

void addRuns(CLI::App& app, Action& run) {
    const auto options = std::make_shared<RunsOptions>();
    CLI::App& command = addCommand<RunsOptions>(app, run, "runs", "List the runs in a database",
                                                "amaxscope-cli runs --db a.amax", options, listRuns);
    addDatabase(command, options->database);
    command.add_flag("--json", options->json, "one JSON object per run on stdout");
}

}  // namespace cli
