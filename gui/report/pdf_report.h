// The report as a PDF on A4: text and tables flow through QTextDocument, plots stay vector graphics.
#pragma once

#include "report/report_content.h"

#include <QString>

namespace gui {

/// Writes `path`, replacing what is there. False when the file could not be written. Needs a QGuiApplication.
bool writePdfReport(const ReportContent& content, const QString& path);

}  // namespace gui
