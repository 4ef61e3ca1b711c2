// Colours, fonts and axis looks; see plot_style.h.
#include "views/plot_style.h"

#include <QApplication>

#include <algorithm>
#include <array>
#include <cmath>

namespace gui {
namespace {

double luminance(const QColor& color) {
    const auto linear = [](double channel) {
        return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

QColor mixed(const QColor& from, const QColor& to, double share) {
    const auto mix = [share](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
    return QColor(mix(from.red(), to.red()), mix(from.green(), to.green()), mix(from.blue(), to.blue()));
}

/// `pixels` at the usual text size of 12 px; in step with the user's own font when that is larger.
QFont fontOfSize(int pixels, QFont::Weight weight) {
    constexpr double kUsual = 12;
    QFont font = QApplication::font();
    const double scale = std::max(1.0, QFontInfo(font).pixelSize() / kUsual);
    font.setPixelSize(static_cast<int>(std::lround(pixels * scale)));
    font.setWeight(weight);
    return font;
}

QCPColorGradient gradientOf(std::initializer_list<QRgb> stops, const QColor& nan) {
    QCPColorGradient gradient;
    gradient.clearColorStops();
    const double last = static_cast<double>(stops.size() - 1);
    double at = 0;
    for (const QRgb stop : stops) gradient.setColorStopAt(at++ / last, QColor(stop));
    gradient.setLevelCount(256);
    gradient.setNanHandling(QCPColorGradient::nhNanColor);
    gradient.setNanColor(nan);
    return gradient;
}

void styleAxis(QCPAxis* axis, const PlotStyle& style) {
    axis->setBasePen(Qt::NoPen);
    axis->setTickPen(Qt::NoPen);
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLength(0, 0);
    axis->setTickLabelColor(style.secondary);
    axis->setTickLabelFont(style.captionFont());
    axis->setTickLabelPadding(4);
    axis->setLabelColor(style.secondary);
    axis->setLabelFont(style.captionFont());
    axis->setLabelPadding(3);
    axis->grid()->setPen(QPen(style.line, 1));
    axis->grid()->setSubGridVisible(false);
    axis->grid()->setZeroLinePen(Qt::NoPen);
    axis->grid()->setVisible(axis->orientation() == Qt::Vertical);
}

}  // namespace

double contrast(const QColor& a, const QColor& b) {
    const double first = luminance(a) + 0.05;
    const double second = luminance(b) + 0.05;
    return std::max(first, second) / std::min(first, second);
}

PlotStyle PlotStyle::light() {
    PlotStyle style;
    style.background = QColor(0xf7, 0xf7, 0xf8);
    style.card = QColor(0xff, 0xff, 0xff);
    style.line = QColor(0xd9, 0xdc, 0xe1);
    style.text = QColor(0x1d, 0x21, 0x29);
    style.secondary = QColor(0x66, 0x70, 0x85);
    style.accent = QColor(0x00, 0x72, 0xb2);
    style.trouble = QColor(0xc0, 0x2b, 0x1d);
    style.missing = QColor(0xe4, 0xe6, 0xea);
    return style;
}

PlotStyle PlotStyle::dark() {
    PlotStyle style;
    style.isDark = true;
    style.background = QColor(0x16, 0x18, 0x1d);
    style.card = QColor(0x1e, 0x21, 0x28);
    style.line = QColor(0x34, 0x39, 0x43);
    style.text = QColor(0xe7, 0xe9, 0xee);
    style.secondary = QColor(0x98, 0xa1, 0xb0);
    style.accent = QColor(0x56, 0xb4, 0xe9);
    style.trouble = QColor(0xff, 0x7b, 0x6b);
    style.missing = QColor(0x3a, 0x3f, 0x4a);
    return style;
}

PlotStyle PlotStyle::fromPalette(const QPalette& palette) {
    const bool isDark = luminance(palette.color(QPalette::WindowText)) > luminance(palette.color(QPalette::Window));
    return isDark ? dark() : light();
}

QVector<QColor> PlotStyle::runColors() const {
    return {QColor(0x00, 0x72, 0xb2), QColor(0xe6, 0x9f, 0x00),
            QColor(0x00, 0x9e, 0x73), QColor(0xcc, 0x79, 0xa7),
            QColor(0x56, 0xb4, 0xe9), QColor(0xd5, 0x5e, 0x00),
            QColor(0xf0, 0xe4, 0x42), isDark ? QColor(Qt::white) : QColor(Qt::black)};
}

QColor PlotStyle::runColor(int index) const {
    const QVector<QColor> colors = runColors();
    return colors[std::max(0, index) % colors.size()];
}

QColor PlotStyle::runLineColor(int index) const {
    const QColor base = runColor(index);
    const QColor away = isDark ? QColor(Qt::white) : QColor(Qt::black);
    QColor color = base;
    for (double share = 0; contrast(color, card) < 3.0 && share <= 1.0; share += 0.05) {
        color = mixed(base, away, share);
    }
    return color;
}

Qt::PenStyle PlotStyle::runDash(int index) {
    constexpr int kFirstDashed = 6;
    if (index < kFirstDashed) return Qt::SolidLine;
    constexpr std::array kDashes{Qt::DashLine, Qt::DotLine, Qt::DashDotLine, Qt::DashDotDotLine};
    return kDashes[static_cast<std::size_t>(index - kFirstDashed) / 2 % kDashes.size()];
}

QCPScatterStyle::ScatterShape PlotStyle::runMarker(int index) {
    constexpr int kFirstMarked = 6;
    if (index < kFirstMarked) return QCPScatterStyle::ssDisc;
    constexpr std::array kShapes{QCPScatterStyle::ssSquare, QCPScatterStyle::ssDiamond, QCPScatterStyle::ssTriangle,
                                 QCPScatterStyle::ssCross, QCPScatterStyle::ssPlus};
    return kShapes[static_cast<std::size_t>(index - kFirstMarked) % kShapes.size()];
}

QPen PlotStyle::runPen(int index) const {
    return QPen(runLineColor(index), 1, runDash(index));
}

QCPScatterStyle PlotStyle::runScatter(int index, double size) const {
    const QColor color = runLineColor(index);
    return QCPScatterStyle(runMarker(index), QPen(color, 1), QBrush(color), size);
}

QFont PlotStyle::titleFont() const {
    return fontOfSize(13, QFont::DemiBold);
}
QFont PlotStyle::textFont() const {
    return fontOfSize(12, QFont::Normal);
}
QFont PlotStyle::captionFont() const {
    return fontOfSize(11, QFont::Normal);
}

void PlotStyle::apply(QCustomPlot* plot) const {
    plot->setBackground(QBrush(card));
    plot->setPlottingHint(QCP::phFastPolylines, true);  // wide pens at device scale 2 are very slow without
    plot->setNoAntialiasingOnDrag(true);
    for (QCPAxisRect* rect : plot->axisRects()) {
        rect->setBackground(QBrush(Qt::NoBrush));
        for (QCPAxis* axis : rect->axes()) styleAxis(axis, *this);
    }
    if (plot->selectionRect() != nullptr) {
        QColor fill = accent;
        fill.setAlpha(40);
        plot->selectionRect()->setPen(QPen(accent, 1));
        plot->selectionRect()->setBrush(QBrush(fill));
    }
}

QCPColorGradient PlotStyle::viridis() const {
    return gradientOf(
        {0x440154, 0x482475, 0x414487, 0x355f8d, 0x2a788e, 0x21918c, 0x22a884, 0x44bf70, 0x7ad151, 0xbddf26, 0xfde725},
        missing);
}

QCPColorGradient PlotStyle::cividis() const {
    return gradientOf(
        {0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173, 0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfee838}, missing);
}

}  // namespace gui
