// amaxscope-cli inspect: what a file is: a run database or a checkpoint, and what it holds.
#include "arguments.h"
#include "commands.h"
#include "engine/trainer.h"
#include "json_lines.h"
#include "messages.h"
#include "profiling/queries.h"
#include "table.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

namespace cli {
namespace {

struct InspectOptions {
    std::vector<std::string> paths;
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
    std::map<std::string, int> byStatus;
    for (const profiling::RunRow& run : store->runs()) ++byStatus[profiling::name(run.status)];
    if (json) {
        printJsonLine({{"type", "database"},
                       {"path", path},
                       {"bytes", info.bytes},
                       {"schema_version", info.schemaVersion},
                       {"runs", info.runs},
                       {"snapshots", info.snapshots},
                       {"runs_by_status", byStatus}});
        return;
    }
    std::cout << fmt::format("{}: Amaxscope run database, schema {}, {}\n", path, info.schemaVersion,
                             bytesText(info.bytes))
              << fmt::format("  runs       {}\n", info.runs);
    for (const auto& [status, count] : byStatus) std::cout << fmt::format("    {:<11}{}\n", status, count);
    std::cout << fmt::format("  snapshots  {}\n", grouped(static_cast<double>(info.snapshots)));
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

int inspect(const InspectOptions& options) {
    if (options.paths.empty()) {
        throw UsageError("inspect", "needs a file", "name a .amax database or a checkpoint");
    }
    for (const std::string& path : options.paths) {
        if (!std::filesystem::exists(path)) {
            throw profiling::Error(profiling::ErrorKind::Failure, path, "there is no such file", "check the path");
        }
        if (looksLikeDatabase(path)) {
            inspectDatabase(path, options.json);
        } else {
            inspectCheckpoint(path, options.json);
        }
    }
    std::cout << std::flush;
    return kDone;
}

}  // namespace

void addInspect(CLI::App& app, Action& run) {
    const auto options = std::make_shared<InspectOptions>();
    CLI::App& command = addCommand<InspectOptions>(app, run, "inspect", "What a database or checkpoint file holds",
                                                   "amaxscope-cli inspect a.amax model.ckpt", options, inspect);
    command.add_option("PATHS", options->paths, "files")->type_name("");
    command.add_flag("--json", options->json, "one JSON object per file on stdout");
}

}  // namespace cli
