// The look of every plot in one place: colours for light and dark, one colour per run, fonts, gradients.
#pragma once

#include <qcustomplot.h>

#include <QColor>
#include <QFont>
#include <QPalette>
#include <QPen>
#include <QVector>

namespace gui {

class PlotStyle {
public:
    static PlotStyle light();
    static PlotStyle dark();
    /// Dark when the palette's text is lighter than its window.
    static PlotStyle fromPalette(const QPalette& palette);

    bool isDark = false;
    QColor background;
    QColor card;
    QColor line;
    QColor text;
    QColor secondary;
    QColor accent;
    QColor trouble;  // red: trouble and nothing else
    QColor missing;  // behind the hatching of cells without a value

    /// Okabe–Ito; the last one is black, or white in dark mode.
    QVector<QColor> runColors() const;
    /// For areas: the palette's colour itself.
    QColor runColor(int index) const;
    /// For lines and dots: the same hue, moved away from the card until the contrast is 3 : 1.
    QColor runLineColor(int index) const;
    /// Second cue from the seventh run on.
    static Qt::PenStyle runDash(int index);
    static QCPScatterStyle::ScatterShape runMarker(int index);
    QPen runPen(int index) const;
    QCPScatterStyle runScatter(int index, double size) const;

    QFont titleFont() const;    // 13 px, semi-bold
    QFont textFont() const;     // 12 px
    QFont captionFont() const;  // 11 px

    /// No frame, light horizontal grid lines only, fonts and colours; NaN-safe drawing hints.
    void apply(QCustomPlot* plot) const;

    QCPColorGradient viridis() const;
    QCPColorGradient cividis() const;

    bool operator==(const PlotStyle& other) const { return isDark == other.isDark; }
};

/// WCAG contrast of two opaque colours, 1 … 21.
double contrast(const QColor& a, const QColor& b);

}  // namespace gui
