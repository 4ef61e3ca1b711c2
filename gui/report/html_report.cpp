// Writes ReportContent as XHTML-style HTML 5. QXmlStreamWriter escapes every text, so kernel names with angle
// brackets show as they are.
#include "report/html_report.h"

#include <QXmlStreamWriter>

namespace gui {

namespace {

// No '<', '>' or '&' in here: the page is XML too.
const char* const kStyle = R"css(
:root { color-scheme: light dark; --background: #f7f7f8; --card: #ffffff; --line: #d9dce1; --text: #1d2129;
  --secondary: #667085; --last-run: #000000; }
@media (prefers-color-scheme: dark) {
  :root { --background: #16181d; --card: #1e2128; --line: #343943; --text: #e7e9ee; --secondary: #98a1b0;
    --last-run: #ffffff; }
}
@media print { :root { color-scheme: light; } section { break-inside: auto; } figure { break-inside: avoid; } }
body { margin: 0 auto; padding: 24px; max-width: 1360px; background: var(--background); color: var(--text);
  font: 12px/1.5 system-ui, sans-serif; }
h1 { font-size: 20px; margin: 0; } h2 { font-size: 15px; margin: 0 0 8px; } h3 { font-size: 13px; margin: 16px 0 8px; }
p { margin: 4px 0 8px; } .quiet { color: var(--secondary); }
nav { margin: 12px 0; } nav a { margin-right: 16px; color: inherit; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 16px; margin: 16px 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); gap: 16px; }
figure { margin: 0; } svg { max-width: 100%; height: auto; display: block; }
.table { overflow-x: auto; margin: 8px 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 4px 8px; border-bottom: 1px solid var(--line); vertical-align: top; text-align: left;
  overflow-wrap: anywhere; }
th { font-weight: 600; } .number { text-align: right; }
.swatch { display: inline-block; width: 9px; height: 9px; border-radius: 2px; margin-right: 6px; }
)css";

class HtmlWriter {
public:
    explicit HtmlWriter(QByteArray& out) : m_xml(&out), m_theme(PlotTheme::css()) {}

    void write(const ReportContent& content) {
        m_xml.writeDTD(QStringLiteral("<!DOCTYPE html>\n"));
        open("html");
        m_xml.writeAttribute(QStringLiteral("lang"), QStringLiteral("en"));
        writeHead(content.title);
        open("body");
        element("h1", content.title);
        element("p", content.subtitle, "quiet");
        open("nav");
        for (const ReportSection& section : content.sections) {
            open("a");
            m_xml.writeAttribute(QStringLiteral("href"), QLatin1Char('#') + section.id);
            m_xml.writeCharacters(section.title);
            close();
        }
        close();
        for (const ReportSection& section : content.sections) writeSection(section);
        close();
        close();
    }

private:
    void open(const char* name, const char* cssClass = nullptr) {
        m_xml.writeStartElement(QLatin1String(name));
        if (cssClass) m_xml.writeAttribute(QStringLiteral("class"), QLatin1String(cssClass));
    }
    /// Empty text keeps the writer from shortening an element to <td/>, which HTML reads as an opening tag.
    void close() {
        m_xml.writeCharacters(QString());
        m_xml.writeEndElement();
    }
    void element(const char* name, const QString& text, const char* cssClass = nullptr) {
        open(name, cssClass);
        m_xml.writeCharacters(text);
        close();
    }

    void writeHead(const QString& title) {
        open("head");
        m_xml.writeEmptyElement(QStringLiteral("meta"));
        m_xml.writeAttribute(QStringLiteral("charset"), QStringLiteral("utf-8"));
        m_xml.writeEmptyElement(QStringLiteral("meta"));
        m_xml.writeAttribute(QStringLiteral("name"), QStringLiteral("viewport"));
        m_xml.writeAttribute(QStringLiteral("content"), QStringLiteral("width=device-width, initial-scale=1"));
        element("title", title);
        element("style", QString::fromUtf8(kStyle));
        close();
    }

    void writeSection(const ReportSection& section) {
        open("section");
        m_xml.writeAttribute(QStringLiteral("id"), section.id);
        element("h2", section.title);
        bool inFigures = false;
        for (const ReportBlock& block : section.blocks) {
            const bool figure = block.kind == ReportBlock::Kind::Figure;
            if (figure && !inFigures) open("div", "figures");
            if (!figure && inFigures) close();
            inFigures = figure;
            writeBlock(block);
        }
        if (inFigures) close();
        close();
    }

    void writeBlock(const ReportBlock& block) {
        switch (block.kind) {
            case ReportBlock::Kind::Text:
                element("p", block.text);
                break;
            case ReportBlock::Kind::SubHeading:
                element("h3", block.text);
                break;
            case ReportBlock::Kind::Table:
                writeTable(block.table);
                break;
            case ReportBlock::Kind::Figure:
                open("figure");
                writeSvg(m_xml, block.plot, m_theme);
                close();
                break;
        }
    }

    void writeTable(const ReportTable& table) {
        open("div", "table");
        open("table");
        open("thead");
        open("tr");
        for (qsizetype i = 0; i < table.header.size(); ++i) {
            open("th", i < table.textColumns ? nullptr : "number");
            const auto column = static_cast<std::size_t>(i);
            if (column < table.headerColors.size() && table.headerColors[column] >= 0) {
                open("span", "swatch");
                m_xml.writeAttribute(QStringLiteral("style"),
                                     QStringLiteral("background:") +
                                         m_theme.runColors[table.headerColors[column] % m_theme.runColors.size()]);
                close();
            }
            m_xml.writeCharacters(table.header[i]);
            close();
        }
        close();
        close();
        open("tbody");
        for (const QStringList& row : table.rows) {
            open("tr");
            for (qsizetype i = 0; i < row.size(); ++i) {
                element("td", row[i], i < table.textColumns ? nullptr : "number");
            }
            close();
        }
        close();
        close();
        close();
    }

    QXmlStreamWriter m_xml;
    PlotTheme m_theme;
};

}  // namespace

QByteArray htmlReport(const ReportContent& content) {
    QByteArray out;
    HtmlWriter(out).write(content);
    return out;
}

}  // namespace gui
