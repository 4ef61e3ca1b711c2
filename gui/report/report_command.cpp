// Reads the options of `amaxscope report` and hands them to writeReport.
#include "report/report_command.h"

#include "profiling/exchange.h"
#include "report/report_writer.h"

#include <QGuiApplication>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>

namespace gui {

namespace {

using profiling::Error;
using profiling::ErrorKind;

const char* const kHelp =
    "Usage: amaxscope report FILE --out REPORT [options]\n"
    "\n"
    "Writes a report of the runs in a run database. The extension of REPORT decides its form:\n"
    ".html (one self-contained page), .pdf, .md (tables only), .csv (one table), .json (everything).\n"
    "\n"
    "  --out REPORT       the file to write\n"
    "  --runs 1,2         run ids, side by side in this order (default: all, oldest first)\n"
    "  --baseline 1       what differences are measured against (default: the benchmark's, else the first run)\n"
    "  --table NAME       table of a .csv: %s (default: runs)\n"
    "  --force            replace REPORT when it exists\n"
    "  --help             this text\n";

[[noreturn]] void badUsage(const QString& what, const char* why, const char* fix) {
    throw Error(ErrorKind::Usage, what.toStdString(), why, fix);
}

profiling::RunId parseRun(const QString& option, const QString& word) {
    bool isNumber = false;
    const qlonglong id = word.trimmed().toLongLong(&isNumber);
    if (!isNumber || id < 1) {
        badUsage(option + QLatin1Char(' ') + word, "is not a run id",
                 "give whole numbers from 1, as `amaxscope-cli runs` lists them");
    }
    return profiling::RunId{id};
}

void applyOption(ReportRequest& request, const QString& option, const QString& value) {
    if (option == QLatin1String("--out")) {
        request.output = value;
    } else if (option == QLatin1String("--baseline")) {
        request.baseline = parseRun(option, value);
    } else if (option == QLatin1String("--table")) {
        request.csvTable = value;
    } else {
        for (const QString& word : value.split(QLatin1Char(','))) request.runs.push_back(parseRun(option, word));
    }
}

/// Nothing when help was asked for.
std::optional<ReportRequest> parse(const QStringList& arguments) {
    static const QStringList kWithValue{QStringLiteral("--out"), QStringLiteral("--baseline"),
                                        QStringLiteral("--table"), QStringLiteral("--runs")};
    ReportRequest request;
    bool onlyFiles = false;
    for (qsizetype i = 0; i < arguments.size(); ++i) {
        const QString& argument = arguments[i];
        const QString option = argument.section(QLatin1Char('='), 0, 0);
        if (onlyFiles || !argument.startsWith(QLatin1Char('-'))) {
            if (!request.database.isEmpty()) badUsage(argument, "is a second run database", "give exactly one");
            request.database = argument;
        } else if (argument == QLatin1String("--")) {
            onlyFiles = true;
        } else if (argument == QLatin1String("--help") || argument == QLatin1String("-h")) {
            return std::nullopt;
        } else if (argument == QLatin1String("--force")) {
            request.overwrite = true;
        } else if (!kWithValue.contains(option)) {
            badUsage(argument, "is not an option of report", "see `amaxscope report --help`");
        } else if (argument.contains(QLatin1Char('='))) {
            applyOption(request, option, argument.section(QLatin1Char('='), 1));
        } else if (i + 1 < arguments.size()) {
            applyOption(request, option, arguments[++i]);
        } else {
            badUsage(argument, "has no value", "see `amaxscope report --help`");
        }
    }
    if (request.database.isEmpty()) badUsage(QStringLiteral("report"), "no run database given", "name a .amax file");
    if (request.output.isEmpty())
        badUsage(QStringLiteral("--out"), "is missing", "name the report, for example R.html");
    return request;
}

std::string tableNames() {
    std::string names;
    for (const std::string& name : profiling::exportTables()) names += (names.empty() ? "" : ", ") + name;
    return names;
}

std::unique_ptr<QGuiApplication> applicationFor(const ReportRequest& request) {
    if (QCoreApplication::instance() || !request.output.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive)) return {};
    static int argumentCount = 1;
    static char program[] = "amaxscope";
    static char* argumentList[] = {program, nullptr};
    qputenv("QT_QPA_PLATFORM", "offscreen");
    return std::make_unique<QGuiApplication>(argumentCount, argumentList);
}

}  // namespace

int runReportCommand(const QStringList& arguments) {
    try {
        const std::optional<ReportRequest> request = parse(arguments);
        if (!request) {
            std::printf(kHelp, tableNames().c_str());
            return 0;
        }
        const std::unique_ptr<QGuiApplication> application = applicationFor(*request);
        writeReport(*request);
        std::printf("%s\n", qPrintable(request->output));
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "amaxscope: %s\n", error.what());
        return error.kind() == ErrorKind::Usage ? 2 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "amaxscope: report: %s: please report this with the command you used\n", error.what());
        return 1;
    }
}

}  // namespace gui
