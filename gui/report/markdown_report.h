// The report as Markdown tables, for issues and notes. Plots are named, not drawn.
#pragma once

#include "report/report_content.h"

#include <QByteArray>

namespace gui {

QByteArray markdownReport(const ReportContent& content);

}  // namespace gui
