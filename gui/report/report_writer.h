// Writes a report of some runs of a database into one file. The one entry for the command line and for
// "Export report…": database ─► ReportData ─► ReportContent ─► HTML, PDF or Markdown; CSV and JSON come straight
// from profiling/exchange.h.
#pragma once

#include "profiling/events.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace gui {

struct ReportRequest {
    QString database;
    std::vector<profiling::RunId> runs;         // empty: all, oldest first
    profiling::RunId baseline;                  // none: the baseline of the runs' benchmark, else the first run
    QString output;                             // its extension decides: .html .pdf .csv .json .md
    QString csvTable = QStringLiteral("runs");  // of profiling::exportTables(); other formats ignore it
    bool overwrite = false;
};

/// Extensions that a report can have, without the dot.
QStringList reportExtensions();

/// Writes a temporary file beside the output and renames it, so that the output is old or new, never half.
/// Throws profiling::Error: unknown extension, run or table; output exists; folder not writable; disk full.
/// May run on any thread; a PDF needs a QGuiApplication (the offscreen platform will do).
void writeReport(const ReportRequest& request);

}  // namespace gui
