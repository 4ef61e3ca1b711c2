// amaxscope-cli inspect: what a file is (a run database, a checkpoint, a model's weights) and what it holds.
#include "arguments.h"
#include "commands.h"
#include "engine/trainer.h"
#include "inspect_weights.h"
#include "inspection_report.h"
#include "json_lines.h"
#include "messages.h"
#include "profiling/queries.h"
#include "table.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>

namespace cli {
namespace {

struct InspectOptions {
    std::vector<std::string> paths;
    WeightOptions weights;
    std::optional<int> inspection;
    bool json = false;
};

bool looksLikeDatabase(const std::string& path) {
    constexpr std::string_view kMagic = "SQLite format 3";
    std::ifstream file(path, std::ios::binary);
    std::string start(kMagic.size(), '\0');
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    return start == kMagic || std::filesystem::path(path).extension() == ".amax";
}

void inspectDatabase(const std::string& path, bool json) {
    const std::unique_ptr<profiling::Store> store = profiling::Store::open(path);
    const profiling::FileInfo info = store->fileInfo();
    const std::vector<profiling::InspectionRow> inspections = store->inspections();
    std::map<std::string, int> byStatus;
    for (const profiling::RunRow& run : store->runs()) ++byStatus[profiling::name(run.status)];
    if (json) {
        printJsonLine({{"type", "database"},
                       {"path", path},
                       {"bytes", info.bytes},
                       {"schema_version", info.schemaVersion},
                       {"runs", info.runs},
                       {"snapshots", info.snapshots},
                       {"inspections", info.inspections},
                       {"runs_by_status", byStatus}});
        for (const profiling::InspectionRow& inspection : inspections) printInspectionJson(inspection);
        return;
    }
    std::cout << fmt::format("{}: Amaxscope run database, schema {}, {}\n", path, info.schemaVersion,
                             bytesText(info.bytes))
              << fmt::format("  runs       {}\n", info.runs);
    for (const auto& [status, count] : byStatus) std::cout << fmt::format("    {:<11}{}\n", status, count);
    std::cout << fmt::format("  snapshots  {}\n", grouped(static_cast<double>(info.snapshots)));
    if (inspections.empty()) return;
    std::cout << fmt::format("Inspections of model files; --inspection {} shows the newest\n",
                             inspections.front().id.value);
    printInspections(inspections);
}

void showInspection(const std::string& path, profiling::InspectionId id, bool json) {
    const std::unique_ptr<profiling::Store> store = profiling::Store::open(path);
    const std::vector<profiling::InspectedTensor> tensors = store->inspectedTensors(id);
    for (const profiling::InspectionRow& row : store->inspections()) {
        if (row.id != id) continue;
        if (json) {
            printInspectionJson(row);
            printInspectedJson(row.description.path, tensors);
        } else {
            printInspections({row});
            printInspected(tensors);
        }
    }
}

void inspectCheckpoint(const std::string& path, bool json) {
    const engine::RunConfig config = engine::Trainer::readConfig(path);
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(path, error);
    if (json) {
        printJsonLine({{"type", "checkpoint"},
                       {"path", path},
                       {"bytes", error ? Json(nullptr) : Json(bytes)},
                       {"model", jsonFromText(engine::toJson(config.model))},
                       {"recipe", jsonFromText(engine::toJson(config.recipe))},
                       {"train", jsonFromText(engine::toJson(config.train))}});
        return;
    }
    const engine::RunEstimate size = engine::estimate(config);
    std::cout << fmt::format("{}: Amaxscope checkpoint, {}\n", path, bytesText(static_cast<std::int64_t>(bytes)))
              << fmt::format("  precision   {}\n", engine::precisionLabel(config.train.precision, config.recipe))
              << fmt::format("  parameters  {}\n", grouped(static_cast<double>(size.parameters)))
              << fmt::format("  data        {}\n", config.train.data);
    for (const std::string& text : {engine::toJson(config.model), engine::toJson(config.train)}) {
        const Json values = jsonFromText(text);
        for (const auto& [key, value] : values.items()) {
            std::cout << fmt::format("  {:<16}{}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
        }
    }
}

/// An option that changes nothing here would be taken for one that did.
void requireEffect(const InspectOptions& options, bool weights, bool database) {
    const WeightOptions& given = options.weights;
    const std::pair<const char*, bool> forWeights[] = {{"--recipes", !given.recipes.empty()},
                                                       {"--tensors", !given.tensors.empty()},
                                                       {"--all", given.all},
                                                       {"--db", !given.database.empty()}};
    for (const auto& [option, isGiven] : forWeights) {
        if (isGiven && !weights) {
            throw UsageError(option, "is for files of weights, and none is named",
                             "name a .safetensors file or leave it out");
        }
    }
    if (options.inspection && !database) {
        throw UsageError("--inspection", "is for run databases, and none is named",
                         "name a .amax file or leave it out");
    }
}

int inspect(const InspectOptions& options) {
    if (options.paths.empty()) {
        throw UsageError("inspect", "needs a file", "name a .amax database, a checkpoint or a .safetensors file");
    }
    std::vector<std::string> weights;
    std::vector<std::string> databases;
    for (const std::string& path : options.paths) {
        if (!std::filesystem::exists(path)) {
            throw profiling::Error(profiling::ErrorKind::Failure, path, "there is no such file", "check the path");
        }
        if (looksLikeDatabase(path)) {
            databases.push_back(path);
        } else if (looksLikeWeights(path)) {
            weights.push_back(path);
        }
    }
    requireEffect(options, !weights.empty(), !databases.empty());
    for (const std::string& path : options.paths) {
        if (looksLikeDatabase(path)) {
            if (options.inspection) {
                showInspection(path, profiling::InspectionId{*options.inspection}, options.json);
            } else {
                inspectDatabase(path, options.json);
            }
        } else if (!looksLikeWeights(path)) {
            inspectCheckpoint(path, options.json);
        }
    }
    WeightOptions forWeights = options.weights;
    forWeights.json = options.json;
    if (!weights.empty()) inspectWeights(weights, forWeights);
    std::cout << std::flush;
    return kDone;
}

}  // namespace

void addInspect(CLI::App& app, Action& run) {
    const auto options = std::make_shared<InspectOptions>();
    CLI::App& command = addCommand<InspectOptions>(
        app, run, "inspect", "What a database, a checkpoint or a file of weights holds, and what recipes do to weights",
        "amaxscope-cli inspect model.safetensors --recipes mxfp8,nvfp4 --db a.amax", options, inspect);
    command.footer(
        "A model's weights (.safetensors, or the .safetensors.index.json of several) are cast by each recipe, without\n"
        "training: amax, scale_inv, SQNR, and the shares that saturate or underflow, for each tensor.\n"
        "Example:\n"
        "  amaxscope-cli inspect a.amax model.ckpt\n"
        "  amaxscope-cli inspect model.safetensors --recipes mxfp8,nvfp4 --tensors '*.mlp.*' --db a.amax\n"
        "  amaxscope-cli inspect a.amax --inspection 1");
    command.add_option("PATHS", options->paths, "files")->type_name("");
    addText(command, "--recipes", "LIST",
            fmt::format("weights: what to cast them by (default: {})",
                        fmt::join(engine::choices<engine::RecipeKind>(), ",")),
            options->weights.recipes);
    addText(command, "--tensors", "GLOBS", "weights: only tensors with such names, like 'h.0.*,*.mlp.*'",
            options->weights.tensors);
    command.add_flag("--all", options->weights.all, "weights: norms, biases and other vectors too");
    addText(command, "--db", "PATH", "weights: store the figures in this run database", options->weights.database);
    addInt(command, "--inspection", "database: show the figures of a stored inspection", options->inspection);
    command.add_flag("--json", options->json, "JSON objects, one a line, on stdout");
}

}  // namespace cli
