// amaxscope-cli compare: several runs side by side, with the difference and the percentage against the first.
#include "arguments.h"
#include "commands.h"
#include "json_lines.h"
#include "messages.h"
#include "profiling/metrics.h"
#include "table.h"

#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <limits>

namespace cli {
namespace {

struct CompareOptions {
    std::string database;
    std::vector<std::string> ids;
    bool json = false;
};

struct Metric {
    const char* key;    // for JSON
    const char* label;  // for people
    int digits;
    std::vector<double> values;  // one per run; NaN when unknown
};

struct Difference {
    std::string key;
    std::vector<std::string> values;
};

double medianStepMs(profiling::Store& store, profiling::RunId run) {
    std::vector<double> milliseconds;
    for (const profiling::StepRow& step : store.steps(run)) {
        milliseconds.push_back(static_cast<double>(step.durationNs) * 1e-6);
    }
    if (milliseconds.size() > 2) milliseconds.erase(milliseconds.begin(), milliseconds.begin() + 2);
    return milliseconds.empty() ? std::numeric_limits<double>::quiet_NaN() : profiling::spread(milliseconds).median;
}

std::vector<Metric> metrics(profiling::Store& store, const std::vector<profiling::RunRow>& runs) {
    constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
    std::vector<Metric> rows = {
        {"tokens_per_second", "tokens/s", 0, {}}, {"step_ms", "ms/step", 2, {}},       {"loss", "loss", 4, {}},
        {"val_loss", "val loss", 4, {}},          {"memory_mib", "memory MiB", 1, {}}, {"steps", "steps", 0, {}}};
    for (const profiling::RunRow& run : runs) {
        const double values[] = {run.tokensPerSecond > 0 ? run.tokensPerSecond : kUnknown,
                                 medianStepMs(store, run.id),
                                 run.lastLoss,
                                 run.valLoss.value_or(kUnknown),
                                 static_cast<double>(run.description.memoryBytes) / (1024.0 * 1024.0),
                                 static_cast<double>(run.stepsDone)};
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].values.push_back(values[i]);
    }
    return rows;
}

/// Configuration entries that are not the same in all runs.
std::vector<Difference> differences(const std::vector<profiling::RunRow>& runs) {
    std::vector<Json> configs;
    Json keys = Json::object();
    for (const profiling::RunRow& run : runs) {
        Json all = {{"precision", run.description.precision}, {"device", run.description.device}};
        for (const std::string& text :
             {run.description.modelJson, run.description.recipeJson, run.description.trainJson}) {
            const Json part = jsonFromText(text);
            if (part.is_object()) all.update(part);
        }
        all["precision"] = run.description.precision;  // what was asked for may read "auto"
        keys.update(all);
        configs.push_back(all);
    }
    std::vector<Difference> rows;
    for (const auto& [key, unused] : keys.items()) {
        Difference row{key, {}};
        bool same = true;
        for (const Json& config : configs) {
            const auto found = config.find(key);
            const std::string value = found == config.end() ? "-"
                                      : found->is_string()  ? found->get<std::string>()
                                                            : found->dump();
            same = same && (row.values.empty() || row.values.front() == value);
            row.values.push_back(value);
        }
        if (!same) rows.push_back(std::move(row));
    }
    return rows;
}

std::string cell(const Metric& metric, std::size_t index) {
    const double value = metric.values[index];
    const double first = metric.values.front();
    std::string text = metric.digits == 0 && !std::isnan(value) ? grouped(value) : fixed(value, metric.digits);
    if (index == 0 || std::isnan(value) || std::isnan(first)) return text;
    const double delta = value - first;
    const std::string change = first != 0 ? ", " + percentText(delta / first) : "";
    const std::string difference =
        metric.digits == 0 ? (delta < 0 ? "" : "+") + grouped(delta) : fmt::format("{:+.{}f}", delta, metric.digits);
    return fmt::format("{} ({}{})", text, difference, change);
}

void printText(const std::vector<profiling::RunRow>& runs, const std::vector<Metric>& rows,
               const std::vector<Difference>& different) {
    std::vector<std::string> header = {""};
    std::vector<Align> align = {Align::Left};
    std::vector<std::string> names = {"name"};
    std::vector<std::string> statuses = {"status"};
    for (const profiling::RunRow& run : runs) {
        header.push_back(fmt::format("run {}", run.id.value));
        align.push_back(Align::Right);
        names.push_back(run.name);
        statuses.push_back(profiling::name(run.status));
    }
    Table table(header, align);
    table.add(names);
    table.add(statuses);
    for (const Metric& metric : rows) {
        std::vector<std::string> cells = {metric.label};
        for (std::size_t i = 0; i < runs.size(); ++i) cells.push_back(cell(metric, i));
        table.add(cells);
    }
    for (const Difference& row : different) {
        std::vector<std::string> cells = {row.key};
        cells.insert(cells.end(), row.values.begin(), row.values.end());
        table.add(cells);
    }
    std::cout << table.text() << std::flush;
}

void printJson(const std::vector<profiling::RunRow>& runs, const std::vector<Metric>& rows,
               const std::vector<Difference>& different) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
        Json object = {{"type", "comparison"},
                       {"run", runs[i].id.value},
                       {"name", runs[i].name},
                       {"status", profiling::name(runs[i].status)}};
        for (const Metric& metric : rows) {
            const double delta = metric.values[i] - metric.values.front();
            object[metric.key] = {{"value", jsonNumber(metric.values[i])},
                                  {"delta", jsonNumber(delta)},
                                  {"share", jsonNumber(delta / metric.values.front())}};
        }
        object["configuration"] = Json::object();
        for (const Difference& row : different) object["configuration"][row.key] = row.values[i];
        printJsonLine(object);
    }
}

int compare(const CompareOptions& options) {
    if (options.ids.size() < 2) {
        throw UsageError("compare", "needs two run ids or more",
                         "see amaxscope-cli runs, then: amaxscope-cli compare 1 2");
    }
    const std::vector<std::int64_t> ids = runIds(options.ids);
    const std::unique_ptr<profiling::Store> store = profiling::Store::open(options.database);
    std::vector<profiling::RunRow> runs;
    for (const std::int64_t id : ids) runs.push_back(store->run({id}));
    (options.json ? printJson : printText)(runs, metrics(*store, runs), differences(runs));
    return kDone;
}

}  // namespace

void addCompare(CLI::App& app, Action& run) {
    const auto options = std::make_shared<CompareOptions>();
    CLI::App& command = addCommand<CompareOptions>(app, run, "compare", "Runs side by side against the first",
                                                   "amaxscope-cli compare 1 2 3 --db a.amax", options, compare);
    command.add_option("IDS", options->ids, "run ids; the first is the baseline")->type_name("");
    addDatabase(command, options->database);
    command.add_flag("--json", options->json, "one JSON object per run on stdout");
}

}  // namespace cli
