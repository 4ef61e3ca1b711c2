// amaxscope-cli bench: the same model in several precisions, interleaved, every sample stored.
#include "arguments.h"
#include "commands.h"
#include "json_lines.h"
#include "messages.h"
#include "profiling/metrics.h"
#include "progress.h"
#include "run_options.h"
#include "signals.h"
#include "table.h"

#include <fmt/format.h>

#include <iostream>

namespace cli {
namespace {

struct BenchOptions {
    RunOptions run;
    std::string precisions = "fp32,bf16,fp8";
    std::string database;
    std::string name;
    std::optional<int> warmup;
    std::optional<int> repeats;
    std::optional<int> stepsPerRepeat;
    bool json = false;
};

/// What is shown of one variant, taken from the samples in the database.
struct Line {
    jobs::RunResult result;
    profiling::Spread rate;
    profiling::Spread stepMs;
};

std::vector<Line> readLines(const std::string& database, const std::vector<jobs::RunResult>& results) {
    const std::unique_ptr<profiling::Store> store = profiling::Store::open(database);
    std::vector<Line> lines;
    for (const jobs::RunResult& result : results) {
        std::vector<double> rates;
        std::vector<double> stepMs;
        for (const profiling::SampleRow& sample : store->samples(result.run)) {
            if (sample.metric == "tokens_per_second") rates.push_back(sample.value);
            if (sample.metric == "step_ms") stepMs.push_back(sample.value);
        }
        lines.push_back({result, profiling::spread(rates), profiling::spread(stepMs)});
    }
    return lines;
}

void printTable(const std::vector<Line>& lines, const std::string& database, double wallSeconds) {
    const std::string baseline = lines.front().result.name;
    Table table({"precision", "run", "samples", "tokens/s", "min", "max", "ms/step", "speed-up", "val loss"},
                {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                 Align::Right, Align::Right});
    for (const Line& line : lines) {
        const double base = lines.front().rate.median;
        table.add({line.result.name, std::to_string(line.result.run.value), std::to_string(line.rate.count),
                   grouped(line.rate.median), grouped(line.rate.min), grouped(line.rate.max),
                   fixed(line.stepMs.median, 2), base > 0 ? fmt::format("{:.2f}x", line.rate.median / base) : "n/a",
                   fixed(line.result.valLoss, 4)});
    }
    std::cout << table.text()
              << fmt::format(
                     "tokens/s: median, min and max of the samples; speed-up against {}; {:.1f} s; stored in {}",
                     baseline, wallSeconds, database)
              << std::endl;
}

void printJson(const std::vector<Line>& lines, const std::string& database, double wallSeconds) {
    for (const Line& line : lines) {
        const double base = lines.front().rate.median;
        printJsonLine({{"type", "result"},
                       {"run", line.result.run.value},
                       {"name", line.result.name},
                       {"status", profiling::name(line.result.status)},
                       {"steps", line.result.steps},
                       {"samples", line.rate.count},
                       {"tokens_per_second", line.rate.median},
                       {"tokens_per_second_min", line.rate.min},
                       {"tokens_per_second_max", line.rate.max},
                       {"step_ms", line.stepMs.median},
                       {"speedup", base > 0 ? Json(line.rate.median / base) : Json(nullptr)},
                       {"loss", jsonNumber(line.result.loss)},
                       {"val_loss", jsonNumber(line.result.valLoss)},
                       {"wall_seconds", wallSeconds},
                       {"database", database}});
    }
}

jobs::BenchJob makeJob(const BenchOptions& options) {
    jobs::BenchJob job;
    job.warmupSteps = options.warmup.value_or(job.warmupSteps);
    job.repeats = options.repeats.value_or(job.repeats);
    job.stepsPerRepeat = options.stepsPerRepeat.value_or(job.stepsPerRepeat);
    job.variants = jobs::parseVariants(options.precisions, options.run.config());
    for (const jobs::BenchVariant& variant : job.variants) requireValid(variant.config);
    job.database = options.database;
    job.name = options.name;
    return job;
}

int bench(const BenchOptions& options) {
    static jobs::JobControl control;  // a signal handler holds its address to the end
    const jobs::BenchJob job = makeJob(options);
    ProgressPrinter progress(options.json, job.database);
    stopOnSignals(control);
    const std::int64_t start = engine::clockNs();
    try {
        const std::vector<jobs::RunResult> results = jobs::runBenchJob(job, control, progress.listener());
        progress.endLine();
        const std::vector<Line> lines = readLines(job.database, results);
        const double wallSeconds = static_cast<double>(engine::clockNs() - start) * 1e-9;
        (options.json ? printJson : printTable)(lines, job.database, wallSeconds);
        const bool cut = results.front().status == profiling::RunStatus::Interrupted;
        return cut ? kInterrupted : kDone;
    } catch (...) {
        progress.endLine();
        throw;
    }
}

}  // namespace

void addBench(CLI::App& app, Action& run) {
    const auto options = std::make_shared<BenchOptions>();
    CLI::App& command = addCommand<BenchOptions>(
        app, run, "bench", "Compare the speed of precisions on one model",
        "amaxscope-cli bench --preset tutorial --precisions fp32,bf16,fp8:delayed:hybrid --warmup 3 --repeats 10",
        options, bench);
    addText(command, "--precisions", "LIST",
            "what to compare, the first is the baseline: fp32, bf16, fp8:delayed:hybrid, fp8:delayed:e4m3, each with "
            "/norecord or /unfused if wanted (default: fp32,bf16,fp8)",
            options->precisions);
    addInt(command, "--warmup", "steps before the first repeat (default 3)", options->warmup);
    addInt(command, "--repeats", "samples per precision (default 10)", options->repeats);
    addInt(command, "--steps-per-repeat", "steps per sample (default 3)", options->stepsPerRepeat);
    options->run.addForBench(command);
    addDatabase(command, options->database);
    addText(command, "--name", "TEXT", "name of the benchmark", options->name);
    command.add_flag("--json", options->json, "one JSON object per line on stdout");
}

}  // namespace cli
