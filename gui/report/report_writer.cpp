// Chooses the writer by extension, writes beside the output and renames.
#include "report/report_writer.h"

#include "profiling/exchange.h"
#include "profiling/queries.h"
#include "report/html_report.h"
#include "report/markdown_report.h"
#include "report/pdf_report.h"
#include "report/report_data.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QRandomGenerator>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

namespace gui {

namespace {

using profiling::Error;
using profiling::ErrorKind;

QString extensionOf(const QString& output) {
    const QString extension = QFileInfo(output).suffix().toLower();
    if (!reportExtensions().contains(extension)) {
        throw Error(ErrorKind::Usage, output.toStdString(), "the extension does not name a report format",
                    "end the name in .html, .pdf, .csv, .json or .md");
    }
    return extension;
}

void checkTarget(const ReportRequest& request) {
    const QFileInfo target(request.output);
    const QFileInfo folder(target.absolutePath());
    if (!folder.isDir()) {
        throw Error(ErrorKind::Failure, request.output.toStdString(),
                    "the folder " + folder.filePath().toStdString() + " does not exist", "create it or choose another");
    }
    if (target.isDir()) {
        throw Error(ErrorKind::Usage, request.output.toStdString(), "is a folder", "give the name of a file");
    }
    if (target.exists() && target.canonicalFilePath() == QFileInfo(request.database).canonicalFilePath()) {
        throw Error(ErrorKind::Usage, request.output.toStdString(), "is the run database itself",
                    "choose another name");
    }
    if (target.exists() && !request.overwrite) {
        throw Error(ErrorKind::Usage, request.output.toStdString(), "exists already",
                    "add --force to replace it, or choose another name");
    }
}

/// Removes what was written unless it was renamed.
class TemporaryFile {
public:
    explicit TemporaryFile(const QString& target)
        : m_target(target),
          m_path(QStringLiteral("%1.%2-%3.part")
                     .arg(target)
                     .arg(QCoreApplication::applicationPid())
                     .arg(QRandomGenerator::global()->generate(), 8, 16, QLatin1Char('0'))) {}
    ~TemporaryFile() {
        if (!m_path.isEmpty()) QFile::remove(m_path);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const QString& path() const { return m_path; }

    [[noreturn]] void fail(const std::string& why) const {
        throw Error(ErrorKind::Failure, m_target.toStdString(), "could not be written (" + why + ")",
                    "check the permissions of the folder and the free space");
    }
    void commit() {
        std::error_code error;
        std::filesystem::rename(m_path.toStdString(), m_target.toStdString(), error);
        if (error) fail(error.message());
        m_path.clear();
    }

private:
    QString m_target;
    QString m_path;
};

void writeBytes(const TemporaryFile& file, const QByteArray& bytes) {
    QFile out(file.path());
    if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size() || !out.flush()) {
        file.fail(out.errorString().toStdString());
    }
}

template <typename Export>
void writeStream(const TemporaryFile& file, Export&& doExport) {
    std::ofstream out(file.path().toStdString(), std::ios::binary | std::ios::trunc);
    if (!out) file.fail(std::generic_category().message(errno));
    doExport(out);
    out.flush();
    if (!out) file.fail(std::generic_category().message(errno));
}

std::vector<profiling::RunId> runIds(profiling::Store& store, const ReportRequest& request) {
    std::vector<profiling::RunId> ids;
    for (const profiling::RunRow& row : reportRuns(store, request)) ids.push_back(row.id);
    return ids;
}

}  // namespace

QStringList reportExtensions() {
    return {QStringLiteral("html"), QStringLiteral("pdf"), QStringLiteral("csv"), QStringLiteral("json"),
            QStringLiteral("md")};
}

void writeReport(const ReportRequest& request) {
    const QString extension = extensionOf(request.output);
    checkTarget(request);
    const std::unique_ptr<profiling::Store> store = profiling::Store::open(request.database.toStdString());
    TemporaryFile file(request.output);
    if (extension == QLatin1String("csv") || extension == QLatin1String("json")) {
        const std::vector<profiling::RunId> runs = runIds(*store, request);
        writeStream(file, [&](std::ostream& out) {
            if (extension == QLatin1String("json"))
                profiling::exportJson(*store, runs, out);
            else
                profiling::exportCsv(*store, runs, request.csvTable.toStdString(), out);
        });
    } else {
        const ReportContent content = buildReportContent(collectReportData(*store, request));
        if (extension == QLatin1String("pdf")) {
            if (!writePdfReport(content, file.path())) file.fail("the PDF file could not be opened or filled");
        } else {
            writeBytes(file, extension == QLatin1String("md") ? markdownReport(content) : htmlReport(content));
        }
    }
    file.commit();
}

}  // namespace gui
