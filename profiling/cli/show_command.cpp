// amaxscope-cli show: everything about one run on a page: configuration, results, events, the tensors closest to
// saturation, and where the time went; or with --tensors and --exponents, the figures of its tensors.
#include "arguments.h"
#include "commands.h"
#include "messages.h"
#include "run_json.h"
#include "show_tensors.h"
#include "table.h"
#include "token_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

namespace cli {
namespace {

constexpr std::size_t kRows = 10;
constexpr std::size_t kEvents = 20;

struct ShowOptions {
    std::string database;
    std::vector<std::string> ids;
    bool tensors = false;
    std::optional<std::string> exponents;  // full name of a tensor
    std::optional<std::int64_t> step;
    bool json = false;
};

struct TensorHeadroom {
    profiling::TensorRow tensor;
    double bits;  // least over all steps
};

/// Tensors with snapshots, the one closest to (or furthest beyond) saturation first.
std::vector<TensorHeadroom> worstTensors(profiling::Store& store, profiling::RunId run) {
    const profiling::HeatMap map = store.heatMap(run, profiling::HeatMetric::Headroom, {}, 1);
    std::vector<TensorHeadroom> rows;
    for (std::size_t i = 0; i < map.tensors.size() && map.columns > 0; ++i) {
        const auto bits = static_cast<double>(map.values[i * static_cast<std::size_t>(map.columns)]);
        if (!std::isnan(bits)) rows.push_back({map.tensors[i], bits});
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const TensorHeadroom& a, const TensorHeadroom& b) { return a.bits < b.bits; });
    if (rows.size() > kRows) rows.resize(kRows);
    return rows;
}

/// One line "layers 4, d_model 256, …" from a stored JSON object.
std::string flat(const std::string& text) {
    const Json json = jsonFromText(text);
    if (!json.is_object()) return text;
    std::string out;
    for (const auto& [key, value] : json.items()) {
        if (value.is_string() && value.get_ref<const std::string&>().empty()) continue;  // not set
        out += (out.empty() ? "" : ", ") + key + " " + (value.is_string() ? value.get<std::string>() : value.dump());
    }
    return out;
}

void printHeader(const profiling::RunRow& run) {
    const profiling::RunDescription& about = run.description;
    const auto line = [](const char* label, const std::string& text) {
        if (!text.empty()) std::cout << fmt::format("  {:<12}{}\n", label, oneLine(text));
    };
    std::cout << fmt::format("run {}: {} ({})\n", run.id.value, oneLine(run.name), profiling::name(run.status));
    if (run.bench) line("benchmark", run.benchName + (run.isBaseline ? ", baseline" : ""));
    line("started", localTime(run.startedAtNs));
    line("ended", localTime(run.endedAtNs));
    line("device", fmt::format("{} ({}), {}", about.device, about.deviceName, about.kernels));
    line("precision", about.precision + (about.emulated ? ", emulated" : "") +
                          (about.precisionReason.empty() ? "" : ": " + about.precisionReason));
    line("recipe", flat(about.recipeJson));
    line("model", flat(about.modelJson));
    line("train", flat(about.trainJson));
    line("size", fmt::format("{} parameters, {}", grouped(static_cast<double>(about.parameters)),
                             bytesText(about.memoryBytes)));
    line("program", "amaxscope " + run.programVersion);
    std::cout << "\nResults\n";
    line("steps", fmt::format("{} stored, last {} of {}", run.stepsDone, run.lastStep + 1, about.stepsPlanned));
    line("loss", fixed(run.lastLoss, 4));
    line("val loss", fixed(run.valLoss, 4));
    line("speed", run.tokensPerSecond > 0 ? grouped(run.tokensPerSecond) + " tokens/s (median)" : "n/a");
}

void printEvents(const std::vector<profiling::EventRow>& events) {
    if (events.empty()) return;
    std::cout << "\nEvents\n";
    Table table({"step (from 0)", "severity", "code", "text"}, {Align::Right, Align::Left, Align::Left, Align::Left});
    for (std::size_t i = 0; i < std::min(kEvents, events.size()); ++i) {
        const profiling::EventRow& event = events[i];
        table.add({event.step < 0 ? "start" : std::to_string(event.step), severityName(event.severity), event.code,
                   event.text});
    }
    std::cout << table.text("  ");
    if (events.size() > kEvents) {
        std::cout << fmt::format("  and {} more; export --table events lists all\n", events.size() - kEvents);
    }
}

void printTensors(const std::vector<TensorHeadroom>& rows) {
    if (rows.empty()) return;
    std::cout << "\nLeast headroom (bits below saturation at the worst step; negative: saturated)\n";
    Table table({"tensor", "format", "shape", "bits"}, {Align::Left, Align::Left, Align::Right, Align::Right});
    for (const TensorHeadroom& row : rows) {
        table.add({row.tensor.fullName(), row.tensor.format, fmt::format("{}x{}", row.tensor.rows, row.tensor.cols),
                   fixed(row.bits, 2)});
    }
    std::cout << table.text("  ");
}

void printKernels(const std::vector<profiling::SummaryRow>& rows) {
    if (rows.empty()) return;
    std::cout << "\nKernels (most time first)\n";
    Table table({"kernel", "calls", "total ms", "mean us", "share", "GFLOP/s"},
                {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right});
    for (std::size_t i = 0; i < std::min(kRows, rows.size()); ++i) {
        const profiling::SummaryRow& row = rows[i];
        const bool rated = row.flops > 0 && row.totalNs > 0;
        table.add({row.name, std::to_string(row.calls), fixed(static_cast<double>(row.totalNs) * 1e-6, 1),
                   fixed(row.meanNs * 1e-3, 1), fmt::format("{:.1f} %", row.share * 100),
                   rated ? fixed(row.flops / static_cast<double>(row.totalNs), 1) : ""});
    }
    std::cout << table.text("  ");
}

void printGenerations(const std::vector<profiling::GenerationRow>& rows) {
    if (rows.empty()) return;
    std::cout << "\nGenerated (the newest)\n";
    const std::size_t first = rows.size() > 3 ? rows.size() - 3 : 0;
    for (std::size_t i = first; i < rows.size(); ++i) {
        std::cout << fmt::format("  {} -> {}{}\n", printable(rows[i].prompt), printable(rows[i].output),
                                 rows[i].total > 0 ? fmt::format("  ({} of {})", rows[i].correct, rows[i].total) : "");
    }
}

void printSamples(const std::vector<profiling::SampleRow>& rows) {
    if (rows.empty()) return;
    std::cout << "\nBenchmark samples\n";
    for (const profiling::SampleRow& row : rows) {
        std::cout << fmt::format("  {} [{}] {}\n", oneLine(row.metric), row.i, fixed(row.value, 3));
    }
}

Json detailJson(profiling::Store& store, const profiling::RunRow& run) {
    Json json = runJson(run);
    json["events"] = Json::array();
    for (const profiling::EventRow& event : store.events(run.id)) {
        json["events"].push_back(
            toJson(engine::EngineEvent{event.step, event.atNs, event.severity, event.code, event.text}));
    }
    json["least_headroom"] = Json::array();
    for (const TensorHeadroom& row : worstTensors(store, run.id)) {
        json["least_headroom"].push_back(
            {{"tensor", row.tensor.fullName()}, {"format", row.tensor.format}, {"bits", jsonNumber(row.bits)}});
    }
    json["kernels_summary"] = Json::array();
    for (const profiling::SummaryRow& row : store.kernelSummary(run.id, {})) {
        json["kernels_summary"].push_back({{"name", row.name},
                                           {"calls", row.calls},
                                           {"total_ns", row.totalNs},
                                           {"mean_ns", row.meanNs},
                                           {"share", row.share},
                                           {"flops", row.flops},
                                           {"bytes", row.bytes}});
    }
    return json;
}

void requireSense(const ShowOptions& options) {
    if (options.ids.size() != 1) {
        throw UsageError("show", "needs one run id", "see amaxscope-cli runs for the ids, then: amaxscope-cli show 1");
    }
    if (options.tensors && options.exponents) {
        throw UsageError("--exponents", "cannot be shown together with --tensors", "use one of them at a time");
    }
    if (!options.step) return;
    const std::string step = "--step " + std::to_string(*options.step);
    if (*options.step < 0) throw UsageError(step, "is no step", "steps count from 0");
    if (!options.tensors && !options.exponents) {
        throw UsageError(step, "says at which step tensors are shown", "add --tensors or --exponents TENSOR");
    }
}

int show(const ShowOptions& options) {
    requireSense(options);
    const profiling::RunId id{runIds(options.ids).front()};
    const std::unique_ptr<profiling::Store> store = profiling::Store::open(options.database);
    const profiling::RunRow run = store->run(id);
    const std::int64_t step = options.step.value_or(kLastStep);
    if (options.tensors) {
        showTensors(*store, run, step, options.json);
        return kDone;
    }
    if (options.exponents) {
        showExponents(*store, run, *options.exponents, step, options.json);
        return kDone;
    }
    if (options.json) {
        printJsonLine(detailJson(*store, run));
        return kDone;
    }
    printHeader(run);
    printEvents(store->events(id));
    printTensors(worstTensors(*store, id));
    printKernels(store->kernelSummary(id, {}));
    printSamples(store->samples(id));
    printGenerations(store->generations(id));
    std::cout << std::flush;
    return kDone;
}

}  // namespace

void addShow(CLI::App& app, Action& run) {
    const auto options = std::make_shared<ShowOptions>();
    CLI::App& command = addCommand<ShowOptions>(app, run, "show", "Everything about one run",
                                                "amaxscope-cli show 3 --db a.amax", options, show);
    command.add_option("ID", options->ids, "run id, as listed by runs")->type_name("");
    addDatabase(command, options->database);
    command.add_flag("--tensors", options->tensors, "scale, headroom, SQNR and more of every tensor");
    addText(command, "--exponents", "TENSOR", "exponent histogram of a tensor, as named by --tensors",
            [options](const std::string& text) { options->exponents = text; });
    addText(command, "--step", "N", "tensors at this step, or the newest before it (default: the last)",
            [options](const std::string& text) { options->step = wholeNumber("--step", text); });
    command.add_flag("--json", options->json, "one JSON object on stdout");
}

}  // namespace cli
