// Writes ReportContent as GitHub-flavoured Markdown.
#include "report/markdown_report.h"

namespace gui {

namespace {

/// Characters that Markdown or the HTML inside it would take as markup.
QString escaped(const QString& text) {
    QString result;
    for (QChar c : text) {
        if (c == QLatin1Char('\n') || c == QLatin1Char('\r')) {
            result += QLatin1Char(' ');
            continue;
        }
        if (QStringLiteral("\\|<>*_`[]&").contains(c)) result += QLatin1Char('\\');
        result += c;
    }
    return result;
}

QString tableRow(const QStringList& cells) {
    QString line = QStringLiteral("|");
    for (const QString& cell : cells) line += QLatin1Char(' ') + escaped(cell) + QStringLiteral(" |");
    return line + QLatin1Char('\n');
}

QString tableText(const ReportTable& table) {
    QString lines = tableRow(table.header) + QLatin1Char('|');
    for (qsizetype i = 0; i < table.header.size(); ++i) {
        lines += i < table.textColumns ? QStringLiteral("---|") : QStringLiteral("---:|");
    }
    lines += QLatin1Char('\n');
    for (const QStringList& row : table.rows) lines += tableRow(row);
    return lines + QLatin1Char('\n');
}

}  // namespace

QByteArray markdownReport(const ReportContent& content) {
    QString out = QStringLiteral("# ") + escaped(content.title) + QStringLiteral("\n\n") + escaped(content.subtitle) +
                  QStringLiteral("\n\n");
    for (const ReportSection& section : content.sections) {
        out += QStringLiteral("## ") + escaped(section.title) + QStringLiteral("\n\n");
        for (const ReportBlock& block : section.blocks) {
            switch (block.kind) {
                case ReportBlock::Kind::Text:
                    out += escaped(block.text) + QStringLiteral("\n\n");
                    break;
                case ReportBlock::Kind::SubHeading:
                    out += QStringLiteral("### ") + escaped(block.text) + QStringLiteral("\n\n");
                    break;
                case ReportBlock::Kind::Table:
                    out += tableText(block.table);
                    break;
                case ReportBlock::Kind::Figure:
                    out += QStringLiteral("- plot, in the HTML and PDF reports: ") + escaped(block.text) +
                           QStringLiteral("\n\n");
                    break;
            }
        }
    }
    return out.toUtf8();
}

}  // namespace gui
