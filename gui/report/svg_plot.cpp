// The plots of a report. Each plot is laid out in a fixed box of kWidth units; the page scales it.
#include "report/svg_plot.h"

#include "models/formatting.h"

#include <QBuffer>
#include <QByteArray>
#include <QColor>
#include <QImage>
#include <QXmlStreamWriter>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace gui {

namespace {

constexpr double kWidth = 640;
constexpr double kLeft = 62;
constexpr double kRight = 14;
constexpr double kTitleHeight = 26;
constexpr double kAxisHeight = 38;
constexpr double kLegendRow = 18;
constexpr double kCharWidth = 6.1;  // of 11 px text, for laying out a legend without a font engine
const char* const kTrouble = "#c62828";

QString number(double value) {
    return QString::number(std::round(value * 100) / 100, 'g', 8);
}

/// Maps values onto a stretch of pixels, linearly or by log2.
struct Axis {
    double low = 0, high = 1;
    double from = 0, to = 1;
    bool log2 = false;

    bool shows(double value) const { return std::isfinite(value) && (!log2 || value > 0); }
    double operator()(double value) const {
        const double v = log2 ? std::log2(value) : value;
        return from + (v - low) / (high - low) * (to - from);
    }
};

/// Thin layer over the XML writer: every shape of the plots in one call.
class Canvas {
public:
    Canvas(QXmlStreamWriter& xml, const PlotTheme& theme) : m_xml(xml), m_theme(theme) {}

    const PlotTheme& theme() const { return m_theme; }
    QString runColor(int index) const { return m_theme.runColors[index % m_theme.runColors.size()]; }

    void line(double x1, double y1, double x2, double y2, const QString& color, double width = 1) {
        m_xml.writeStartElement(QStringLiteral("line"));
        attribute("x1", x1);
        attribute("y1", y1);
        attribute("x2", x2);
        attribute("y2", y2);
        m_xml.writeAttribute(QStringLiteral("style"),
                             QStringLiteral("stroke:%1;stroke-width:%2").arg(color).arg(width));
        m_xml.writeEndElement();
    }
    void rect(double x, double y, double width, double height, const QString& color, double opacity = 1) {
        m_xml.writeStartElement(QStringLiteral("rect"));
        attribute("x", x);
        attribute("y", y);
        attribute("width", width);
        attribute("height", height);
        m_xml.writeAttribute(QStringLiteral("style"),
                             QStringLiteral("fill:%1;fill-opacity:%2").arg(color).arg(opacity));
        m_xml.writeEndElement();
    }
    void dot(double x, double y, const QString& color, const QString& tip) {
        m_xml.writeStartElement(QStringLiteral("circle"));
        attribute("cx", x);
        attribute("cy", y);
        attribute("r", 2.5);
        m_xml.writeAttribute(QStringLiteral("style"), QStringLiteral("fill:none;stroke:%1;stroke-width:1").arg(color));
        m_xml.writeTextElement(QStringLiteral("title"), tip);
        m_xml.writeEndElement();
    }
    void path(const QString& data, const QString& style, const QString& tip = {}) {
        m_xml.writeStartElement(QStringLiteral("path"));
        m_xml.writeAttribute(QStringLiteral("d"), data);
        m_xml.writeAttribute(QStringLiteral("style"), style);
        if (!tip.isEmpty()) m_xml.writeTextElement(QStringLiteral("title"), tip);
        m_xml.writeEndElement();
    }
    void text(double x, double y, const QString& content, const char* anchor = "start", bool strong = false,
              bool turned = false) {
        m_xml.writeStartElement(QStringLiteral("text"));
        attribute("x", x);
        attribute("y", y);
        if (turned) {
            m_xml.writeAttribute(QStringLiteral("transform"),
                                 QStringLiteral("rotate(-90 %1 %2)").arg(number(x), number(y)));
        }
        m_xml.writeAttribute(QStringLiteral("text-anchor"), QLatin1String(anchor));
        m_xml.writeAttribute(QStringLiteral("style"),
                             QStringLiteral("fill:%1;font-family:sans-serif;font-size:%2px;font-weight:%3")
                                 .arg(strong ? m_theme.text : m_theme.secondary)
                                 .arg(strong ? 13 : 11)
                                 .arg(strong ? 600 : 400));
        m_xml.writeCharacters(content);
        m_xml.writeEndElement();
    }
    void image(double x, double y, double width, double height, const QImage& picture) {
        QByteArray png;
        QBuffer buffer(&png);
        buffer.open(QIODevice::WriteOnly);
        picture.save(&buffer, "PNG");
        m_xml.writeStartElement(QStringLiteral("image"));
        attribute("x", x);
        attribute("y", y);
        attribute("width", width);
        attribute("height", height);
        m_xml.writeAttribute(QStringLiteral("preserveAspectRatio"), QStringLiteral("none"));
        m_xml.writeAttribute(QStringLiteral("style"), QStringLiteral("image-rendering:pixelated"));
        m_xml.writeAttribute(QStringLiteral("xlink:href"),
                             QStringLiteral("data:image/png;base64,") + QString::fromLatin1(png.toBase64()));
        m_xml.writeEndElement();
    }

private:
    void attribute(const char* name, double value) { m_xml.writeAttribute(QLatin1String(name), number(value)); }

    QXmlStreamWriter& m_xml;
    const PlotTheme& m_theme;
};

/// Legend entries in rows; returns how many rows they take. Draws only when `canvas` is given.
int legendRows(const LinePlot& plot, Canvas* canvas, double top) {
    double x = kLeft;
    int row = 0;
    for (const PlotSeries& series : plot.series) {
        if (series.label.isEmpty()) continue;
        const double width = 30 + kCharWidth * static_cast<double>(series.label.size());
        if (x + width > kWidth && x > kLeft) {
            x = kLeft;
            ++row;
        }
        if (canvas) {
            const double y = top + kLegendRow * row + 10;
            canvas->path(
                QStringLiteral("M%1 %2 h18").arg(number(x), number(y - 4)),
                QStringLiteral("fill:none;stroke:%1;stroke-width:2;stroke-dasharray:%2")
                    .arg(canvas->runColor(series.color), series.dash.isEmpty() ? QStringLiteral("none") : series.dash));
            canvas->text(x + 23, y, series.label);
        }
        x += width + 8;
    }
    return x > kLeft || row > 0 ? row + 1 : 0;
}

/// One pixel column keeps its lowest and its highest point, in their order: spikes survive.
QString seriesPath(const PlotSeries& series, const Axis& xAxis, const Axis& yAxis) {
    struct Point {
        double x, y;
    };
    QString data;
    bool penDown = false;
    const auto draw = [&](Point point) {
        data += QLatin1Char(penDown ? 'L' : 'M') + number(point.x) + QLatin1Char(' ') + number(point.y);
        penDown = true;
    };
    std::vector<Point> column;
    const auto flush = [&] {
        if (column.empty()) return;
        const auto [low, high] =
            std::minmax_element(column.begin(), column.end(), [](const Point& a, const Point& b) { return a.y < b.y; });
        draw(low < high ? *low : *high);
        if (low != high) draw(low < high ? *high : *low);
        column.clear();
    };
    for (std::size_t i = 0; i < series.x.size() && i < series.y.size(); ++i) {
        if (!yAxis.shows(series.y[i]) || !xAxis.shows(series.x[i])) {
            flush();
            penDown = false;
            continue;
        }
        const Point point{xAxis(series.x[i]), yAxis(series.y[i])};
        if (!column.empty() && std::floor(point.x) != std::floor(column.front().x)) flush();
        column.push_back(point);
    }
    flush();
    return data;
}

void fitAxes(const LinePlot& plot, Axis& xAxis, Axis& yAxis) {
    const double infinity = std::numeric_limits<double>::infinity();
    double xLow = infinity, xHigh = -infinity, yLow = infinity, yHigh = -infinity;
    for (const PlotSeries& series : plot.series) {
        for (std::size_t i = 0; i < series.x.size() && i < series.y.size(); ++i) {
            if (!yAxis.shows(series.y[i]) || !xAxis.shows(series.x[i])) continue;
            const double y = yAxis.log2 ? std::log2(series.y[i]) : series.y[i];
            xLow = std::min(xLow, series.x[i]);
            xHigh = std::max(xHigh, series.x[i]);
            yLow = std::min(yLow, y);
            yHigh = std::max(yHigh, y);
        }
    }
    if (xLow > xHigh) xLow = 0, xHigh = 1, yLow = 0, yHigh = 1;
    if (yAxis.log2) yLow = std::floor(yLow), yHigh = std::ceil(yHigh);
    const double pad = yAxis.log2 ? 0 : std::max((yHigh - yLow) * 0.05, std::abs(yHigh) * 1e-6);
    xAxis.low = xLow;
    xAxis.high = xHigh > xLow ? xHigh : xLow + 1;
    yAxis.low = yLow - pad;
    yAxis.high = yHigh + pad > yAxis.low ? yHigh + pad : yAxis.low + 1;
}

void drawYAxis(Canvas& canvas, const Axis& axis, const QString& title) {
    if (axis.log2) {
        const int step = std::max(1, static_cast<int>(std::ceil((axis.high - axis.low) / 9)));
        for (int k = static_cast<int>(axis.low); k <= static_cast<int>(axis.high); k += step) {
            const double y = axis(std::exp2(k));
            canvas.line(kLeft, y, kWidth - kRight, y, canvas.theme().line);
            canvas.text(kLeft - 6, y + 4, log2Label(k), "end");
        }
    } else {
        for (double value : linearTicks(axis.low, axis.high, 6)) {
            const double y = axis(value);
            canvas.line(kLeft, y, kWidth - kRight, y, canvas.theme().line);
            canvas.text(kLeft - 6, y + 4, siNumber(value), "end");
        }
    }
    canvas.text(13, (axis.from + axis.to) / 2, title, "middle", false, true);
}

void drawXAxis(Canvas& canvas, const Axis& axis, double y, const QString& title) {
    for (double value : linearTicks(axis.low, axis.high, 8)) {
        const double x = axis(value);
        canvas.line(x, y, x, y + 4, canvas.theme().line);
        canvas.text(x, y + 16, siNumber(value), "middle");
    }
    canvas.text((axis.from + axis.to) / 2, y + 31, title, "middle");
}

void drawLinePlot(Canvas& canvas, const LinePlot& plot, double height) {
    const double legend = kLegendRow * legendRows(plot, nullptr, 0);
    const double bottom = height - legend - kAxisHeight;
    Axis xAxis, yAxis;
    yAxis.log2 = plot.log2Y;
    fitAxes(plot, xAxis, yAxis);
    xAxis.from = kLeft, xAxis.to = kWidth - kRight;
    yAxis.from = bottom, yAxis.to = kTitleHeight + 6;
    canvas.text(kLeft, 16, plot.title, "start", true);
    drawYAxis(canvas, yAxis, plot.yTitle);
    drawXAxis(canvas, xAxis, bottom, plot.xTitle);
    for (const PlotSeries& series : plot.series) {
        const QString data = seriesPath(series, xAxis, yAxis);
        if (data.isEmpty()) continue;
        canvas.path(data, QStringLiteral("fill:none;stroke:%1;stroke-width:1.2;stroke-opacity:%2;stroke-dasharray:%3")
                              .arg(canvas.runColor(series.color))
                              .arg(series.opacity)
                              .arg(series.dash.isEmpty() ? QStringLiteral("none") : series.dash));
    }
    for (const PlotMark& mark : plot.marks) {
        if (mark.x < xAxis.low || mark.x > xAxis.high) continue;
        canvas.path(QStringLiteral("M%1 %2 l4 7 h-8 z").arg(number(xAxis(mark.x)), number(bottom - 7)),
                    QStringLiteral("fill:%1").arg(mark.severe ? QLatin1String(kTrouble) : canvas.theme().secondary),
                    mark.text);
    }
    legendRows(plot, &canvas, height - legend);
}

constexpr double kBarHeight = 34;

void drawBarPlot(Canvas& canvas, const BarPlot& plot, double height) {
    double high = 0;
    std::size_t longest = 0;
    for (const PlotBar& bar : plot.bars) {
        high = std::max({high, bar.value, bar.high});
        for (double value : bar.dots) high = std::isfinite(value) ? std::max(high, value) : high;
        longest = std::max(longest, static_cast<std::size_t>(bar.label.size()));
    }
    const double left = std::min(20 + kCharWidth * static_cast<double>(longest), kWidth * 0.4);
    Axis axis{0, high > 0 ? high * 1.02 : 1, left, kWidth - kRight - 60};
    const double bottom = height - kAxisHeight;
    canvas.text(8, 16, plot.title, "start", true);
    for (double value : linearTicks(axis.low, axis.high, 6)) {
        canvas.line(axis(value), kTitleHeight, axis(value), bottom, canvas.theme().line);
    }
    drawXAxis(canvas, axis, bottom, plot.xTitle);
    double top = kTitleHeight + 4;
    for (const PlotBar& bar : plot.bars) {
        const double middle = top + kBarHeight / 2 - 2;
        const QString color = canvas.runColor(bar.color);
        canvas.text(left - 8, middle + 4, bar.label, "end");
        canvas.rect(left, top + 4, std::max(axis(std::max(bar.value, 0.0)) - left, 0.0), kBarHeight - 12, color, 0.35);
        canvas.line(axis(bar.value), top + 4, axis(bar.value), top + kBarHeight - 8, color, 2);
        if (bar.high > bar.low) canvas.line(axis(bar.low), middle, axis(bar.high), middle, canvas.theme().text);
        for (std::size_t i = 0; i < bar.dots.size(); ++i) {
            // Spread over three lines, so that repeats with nearly the same value stay countable.
            const double shift = 5.0 * (static_cast<double>(i % 3) - 1.0);
            if (std::isfinite(bar.dots[i])) {
                canvas.dot(axis(bar.dots[i]), middle + shift, canvas.theme().text, siNumber(bar.dots[i], 5));
            }
        }
        canvas.text(kWidth - kRight, middle + 4, bar.valueText, "end");
        top += kBarHeight;
    }
    canvas.line(left, kTitleHeight, left, bottom, canvas.theme().secondary);
}

/// Viridis from eight published samples, interpolated.
QColor viridis(double t) {
    static constexpr std::array<std::array<int, 3>, 8> kColors{{{68, 1, 84},
                                                                {70, 50, 126},
                                                                {54, 92, 141},
                                                                {39, 127, 142},
                                                                {31, 161, 135},
                                                                {74, 193, 109},
                                                                {160, 218, 57},
                                                                {253, 231, 37}}};
    const double place = std::clamp(t, 0.0, 1.0) * 7;
    const auto index = std::min(static_cast<std::size_t>(place), std::size_t{6});
    const double rest = place - static_cast<double>(index);
    const auto mix = [&](std::size_t channel) {
        return static_cast<int>(std::lround(kColors[index][channel] * (1 - rest) + kColors[index + 1][channel] * rest));
    };
    return {mix(0), mix(1), mix(2)};
}

/// One cell is kCell × kCell pixels, enough for the hatching that stands for "no value".
QImage heatImage(const HeatPlot& plot) {
    constexpr int kCell = 4;
    const auto rows = static_cast<int>(plot.rows.size());
    QImage image(std::max(plot.columns, 1) * kCell, std::max(rows, 1) * kCell, QImage::Format_ARGB32);
    image.fill(Qt::transparent);
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < plot.columns; ++column) {
            const double value = plot.values[static_cast<std::size_t>(row) * static_cast<std::size_t>(plot.columns) +
                                             static_cast<std::size_t>(column)];
            const bool hatched = std::isnan(value);
            QColor color(128, 128, 128);
            if (value < plot.low)
                color = QColor(QLatin1String(kTrouble));
            else if (!hatched)
                color = viridis((value - plot.low) / (plot.high - plot.low));
            for (int y = 0; y < kCell; ++y) {
                for (int x = 0; x < kCell; ++x) {
                    if (!hatched || x + y == kCell - 1) image.setPixelColor(column * kCell + x, row * kCell + y, color);
                }
            }
        }
    }
    return image;
}

/// Many tensors share the height of one page; then not every row has a label.
double heatRow(const HeatPlot& plot) {
    constexpr double kRow = 13;
    constexpr double kMostHeight = 620;
    return std::min(kRow, kMostHeight / static_cast<double>(std::max<qsizetype>(plot.rows.size(), 1)));
}

void drawHeatPlot(Canvas& canvas, const HeatPlot& plot, double height) {
    qsizetype longest = 0;
    for (const QString& row : plot.rows) longest = std::max(longest, row.size());
    const double left = std::min(16 + kCharWidth * static_cast<double>(longest), kWidth * 0.45);
    const double bottom = height - kAxisHeight - 26;
    canvas.text(8, 16, plot.title, "start", true);
    canvas.image(left, kTitleHeight, kWidth - kRight - left, bottom - kTitleHeight, heatImage(plot));
    const double row = heatRow(plot);
    const auto labelEvery = static_cast<qsizetype>(std::ceil(11 / row));
    for (qsizetype i = 0; i < plot.rows.size(); i += labelEvery) {
        const double baseline = kTitleHeight + row * (static_cast<double>(i) + 0.5) + 4;
        canvas.text(left - 6, baseline, plot.rows[i], "end");
    }
    Axis axis{plot.firstX, plot.firstX + std::max(plot.columns, 1) * plot.xPerColumn, left, kWidth - kRight};
    drawXAxis(canvas, axis, bottom, plot.xTitle);
    constexpr int kKeySteps = 32;
    constexpr double kKeyWidth = 160;
    const double keyTop = height - 20;
    for (int i = 0; i < kKeySteps; ++i) {
        canvas.rect(left + kKeyWidth * i / kKeySteps, keyTop, kKeyWidth / kKeySteps + 0.3, 9,
                    viridis(i / (kKeySteps - 1.0)).name());
    }
    canvas.text(left - 6, keyTop + 9, significant(plot.low), "end");
    canvas.text(left + kKeyWidth + 6, keyTop + 9, significant(plot.high) + QLatin1Char(' ') + plot.scaleTitle);
}

double plotHeight(const LinePlot& plot) {
    return 270 + kLegendRow * legendRows(plot, nullptr, 0);
}
double plotHeight(const BarPlot& plot) {
    return kTitleHeight + kBarHeight * static_cast<double>(plot.bars.size()) + 8 + kAxisHeight;
}
double plotHeight(const HeatPlot& plot) {
    return kTitleHeight + heatRow(plot) * static_cast<double>(plot.rows.size()) + kAxisHeight + 26;
}

void draw(Canvas& canvas, const LinePlot& plot, double height) {
    drawLinePlot(canvas, plot, height);
}
void draw(Canvas& canvas, const BarPlot& plot, double height) {
    drawBarPlot(canvas, plot, height);
}
void draw(Canvas& canvas, const HeatPlot& plot, double height) {
    drawHeatPlot(canvas, plot, height);
}

}  // namespace

PlotTheme PlotTheme::paper() {
    return {
        QStringLiteral("#1d2129"),
        QStringLiteral("#667085"),
        QStringLiteral("#d9dce1"),
        {QStringLiteral("#0072B2"), QStringLiteral("#E69F00"), QStringLiteral("#009E73"), QStringLiteral("#CC79A7"),
         QStringLiteral("#56B4E9"), QStringLiteral("#D55E00"), QStringLiteral("#F0E442"), QStringLiteral("#000000")}};
}

PlotTheme PlotTheme::css() {
    PlotTheme theme = paper();
    theme.text = QStringLiteral("var(--text)");
    theme.secondary = QStringLiteral("var(--secondary)");
    theme.line = QStringLiteral("var(--line)");
    theme.runColors.back() = QStringLiteral("var(--last-run)");
    return theme;
}

std::vector<double> linearTicks(double low, double high, int count) {
    std::vector<double> ticks;
    if (!std::isfinite(low) || !std::isfinite(high) || high <= low || count < 1) return ticks;
    const double raw = (high - low) / count;
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    const double ratio = raw / power;
    const double step = power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
    const double first = std::ceil(low / step - 1e-9);
    for (double i = first; i * step <= high + step * 1e-9; i += 1) ticks.push_back(i * step + 0.0);
    return ticks;
}

QString plotTitle(const Plot& plot) {
    return std::visit([](const auto& kind) { return kind.title; }, plot);
}

void writeSvg(QXmlStreamWriter& xml, const Plot& plot, const PlotTheme& theme) {
    const double height = std::visit([](const auto& kind) { return plotHeight(kind); }, plot);
    xml.writeStartElement(QStringLiteral("svg"));
    xml.writeAttribute(QStringLiteral("xmlns"), QStringLiteral("http://www.w3.org/2000/svg"));
    xml.writeAttribute(QStringLiteral("xmlns:xlink"), QStringLiteral("http://www.w3.org/1999/xlink"));
    xml.writeAttribute(QStringLiteral("viewBox"), QStringLiteral("0 0 %1 %2").arg(number(kWidth), number(height)));
    xml.writeAttribute(QStringLiteral("width"), number(kWidth));
    xml.writeAttribute(QStringLiteral("height"), number(height));
    xml.writeAttribute(QStringLiteral("role"), QStringLiteral("img"));
    xml.writeAttribute(QStringLiteral("aria-label"), plotTitle(plot));
    Canvas canvas(xml, theme);
    std::visit([&](const auto& kind) { draw(canvas, kind, height); }, plot);
    xml.writeEndElement();
}

QString svgText(const Plot& plot, const PlotTheme& theme) {
    QString text;
    QXmlStreamWriter xml(&text);
    writeSvg(xml, plot, theme);
    return text;
}

}  // namespace gui
