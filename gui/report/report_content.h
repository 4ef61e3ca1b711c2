// The report as a list of sections made of paragraphs, tables and plots: built once from ReportData and written by
// the HTML, PDF and Markdown writers, so that all three say the same.
#pragma once

#include "report/report_data.h"
#include "report/svg_plot.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace gui {

struct ReportTable {
    QStringList header;
    std::vector<int> headerColors;  // run colour of each column, −1: none; may be shorter than the header
    std::vector<QStringList> rows;
    int textColumns = 1;  // from the left, aligned left; the others hold numbers
};

struct ReportBlock {
    enum class Kind { Text, SubHeading, Table, Figure };
    Kind kind = Kind::Text;
    QString text;
    ReportTable table;
    Plot plot;
};

struct ReportSection {
    QString id;
    QString title;
    std::vector<ReportBlock> blocks;
};

struct ReportContent {
    QString title;
    QString subtitle;
    std::vector<ReportSection> sections;
};

ReportContent buildReportContent(const ReportData& data);

}  // namespace gui
