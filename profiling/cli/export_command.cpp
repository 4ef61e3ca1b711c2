// amaxscope-cli export: runs as CSV (one table) or JSON (everything), to a file or to stdout.
#include "arguments.h"
#include "commands.h"
#include "jobs/output_files.h"
#include "messages.h"
#include "profiling/exchange.h"

#include <filesystem>
#include <fstream>
#include <iostream>

namespace cli {
namespace {

struct ExportOptions {
    std::string database;
    std::vector<std::string> ids;
    std::string format;
    std::string table;
    std::string out;
    bool force = false;
};

profiling::TextFormat chosenFormat(const ExportOptions& options) {
    std::string format = options.format;
    if (format.empty()) {
        const std::string extension = std::filesystem::path(options.out).extension().string();
        format = extension == ".json" ? "json" : "csv";
    }
    if (format == "json" && !options.table.empty()) {
        throw UsageError("--table " + options.table, "JSON holds all tables", "leave it out, or use --format csv");
    }
    if (format == "json") return profiling::TextFormat::Json;
    if (format == "csv") return profiling::TextFormat::Csv;
    throw UsageError("--format " + format, "is not a format", "use csv or json");
}

void write(profiling::Store& store, const std::vector<profiling::RunId>& runs, const ExportOptions& options,
           std::ostream& out) {
    if (chosenFormat(options) == profiling::TextFormat::Json) {
        profiling::exportJson(store, runs, out);
    } else {
        profiling::exportCsv(store, runs, options.table.empty() ? "steps" : options.table, out);
    }
    out.flush();
}

/// What is told before anything is read: the database is never replaced, another file only with --force.
void requireReplaceable(const ExportOptions& options) {
    const auto refuse = [&](const char* why, const char* fix) { throw UsageError("--out " + options.out, why, fix); };
    std::error_code ignored;
    if (jobs::belongsToDatabase(options.out, options.database)) refuse("is the run database", "choose another name");
    if (!std::filesystem::exists(options.out, ignored)) return;
    if (std::filesystem::is_directory(options.out, ignored)) refuse("is a folder", "name a file inside it");
    if (!std::filesystem::is_regular_file(options.out, ignored)) {
        refuse("is not a regular file", "leave --out out to write to stdout, or choose another name");
    }
    if (!options.force) refuse("exists already", "add --force to replace it, or choose another name");
}

/// Written beside the target and renamed: an export that fails half-way leaves an older file as it was.
void writeFile(profiling::Store& store, const std::vector<profiling::RunId>& runs, const ExportOptions& options) {
    const std::filesystem::path temporary = jobs::reserveBeside(options.out);
    const auto fail = [&](const std::string& why) {
        std::error_code ignored;
        std::filesystem::remove(temporary, ignored);
        throw profiling::Error(profiling::ErrorKind::Failure, options.out, why,
                               "choose another place with --out, or free disk space");
    };
    if (temporary.empty()) fail("cannot be written");
    std::ofstream file(temporary, std::ios::binary);
    if (!file) fail("cannot be written");
    try {
        write(store, runs, options, file);
    } catch (...) {
        file.close();
        std::error_code ignored;
        std::filesystem::remove(temporary, ignored);
        throw;
    }
    file.close();
    if (!file) fail("could not be written to its end");
    std::error_code error;
    std::filesystem::rename(temporary, options.out, error);
    if (error) fail(error.message());
}

int exportRuns(const ExportOptions& options) {
    chosenFormat(options);  // bad usage is told before the database is opened
    const bool toFile = !options.out.empty() && options.out != "-";
    if (toFile) requireReplaceable(options);
    const std::unique_ptr<profiling::Store> store = profiling::Store::open(options.database);
    std::vector<profiling::RunId> runs;
    for (const std::int64_t id : runIds(options.ids)) runs.push_back(store->run({id}).id);
    if (options.ids.empty()) {
        for (const profiling::RunRow& run : store->runs()) runs.push_back(run.id);
    }
    if (toFile) {
        writeFile(*store, runs, options);
    } else {
        write(*store, runs, options, std::cout);
    }
    return kDone;
}

std::string tableList() {
    std::string list;
    for (const std::string& table : profiling::exportTables()) list += (list.empty() ? "" : ", ") + table;
    return list;
}

}  // namespace

void addExport(CLI::App& app, Action& run) {
    const auto options = std::make_shared<ExportOptions>();
    CLI::App& command =
        addCommand<ExportOptions>(app, run, "export", "Write runs as CSV or JSON",
                                  "amaxscope-cli export 1 2 --table snapshots --out scales.csv", options, exportRuns);
    command.add_option("IDS", options->ids, "run ids (default: all runs)")->type_name("");
    addDatabase(command, options->database);
    addText(command, "--format", "csv|json", "default: by the ending of --out, else csv", options->format);
    addText(command, "--table", "NAME", "table for CSV (default steps): " + tableList(), options->table);
    addText(command, "--out", "PATH", "file to write (default: stdout)", options->out);
    command.add_flag("--force", options->force, "replace the file of --out when it exists");
}

}  // namespace cli
