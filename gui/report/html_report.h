// The report as one HTML file that needs no network: styles and plots are inside, light or dark follows the reader.
// Well-formed XML as well, so that it can be checked and read by machines.
#pragma once

#include "report/report_content.h"

#include <QByteArray>

namespace gui {

QByteArray htmlReport(const ReportContent& content);

}  // namespace gui
