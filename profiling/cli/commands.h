// The commands. Each adds its options to the application and sets `run` when the user chose it; main calls that
// after the whole command line was read and found free of unknown words.
#pragma once

#include <CLI/App.hpp>

#include <functional>

namespace cli {

/// Returns the exit code; throws what reportCurrentException() knows.
using Action = std::function<int()>;

void addTrain(CLI::App& app, Action& run);
void addBench(CLI::App& app, Action& run);
void addGenerate(CLI::App& app, Action& run);
void addRuns(CLI::App& app, Action& run);
void addShow(CLI::App& app, Action& run);
void addCompare(CLI::App& app, Action& run);
void addExport(CLI::App& app, Action& run);
void addRename(CLI::App& app, Action& run);
void addDelete(CLI::App& app, Action& run);
void addInspect(CLI::App& app, Action& run);
void addDoctor(CLI::App& app, Action& run);
void addPresets(CLI::App& app, Action& run);

/// Adds one command: `options` stays alive as long as the application, `action` gets it.
template <typename Options>
CLI::App& addCommand(CLI::App& app, Action& run, const std::string& name, const std::string& help,
                     const std::string& example, std::shared_ptr<Options> options, int (*action)(const Options&)) {
    CLI::App* command = app.add_subcommand(name, help);
    command->footer("Example:\n  " + example);
    command->allow_extras();
    command->callback([&run, options, action] { run = [options, action] { return action(*options); }; });
    return *command;
}

}  // namespace cli
