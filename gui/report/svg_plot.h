// Draws small plots as SVG text: lines (optionally on a log2 axis), bars with every repeat as a dot, heat maps.
// Needs no display. The output is SVG Tiny with inline styles, so that browsers and QSvgRenderer (the PDF report)
// draw it alike; all text is escaped by QXmlStreamWriter.
#pragma once

#include <QString>
#include <QStringList>

#include <cstdint>
#include <variant>
#include <vector>

class QXmlStreamWriter;

namespace gui {

/// Colours as CSS values: fixed for paper, var(--…) for HTML, where the page switches light and dark.
struct PlotTheme {
    QString text;
    QString secondary;
    QString line;
    QStringList runColors;  // eight; used in turn

    static PlotTheme paper();
    static PlotTheme css();
};

struct PlotSeries {
    QString label;
    int color = 0;
    QString dash;  // "" or an SVG dash pattern: "5 3"
    double opacity = 1;
    std::vector<double> x;
    std::vector<double> y;  // NaN and infinities make gaps; on a log2 axis so does what is not positive
};

struct PlotMark {
    double x;
    QString text;         // tool tip of the small triangle on the x axis
    bool severe = false;  // red
};

struct LinePlot {
    QString title;
    QString xTitle;
    QString yTitle;
    bool log2Y = false;
    std::vector<PlotSeries> series;
    std::vector<PlotMark> marks;
};

struct PlotBar {
    QString label;
    QString valueText;
    int color = 0;
    double value = 0;
    double low = 0;  // quartiles, drawn as a whisker when high > low
    double high = 0;
    std::vector<double> dots;
};

/// Horizontal bars from zero.
struct BarPlot {
    QString title;
    QString xTitle;
    std::vector<PlotBar> bars;
};

/// Values below `low` are trouble and drawn red; above `high` the colour saturates; NaN is hatched.
struct HeatPlot {
    QString title;
    QString xTitle;
    QString scaleTitle;
    QStringList rows;
    int columns = 0;
    double firstX = 0;
    double xPerColumn = 1;
    double low = 0;
    double high = 1;
    std::vector<float> values;  // [rows][columns]
};

using Plot = std::variant<LinePlot, BarPlot, HeatPlot>;

/// Writes one <svg> element of a fixed width and the height that the plot needs.
void writeSvg(QXmlStreamWriter& xml, const Plot& plot, const PlotTheme& theme);
/// The same as a document of its own.
QString svgText(const Plot& plot, const PlotTheme& theme);

QString plotTitle(const Plot& plot);

/// Round positions that cover [low, high], about `count` of them; steps are 1, 2 or 5 times a power of ten.
std::vector<double> linearTicks(double low, double high, int count);

}  // namespace gui
