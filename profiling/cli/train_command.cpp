// amaxscope-cli train: one run into the database, with progress, validation, checkpoint and resume.
#include "arguments.h"
#include "commands.h"
#include "json_lines.h"
#include "messages.h"
#include "progress.h"
#include "run_options.h"
#include "signals.h"
#include "table.h"

#include <fmt/format.h>

#include <iostream>

namespace cli {
namespace {

struct TrainOptions {
    RunOptions run;
    std::string database;
    std::string name;
    std::string checkpoint;
    std::string resume;
    std::optional<int> checkpointEvery;
    bool noRanges = false;
    bool json = false;
};

engine::RunConfig chosenConfig(const TrainOptions& options) {
    if (options.resume.empty()) return options.run.config();
    if (options.run.hasPreset()) {
        throw UsageError("--preset", "cannot change a resumed run", "leave it out: the checkpoint holds the model");
    }
    return options.run.applyTo(engine::Trainer::readConfig(options.resume));
}

jobs::TrainJob makeJob(const TrainOptions& options) {
    jobs::TrainJob job;
    job.config = chosenConfig(options);
    options.run.requireEffect({job.config});
    requireValid(job.config);
    job.database = options.database;
    job.name = options.name;
    job.checkpoint = options.checkpoint;
    job.checkpointEvery = options.checkpointEvery.value_or(0);
    job.resume = options.resume;
    job.ranges = !options.noRanges;
    if (job.checkpointEvery < 0) {
        throw UsageError("--checkpoint-every " + std::to_string(job.checkpointEvery), "is negative",
                         "use 0 or more steps");
    }
    if (job.checkpointEvery > 0 && job.checkpoint.empty()) {
        throw UsageError("--checkpoint-every", "there is no file to write to", "name one with --checkpoint");
    }
    return job;
}

void printResult(const jobs::RunResult& result, const std::string& database, double wallSeconds, bool json) {
    if (json) {
        printJsonLine({{"type", "result"},
                       {"run", result.run.value},
                       {"name", result.name},
                       {"status", profiling::name(result.status)},
                       {"steps", result.steps},
                       {"loss", jsonNumber(result.loss)},
                       {"val_loss", jsonNumber(result.valLoss)},
                       {"tokens_per_second", result.tokensPerSecond},
                       {"step_seconds", result.seconds},
                       {"wall_seconds", wallSeconds},
                       {"stride_correct", result.stride.correct},
                       {"stride_total", result.stride.total},
                       {"database", database}});
        return;
    }
    std::cout << fmt::format("{}: {} steps, {:.1f} s (steps alone {:.1f} s)\n", profiling::name(result.status),
                             result.steps, wallSeconds, result.seconds)
              << fmt::format("final loss {}, validation loss {}, {} tokens/s\n", fixed(result.loss, 4),
                             fixed(result.valLoss, 4), grouped(result.tokensPerSecond));
    if (result.stride.total > 0) {
        std::cout << fmt::format("{} of {} prompts continued with the right stride\n", result.stride.correct,
                                 result.stride.total);
    }
    std::cout << fmt::format("run {} in {}", result.run.value, database) << std::endl;
}

int train(const TrainOptions& options) {
    static jobs::JobControl control;  // a signal handler holds its address to the end
    const jobs::TrainJob job = makeJob(options);
    ProgressPrinter progress(options.json, job.database);
    stopOnSignals(control);
    const std::int64_t start = engine::clockNs();
    try {
        const jobs::RunResult result = jobs::runTrainJob(job, control, progress.listener());
        progress.endLine();
        printResult(result, job.database, static_cast<double>(engine::clockNs() - start) * 1e-9, options.json);
        return result.status == profiling::RunStatus::Interrupted ? kInterrupted : kDone;
    } catch (...) {
        progress.endLine();
        throw;
    }
}

}  // namespace

void addTrain(CLI::App& app, Action& run) {
    const auto options = std::make_shared<TrainOptions>();
    CLI::App& command = addCommand<TrainOptions>(
        app, run, "train", "Train one model and record the run",
        "amaxscope-cli train --preset tutorial --precision fp8 --data text:book.txt --steps 300 --db a.amax", options,
        train);
    options->run.addForTrain(command);
    addDatabase(command, options->database);
    addText(command, "--name", "TEXT", "name of the run (default: made from precision and data)", options->name);
    addText(command, "--checkpoint", "PATH", "written at the end and on Ctrl-C", options->checkpoint);
    addInt(command, "--checkpoint-every", "also write the checkpoint every N steps", options->checkpointEvery);
    addText(command, "--resume", "PATH", "go on from a checkpoint", options->resume);
    command.add_flag("--no-ranges", options->noRanges, "record no ranges and kernels");
    command.add_flag("--json", options->json, "one JSON object per line on stdout");
}

}  // namespace cli
