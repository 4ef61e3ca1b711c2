// amaxscope-cli rename: gives a run another name.
#include "arguments.h"
#include "commands.h"
#include "existing_runs.h"
#include "messages.h"
#include "token_text.h"

#include <iostream>

namespace cli {
namespace {

struct RenameOptions {
    std::string database;
    std::vector<std::string> words;
};

int renameRun(const RenameOptions& options) {
    if (options.words.size() != 2) {
        throw UsageError("rename", "needs a run id and a name", "write: amaxscope-cli rename 3 \"new name\"");
    }
    const std::string& newName = options.words[1];
    if (newName.empty()) throw UsageError("rename", "the name is empty", "give one letter or more");
    const profiling::RunId run = existingRuns(options.database, {options.words[0]}).front().id;
    profiling::Session::open(options.database)->renameRun(run, newName);
    std::cout << "run " << run.value << " is now: " << oneLine(newName) << std::endl;
    return kDone;
}

}  // namespace

void addRename(CLI::App& app, Action& run) {
    const auto options = std::make_shared<RenameOptions>();
    CLI::App& command =
        addCommand<RenameOptions>(app, run, "rename", "Give a run another name",
                                  "amaxscope-cli rename 3 \"fp8, long history\" --db a.amax", options, renameRun);
    command.add_option("ID NAME", options->words, "run id, as listed by runs, and the new name")->type_name("");
    addDatabase(command, options->database);
}

}  // namespace cli
