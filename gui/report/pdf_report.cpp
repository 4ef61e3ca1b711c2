// Lays the report out as a QTextDocument; a custom text object draws each plot with QSvgRenderer.
#include "report/pdf_report.h"

#include <QAbstractTextDocumentLayout>
#include <QFile>
#include <QFont>
#include <QMarginsF>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgRenderer>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextObjectInterface>
#include <QTextTable>

#include <algorithm>

namespace gui {

namespace {

constexpr int kSvgObject = QTextFormat::UserObject + 1;
constexpr int kSvgProperty = QTextFormat::UserProperty + 1;
constexpr int kPointsPerInch = 72;
constexpr double kPlotPoints = 470;  // a little less than the width of A4 within the 2 cm that print() leaves
constexpr int kDotsPerInch = 300;

/// Draws a format's SVG text; sizes follow the resolution of the page.
class SvgTextObject : public QObject, public QTextObjectInterface {
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)
public:
    QSizeF intrinsicSize(QTextDocument* document, int, const QTextFormat& format) override {
        const QPaintDevice* device = document->documentLayout()->paintDevice();
        const double dots = device ? device->logicalDpiX() : 96;
        const QSvgRenderer renderer(format.property(kSvgProperty).toByteArray());
        const QSizeF natural = renderer.defaultSize();
        const double width = kPlotPoints * dots / kPointsPerInch;
        return {width, width * natural.height() / std::max(natural.width(), 1.0)};
    }
    void drawObject(QPainter* painter, const QRectF& rect, QTextDocument*, int, const QTextFormat& format) override {
        // print() paints the whole document once per page, clipped to it.
        if (painter->hasClipping() && !painter->clipBoundingRect().intersects(rect)) return;
        QSvgRenderer renderer(format.property(kSvgProperty).toByteArray());
        renderer.render(painter, rect);
    }
};

class PdfBuilder {
public:
    explicit PdfBuilder(QTextDocument& document) : m_cursor(&document) {}

    void write(const ReportContent& content) {
        m_cursor.beginEditBlock();  // lays out once at the end, not after every cell
        line(content.title, 15, true);
        line(content.subtitle, 8, false);
        for (const ReportSection& section : content.sections) {
            line(section.title, 12, true);
            for (const ReportBlock& block : section.blocks) writeBlock(block);
        }
        m_cursor.endEditBlock();
    }

private:
    void writeBlock(const ReportBlock& block) {
        switch (block.kind) {
            case ReportBlock::Kind::Text:
                line(block.text, 8, false);
                break;
            case ReportBlock::Kind::SubHeading:
                line(block.text, 9, true);
                break;
            case ReportBlock::Kind::Table:
                writeTable(block.table);
                break;
            case ReportBlock::Kind::Figure:
                writeFigure(block);
                break;
        }
    }

    static QTextCharFormat font(double points, bool strong) {
        QTextCharFormat format;
        format.setFontPointSize(points);
        format.setFontWeight(strong ? QFont::DemiBold : QFont::Normal);
        return format;
    }

    void line(const QString& text, double points, bool strong) {
        QTextBlockFormat block;
        block.setTopMargin(strong ? points : points / 2);
        block.setBottomMargin(points / 3);
        m_cursor.insertBlock(block, font(points, strong));
        m_cursor.insertText(text);
    }

    void writeTable(const ReportTable& table) {
        QTextTableFormat format;
        format.setBorder(0.5);
        format.setBorderCollapse(true);
        format.setBorderBrush(QColor(0xd9, 0xdc, 0xe1));
        format.setCellPadding(3);
        format.setHeaderRowCount(1);
        format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
        const int columns = static_cast<int>(table.header.size());
        QTextTable* grid = m_cursor.insertTable(static_cast<int>(table.rows.size()) + 1, columns, format);
        writeRow(*grid, 0, table.header, table.textColumns, true);
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            writeRow(*grid, static_cast<int>(i) + 1, table.rows[i], table.textColumns, false);
        }
        m_cursor.movePosition(QTextCursor::End);
    }

    static void writeRow(QTextTable& grid, int row, const QStringList& cells, int textColumns, bool strong) {
        for (int column = 0; column < std::min(static_cast<int>(cells.size()), grid.columns()); ++column) {
            QTextCursor cursor = grid.cellAt(row, column).firstCursorPosition();
            QTextBlockFormat block;
            block.setAlignment(column < textColumns ? Qt::AlignLeft : Qt::AlignRight);
            block.setNonBreakableLines(false);
            cursor.setBlockFormat(block);
            cursor.insertText(cells[column], font(7, strong));
        }
    }

    void writeFigure(const ReportBlock& block) {
        QTextCharFormat format;
        format.setObjectType(kSvgObject);
        format.setProperty(kSvgProperty, svgText(block.plot, PlotTheme::paper()).toUtf8());
        m_cursor.insertBlock(QTextBlockFormat(), QTextCharFormat());
        m_cursor.insertText(QString(QChar::ObjectReplacementCharacter), format);
    }

    QTextCursor m_cursor;
};

}  // namespace

bool writePdfReport(const ReportContent& content, const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly | QIODevice::Truncate)) return false;
    {
        QPdfWriter writer(&file);
        writer.setTitle(content.title);
        writer.setCreator(QStringLiteral("Amaxscope"));
        writer.setResolution(kDotsPerInch);
        writer.setPageSize(QPageSize(QPageSize::A4));
        writer.setPageMargins(QMarginsF());
        SvgTextObject plots;
        QTextDocument document;
        document.setDocumentMargin(0);
        QFont base(QStringLiteral("Sans"));
        base.setPointSizeF(8);
        document.setDefaultFont(base);
        document.documentLayout()->registerHandler(kSvgObject, &plots);
        PdfBuilder(document).write(content);
        document.print(&writer);
    }
    return file.flush() && file.error() == QFileDevice::NoError;
}

}  // namespace gui

#include "pdf_report.moc"
