// amaxscope-cli: reads the command line, runs one command, and turns any error into one line and an exit code.
#include "commands.h"
#include "messages.h"
#include "signals.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace {

void addCommands(CLI::App& app, cli::Action& run) {
    cli::addTrain(app, run);
    cli::addBench(app, run);
    cli::addGenerate(app, run);
    cli::addRuns(app, run);
    cli::addShow(app, run);
    cli::addCompare(app, run);
    cli::addExport(app, run);
    cli::addRename(app, run);
    cli::addDelete(app, run);
    cli::addInspect(app, run);
    cli::addDoctor(app, run);
    cli::addPresets(app, run);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Trains small Transformers in FP32, BF16 and FP8, records every scale, and compares the runs.",
                 "amaxscope-cli");
    app.footer(
        "Examples:\n"
        "  amaxscope-cli train --preset tutorial --precision fp8 --data stride --steps 300\n"
        "  amaxscope-cli bench --precisions fp32,bf16,fp8 --repeats 10\n"
        "  amaxscope-cli runs\n"
        "Help on one command: amaxscope-cli train --help");
    app.set_version_flag("--version", std::string("amaxscope-cli ") + AMAXSCOPE_VERSION);
    app.get_formatter()->column_width(34);
    app.allow_extras();
    cli::reportFileSizeLimit();
    cli::Action run;
    addCommands(app, run);
    try {
        app.parse(argc, argv);
        cli::rejectExtras(app);
        if (!run) throw cli::UsageError("command", "none was given", "see amaxscope-cli --help");
        const int code = run();
        cli::requireOutputWritten();
        return code;
    } catch (const CLI::CallForHelp& help) {
        return app.exit(help);
    } catch (const CLI::CallForVersion& version) {
        return app.exit(version);
    } catch (const CLI::ParseError& error) {
        cli::printError(cli::describe(error));
        return cli::kBadUsage;
    } catch (...) {
        return cli::reportCurrentException();
    }
}
