// Data, ranges and look of one plot; input handling is in plot_input.cpp, painting over the data in plot_overlay.cpp.
#include "views/plot_widget.h"

#include "models/formatting.h"
#include "selection.h"
#include "views/axis_tickers.h"
#include "views/plot_overlay.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace gui {
namespace {

constexpr int kRightMargin = 12;
constexpr double kPad = 0.06;  // of the range, left and right of the data

QCPRange padded(const Limits& limits, double share) {
    const double span = limits.high - limits.low;
    if (span > 0) return {limits.low - span * share, limits.high + span * share};
    const double around = limits.low == 0 ? 1.0 : std::abs(limits.low) * 0.1;
    return {limits.low - around, limits.low + around};
}

void fill(QCPGraph* graph, const Series& series) {
    QVector<QCPGraphData> data;
    data.reserve(static_cast<qsizetype>(series.size()));
    for (std::size_t i = 0; i < series.size(); ++i) data.push_back({series.x[i], series.y[i]});
    graph->data()->set(data, true);
}

}  // namespace

PlotWidget::PlotWidget(Selection* selection, QWidget* parent)
    : QCustomPlot(parent), m_selection(selection), m_group(nullptr), m_style(PlotStyle::light()) {
    addLayer(QStringLiteral("cursor"), layer(QStringLiteral("overlay")), limAbove);
    layer(QStringLiteral("cursor"))->setMode(QCPLayer::lmBuffered);
    m_overlay = new PlotOverlay(this);
    m_decoration = new PlotDecoration(this);
    (new PlotGroup(false, this))->add(this);

    setInteractions(QCP::iRangeDrag);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    xAxis->setTicker(QSharedPointer<QCPAxisTicker>(hasStepAxis() ? new StepTicker : new SiTicker));
    yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new SiTicker));
    yAxis->ticker()->setTickCount(4);
    setMinimumSize(120, 60);
    setStyle(m_style);

    connect(this, &QCustomPlot::beforeReplot, this, &PlotWidget::thin);
    if (m_selection != nullptr) {
        connect(m_selection, &Selection::cursorChanged, this, &PlotWidget::redrawOverlay);
    }
    createActions();
}

PlotWidget::~PlotWidget() = default;

int PlotWidget::addLine(const LineLook& look) {
    Line line;
    line.graph = addGraph();
    line.dots = addGraph();
    for (QCPGraph* graph : {line.graph, line.dots}) {
        graph->setAdaptiveSampling(false);  // thin() did it, and knows gaps
        graph->setSelectable(QCP::stNone);
    }
    line.dots->setLineStyle(QCPGraph::lsNone);
    m_lines.push_back(std::move(line));
    setLook(lineCount() - 1, look);
    return lineCount() - 1;
}

void PlotWidget::setLook(int index, const LineLook& look) {
    Line& line = m_lines[static_cast<std::size_t>(index)];
    line.look = look;
    line.graph->setPen(look.pen);
    line.graph->setLineStyle(look.joined ? QCPGraph::lsLine : QCPGraph::lsNone);
    line.graph->setScatterStyle(look.scatter);
    line.graph->setName(look.name);
    const bool needsDots = look.joined && look.scatter.isNone();
    const QColor color = look.pen.color();
    line.dots->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, QPen(color, 1), QBrush(color), 3));
    line.dots->setVisible(needsDots);
}

void PlotWidget::setData(int index, Series series) {
    Line& line = m_lines[static_cast<std::size_t>(index)];
    line.raw = std::move(series);
    prepare(line);
}

void PlotWidget::prepare(Line& line) {
    line.log2 = m_yScale == YScale::Log2 ? toLog2(line.raw) : Log2Series{};
    line.lone = line.look.joined ? lonePoints(line.drawn(m_yScale)) : Series{};
    m_thinned = false;
}

void PlotWidget::clearLines() {
    for (Line& line : m_lines) {
        removeGraph(line.graph);
        removeGraph(line.dots);
    }
    m_lines.clear();
}

std::size_t PlotWidget::pointCount() const {
    std::size_t points = 0;
    for (const Line& line : m_lines) points += line.raw.size();
    return points;
}

void PlotWidget::setMarks(std::vector<StepMark> marks) {
    m_marks = std::move(marks);
}

void PlotWidget::setYScale(YScale scale) {
    if (scale == m_yScale) return;
    m_yScale = scale;
    yAxis->setTicker(QSharedPointer<QCPAxisTicker>(scale == YScale::Log2 ? static_cast<QCPAxisTicker*>(new Log2Ticker)
                                                                         : new SiTicker));
    yAxis->ticker()->setTickCount(4);
    for (Line& line : m_lines) prepare(line);
}

void PlotWidget::setCaption(const QString& caption) {
    m_caption = caption;
    setAccessibleName(caption);
}

void PlotWidget::setLeftMargin(int pixels) {
    axisRect()->setAutoMargins(QCP::msBottom);
    axisRect()->setMargins(QMargins(pixels, PlotDecoration::headerHeight(m_style), kRightMargin, 0));
}

void PlotWidget::setExtraLimits(std::function<Limits()> x, std::function<Limits()> y) {
    m_extraX = std::move(x);
    m_extraY = std::move(y);
}

void PlotWidget::setExtraReadout(std::function<std::vector<ReadoutRow>(double, double)> rows) {
    m_extraReadout = std::move(rows);
}

void PlotWidget::setEmptyState(const QString& text, const QString& button) {
    if (m_empty == nullptr) {
        if (text.isEmpty()) return;
        m_empty = new QWidget(this);
        m_empty->setObjectName(objectName() + QStringLiteral("Empty"));
        m_empty->setAutoFillBackground(true);
        m_emptyText = new QLabel(m_empty);
        m_emptyText->setWordWrap(true);
        m_emptyText->setAlignment(Qt::AlignCenter);
        m_emptyText->setObjectName(objectName() + QStringLiteral("EmptyText"));
        m_emptyButton = new QPushButton(m_empty);
        m_emptyButton->setObjectName(objectName() + QStringLiteral("EmptyButton"));
        auto* layout = new QVBoxLayout(m_empty);
        layout->addStretch();
        layout->addWidget(m_emptyText);
        layout->addWidget(m_emptyButton, 0, Qt::AlignHCenter);
        layout->addStretch();
        connect(m_emptyButton, &QPushButton::clicked, this, &PlotWidget::emptyButtonClicked);
        setStyle(m_style);
    }
    m_emptyText->setText(text);
    m_emptyButton->setText(button);
    m_emptyButton->setVisible(!button.isEmpty());
    m_empty->setGeometry(rect());
    m_empty->setVisible(!text.isEmpty());
}

bool PlotWidget::isEmptyState() const {
    return m_empty != nullptr && !m_empty->isHidden();
}

double PlotWidget::axisValue(double raw) const {
    if (m_yScale == YScale::Linear) return std::isfinite(raw) ? raw : std::nan("");
    return raw > 0 && std::isfinite(raw) ? std::log2(raw) : std::nan("");
}

Limits PlotWidget::xLimits() const {
    Limits limits;
    for (const Line& line : m_lines) {
        if (line.raw.empty()) continue;
        limits.include(line.raw.x.front());
        limits.include(line.raw.x.back());
    }
    if (m_extraX) limits.include(m_extraX());
    return limits;
}

Limits PlotWidget::yLimits() const {
    Limits limits;
    for (const Line& line : m_lines) {
        if (line.look.inFit) limits.include(finiteLimits(line.drawn(m_yScale)));
    }
    if (m_extraY) limits.include(m_extraY());
    if (m_includeZero) limits.include(0.0);
    return limits;
}

void PlotWidget::fitTo(const Limits& x, const Limits& y) {
    if (x.valid) xAxis->setRange(padded(x, hasStepAxis() ? 0.0 : kPad));
    if (!y.valid) {
        yAxis->setRange(m_yScale == YScale::Log2 ? QCPRange(-1, 1) : QCPRange(0, 1));
        return;
    }
    if (m_yScale == YScale::Log2) {
        const double spare = std::max(0.5, (y.high - y.low) * m_yPad);
        yAxis->setRange(y.low - spare, y.high + spare);
        return;
    }
    QCPRange range = padded(y, m_yPad);
    if (m_includeZero && y.low == 0) range.lower = 0;  // bars stand on the axis
    yAxis->setRange(range);
}

void PlotWidget::zoomAround(double factor, const QPointF& pixel, Qt::Orientations axes) {
    if (axes.testFlag(Qt::Horizontal)) xAxis->scaleRange(factor, xAxis->pixelToCoord(pixel.x()));
    if (axes.testFlag(Qt::Vertical)) yAxis->scaleRange(factor, yAxis->pixelToCoord(pixel.y()));
    replot(rpQueuedReplot);
}

/// Gives QCustomPlot only the points that the pixels can show; runs before every redraw.
void PlotWidget::thin() {
    const QCPRange range = xAxis->range();
    const int width = std::max(1, axisRect()->width());
    if (m_thinned && range == m_thinnedRange && width == m_thinnedWidth) return;
    for (Line& line : m_lines) {
        fill(line.graph, decimate(line.drawn(m_yScale), range.lower, range.upper, width));
        fill(line.dots, decimate(line.lone, range.lower, range.upper, width));
    }
    m_thinned = true;
    m_thinnedRange = range;
    m_thinnedWidth = width;
}

std::vector<ReadoutRow> PlotWidget::readout(double x, double y) const {
    std::vector<ReadoutRow> rows;
    for (int i = 0; i < lineCount(); ++i) {
        const Line& line = m_lines[static_cast<std::size_t>(i)];
        if (!line.look.inReadout || line.raw.empty()) continue;
        const std::size_t at = nearestIndex(line.raw, x);
        const double raw = line.raw.y[at];
        QString value = m_valueText ? m_valueText(i, at, raw) : significant(raw);
        if (hasStepAxis() && std::llround(line.raw.x[at]) != std::llround(x)) {
            value += tr(" (step %1)").arg(grouped(std::llround(line.raw.x[at])));
        }
        rows.push_back({line.look.pen.color(), line.look.name, value});
    }
    if (m_extraReadout) {
        for (ReadoutRow& row : m_extraReadout(x, y)) rows.push_back(std::move(row));
    }
    constexpr double kMarkReach = 6;  // pixels
    for (const StepMark& mark : m_marks) {
        if (std::abs(xAxis->coordToPixel(mark.step) - xAxis->coordToPixel(x)) > kMarkReach) continue;
        rows.push_back({mark.color, mark.text, QString()});
    }
    return rows;
}

void PlotWidget::setStyle(const PlotStyle& style) {
    m_style = style;
    style.apply(this);
    axisRect()->setMinimumMargins(QMargins(12, PlotDecoration::headerHeight(style), kRightMargin, 4));
    if (m_empty != nullptr) {
        QPalette palette = m_empty->palette();
        palette.setColor(QPalette::Window, style.card);
        palette.setColor(QPalette::WindowText, style.secondary);
        m_empty->setPalette(palette);
        m_emptyText->setPalette(palette);
        m_emptyText->setFont(style.textFont());
    }
    emit styleChanged();
    replot(rpQueuedReplot);
}

void PlotWidget::redrawOverlay() {
    if (isVisible()) layer(QStringLiteral("cursor"))->replot();
}

void PlotWidget::resizeEvent(QResizeEvent* event) {
    QCustomPlot::resizeEvent(event);
    if (m_empty != nullptr) m_empty->setGeometry(rect());
}

}  // namespace gui
