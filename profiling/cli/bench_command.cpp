// amaxscope-cli bench: the same model in several precisions, or the variants of a suite, interleaved, every sample
// stored.
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

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <optional>

namespace cli {
namespace {

struct BenchOptions {
    RunOptions run;
    std::string precisions;
    std::string suite;
    bool fullSize = false;
    std::string database;
    std::string name;
    std::optional<int> warmup;
    std::optional<int> repeats;
    std::optional<int> stepsPerRepeat;
    bool json = false;
};

constexpr const char* kStandard = "fp32,bf16,fp8";

/// What is shown of one variant, taken from the samples in the database.
struct Line {
    jobs::RunResult result;
    profiling::Spread rate;
    profiling::Spread stepMs;
    std::string scaledDown;
    std::size_t baseline = 0;  // the first line of the same model: tokens of another one are no measure

    double speedup(const std::vector<Line>& lines) const {
        const double base = lines[baseline].rate.median;
        return base > 0 ? rate.median / base : std::numeric_limits<double>::quiet_NaN();
    }
};

std::size_t firstOfSameModel(const std::vector<jobs::BenchVariant>& variants, std::size_t index) {
    for (std::size_t i = 0; i < index; ++i) {
        if (variants[i].config.model == variants[index].config.model) return i;
    }
    return index;
}

std::vector<Line> readLines(const jobs::BenchJob& job, const std::vector<jobs::RunResult>& results) {
    const std::unique_ptr<profiling::Store> store = profiling::Store::open(job.database);
    std::vector<Line> lines;
    for (const jobs::RunResult& result : results) {
        const std::size_t index = lines.size();
        std::vector<double> rates;
        std::vector<double> stepMs;
        for (const profiling::SampleRow& sample : store->samples(result.run)) {
            if (sample.metric == "tokens_per_second") rates.push_back(sample.value);
            if (sample.metric == "step_ms") stepMs.push_back(sample.value);
        }
        lines.push_back({result, profiling::spread(rates), profiling::spread(stepMs), job.variants[index].scaledDown,
                         firstOfSameModel(job.variants, index)});
    }
    return lines;
}

void printTable(const std::vector<Line>& lines, const std::string& database, double wallSeconds) {
    const bool oneModel = std::all_of(lines.begin(), lines.end(), [](const Line& line) { return line.baseline == 0; });
    const std::string baseline = oneModel ? lines.front().result.name : "the first of the same model";
    Table table({"variant", "run", "samples", "tokens/s", "min", "max", "ms/step", "speed-up", "val loss"},
                {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                 Align::Right, Align::Right});
    for (const Line& line : lines) {
        const double speedup = line.speedup(lines);
        table.add({line.result.name, std::to_string(line.result.run.value), std::to_string(line.rate.count),
                   grouped(line.rate.median), grouped(line.rate.min), grouped(line.rate.max),
                   fixed(line.stepMs.median, 2), std::isnan(speedup) ? "n/a" : fmt::format("{:.2f}x", speedup),
                   fixed(line.result.valLoss, 4)});
    }
    std::cout << table.text()
              << fmt::format(
                     "tokens/s: median, min and max of the samples; speed-up against {}; {:.1f} s; stored in {}",
                     baseline, wallSeconds, database)
              << std::endl;
    for (const Line& line : lines) {
        if (!line.scaledDown.empty()) {
            std::cout << line.result.name << " was scaled down: " << line.scaledDown << std::endl;
        }
    }
}

void printJson(const std::vector<Line>& lines, const std::string& database, double wallSeconds) {
    for (const Line& line : lines) {
        const double speedup = line.speedup(lines);
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
                       {"baseline", lines[line.baseline].result.name},
                       {"speedup", std::isnan(speedup) ? Json(nullptr) : Json(speedup)},
                       {"loss", jsonNumber(line.result.loss)},
                       {"val_loss", jsonNumber(line.result.valLoss)},
                       {"scaled_down", line.scaledDown.empty() ? Json(nullptr) : Json(line.scaledDown)},
                       {"wall_seconds", wallSeconds},
                       {"database", database}});
    }
}

void printSuite(const jobs::BenchSuite& suite, bool fullSize, bool json) {
    if (!json) std::cout << "suite " << suite.name << ": " << suite.summary << std::endl;
    Table table({"variant", "what", "scaled down"}, {Align::Left, Align::Left, Align::Left});
    Json variants = Json::array();
    for (const jobs::BenchVariant& variant : suite.variants) {
        table.add({variant.label, variant.summary, variant.scaledDown.empty() ? "-" : variant.scaledDown});
        variants.push_back({{"label", variant.label},
                            {"summary", variant.summary},
                            {"scaled_down", variant.scaledDown.empty() ? Json(nullptr) : Json(variant.scaledDown)},
                            {"model", jsonFromText(engine::toJson(variant.config.model))},
                            {"recipe", jsonFromText(engine::toJson(variant.config.recipe))},
                            {"train", jsonFromText(engine::toJson(variant.config.train))}});
    }
    if (json) {
        printJsonLine({{"type", "suite"},
                       {"suite", suite.name},
                       {"summary", suite.summary},
                       {"preset", suite.preset},
                       {"full_size", fullSize},
                       {"variants", variants}});
        return;
    }
    const bool scaled = std::any_of(suite.variants.begin(), suite.variants.end(),
                                    [](const jobs::BenchVariant& variant) { return !variant.scaledDown.empty(); });
    std::cout << table.text()
              << (scaled ? "scaled down to what this machine can take; --full-size runs all as they are\n" : "")
              << std::flush;
}

jobs::BenchSuite chosenSuite(const BenchOptions& options) {
    if (!options.precisions.empty()) {
        throw UsageError("--precisions", "a suite brings its own variants", "leave out --precisions or --suite");
    }
    const engine::RunConfig base =
        options.run.hasPreset() ? options.run.config() : options.run.applyTo(jobs::suiteBase(options.suite));
    requireValid(base);
    return jobs::makeSuite(options.suite, base, options.fullSize);
}

std::vector<jobs::BenchVariant> chosenVariants(const BenchOptions& options) {
    if (options.fullSize)
        throw UsageError("--full-size", "only suites are scaled down", "add --suite, or leave it out");
    return jobs::parseVariants(options.precisions.empty() ? kStandard : options.precisions, options.run.config());
}

jobs::BenchJob makeJob(const BenchOptions& options, std::optional<jobs::BenchSuite>& suite) {
    jobs::BenchJob job;
    job.warmupSteps = options.warmup.value_or(job.warmupSteps);
    job.repeats = options.repeats.value_or(job.repeats);
    job.stepsPerRepeat = options.stepsPerRepeat.value_or(job.stepsPerRepeat);
    if (!options.suite.empty()) suite = chosenSuite(options);
    job.variants = suite ? suite->variants : chosenVariants(options);
    std::vector<engine::RunConfig> configs;
    for (const jobs::BenchVariant& variant : job.variants) configs.push_back(variant.config);
    options.run.requireEffect(configs);
    for (const engine::RunConfig& config : configs) requireValid(config);
    job.database = options.database;
    job.name = options.name.empty() && suite ? suite->name : options.name;
    return job;
}

int bench(const BenchOptions& options) {
    static jobs::JobControl control;  // a signal handler holds its address to the end
    std::optional<jobs::BenchSuite> suite;
    const jobs::BenchJob job = makeJob(options, suite);
    if (suite) printSuite(*suite, options.fullSize, options.json);
    ProgressPrinter progress(options.json, job.database);
    stopOnSignals(control);
    const std::int64_t start = engine::clockNs();
    try {
        const std::vector<jobs::RunResult> results = jobs::runBenchJob(job, control, progress.listener());
        progress.endLine();
        const std::vector<Line> lines = readLines(job, results);
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
    command.footer("Items of --precisions, separated by commas, the first is the baseline:\n" + jobs::variantHelp() +
                   "Example:\n"
                   "  amaxscope-cli bench --preset tutorial --precisions fp32,bf16,fp8:delayed:hybrid --repeats 10\n"
                   "  amaxscope-cli bench --precisions fp8:delayed,fp8:delayed/history=1024,fp8:mxfp8/edges1\n"
                   "  amaxscope-cli bench --suite tutorial-extensions");
    addText(command, "--precisions", "LIST", "what to compare, see below (default: " + std::string(kStandard) + ")",
            options->precisions);
    addText(command, "--suite", "NAME", "compare the variants of a suite (see amaxscope-cli presets) or a .toml file",
            options->suite);
    command.add_flag("--full-size", options->fullSize, "run a suite's large variants as they are, also on a CPU");
    addInt(command, "--warmup", "steps before the first repeat (default 3)", options->warmup);
    addInt(command, "--repeats", "samples per precision (default 10)", options->repeats);
    addInt(command, "--steps-per-repeat", "steps per sample (default 3)", options->stepsPerRepeat);
    options->run.addForBench(command);
    addDatabase(command, options->database);
    addText(command, "--name", "TEXT", "name of the benchmark", options->name);
    command.add_flag("--json", options->json, "one JSON object per line on stdout");
}

}  // namespace cli
