// Bars, marks and shares; see exponent_plot.h. The shares themselves are defined in profiling/metrics.h.
#include "views/exponent_plot.h"

#include "models/formatting.h"
#include "views/axis_tickers.h"
#include "views/plot_overlay.h"

#include <algorithm>
#include <cmath>

namespace gui {
namespace {

constexpr double kBarWidth = 0.86;
constexpr double kLeastTop = -0.3;  // foot of the bars on a log axis: a bar of one element is seen
constexpr int kSaturates = 5;       // colours of the bands, as in TensorPlot
constexpr int kUnderflows = 0;
constexpr int kTextRows = 3;  // above the bars: two rows of marks, one of shares

QString shareText(const profiling::ShareBounds& share) {
    if (std::isnan(share.atLeast)) return missingText();
    const QString least = percent(share.atLeast);
    const QString most = percent(share.atMost);
    return least == most ? least : QStringLiteral("%1 – %2").arg(least, most);
}

}  // namespace

ExponentPlot::ExponentPlot(QWidget* parent) : PlotWidget(nullptr, parent), m_bars(new QCPBars(xAxis, yAxis)) {
    m_bars->setWidth(kBarWidth);
    m_bars->setSelectable(QCP::stNone);
    xAxis->setTicker(QSharedPointer<QCPAxisTicker>(new Log2Ticker));
    xAxis->ticker()->setTickCount(8);
    setLegendVisible(false);
    setYPad(0);
    setExtraLimits([this] { return binades(); }, [this] { return heights(); });
    setExtraReadout([this](double x, double) { return barReadout(x); });
    setCsv([this] { return histogramCsv(); });
    using Area = PlotPainter::Area;
    new PlotPainter(this, QStringLiteral("grid"), Area::Axes, [this](QCPPainter* p) { paintOutside(p); });
    new PlotPainter(this, QStringLiteral("overlay"), Area::Axes, [this](QCPPainter* p) { paintMarks(p); });
    connect(this, &PlotWidget::styleChanged, this, &ExponentPlot::redraw);
    // The room for text is in pixels: another height, other limits.
    connect(this, &QCustomPlot::afterLayout, this, [this] {
        if (axisRect()->height() == m_fittedHeight || group()->isZoomed()) return;
        m_fittedHeight = axisRect()->height();
        fitTo(xLimits(), yLimits());
        replot(rpQueuedReplot);
    });
    setLogarithmic(false);
}

void ExponentPlot::setHistogram(std::optional<ExponentData> data, const QColor& color) {
    const bool same = m_data && data && m_data->tensor.id == data->tensor.id;
    m_data = std::move(data);
    m_color = color;
    redraw();
    if (!same) group()->reset();
}

void ExponentPlot::setLogarithmic(bool on) {
    m_logarithmic = on;
    yAxis->setTicker(
        QSharedPointer<QCPAxisTicker>(on ? static_cast<QCPAxisTicker*>(new Log10Ticker) : new PercentTicker));
    yAxis->ticker()->setTickCount(4);
    redraw();
    group()->reset();
}

void ExponentPlot::redraw() {
    m_bars->data()->clear();
    m_bars->setBaseValue(m_logarithmic ? kLeastTop : 0.0);
    QColor area = m_color;
    area.setAlpha(120);
    m_bars->setPen(QPen(m_color, 1));
    m_bars->setBrush(area);
    setCaption({});
    if (m_data) {
        const QString name = QString::fromStdString(m_data->tensor.fullName());
        setCaption(tr("%1, step %2 · %3 per binade")
                       .arg(name, grouped(m_data->exponents.step), m_logarithmic ? tr("elements") : tr("share")));
        const auto& counts = m_data->exponents.counts;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            if (counts[i] == 0) continue;
            m_bars->addData(m_data->exponents.firstExponent + static_cast<int>(i) + 0.5, barTop(counts[i]));
        }
    }
    group()->dataChanged(this);
}

double ExponentPlot::barTop(std::int64_t count) const {
    if (m_logarithmic) return std::log10(static_cast<double>(count));
    return static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(1, elements()));
}

std::int64_t ExponentPlot::elements() const {
    if (m_data->snapshot) return m_data->snapshot->count;
    return m_data->tensor.rows * m_data->tensor.cols;
}

std::int64_t ExponentPlot::countAt(int exponent) const {
    if (!m_data) return 0;
    const int index = exponent - m_data->exponents.firstExponent;
    const auto& counts = m_data->exponents.counts;
    return index >= 0 && index < static_cast<int>(counts.size()) ? counts[static_cast<std::size_t>(index)] : 0;
}

bool ExponentPlot::hasBlocks() const {
    return m_data && m_data->snapshot && m_data->snapshot->scaleInvMax > m_data->snapshot->scaleInvMin;
}

double ExponentPlot::scale() const {
    return m_data && m_data->snapshot ? m_data->snapshot->scale : std::nan("");
}

std::vector<ExponentPlot::Mark> ExponentPlot::marks() const {
    if (!(scale() > 0)) return {};
    const std::string& format = m_data->tensor.format;
    const double max = profiling::formatMax(format);
    if (std::isnan(max)) return {};
    const auto at = [this](double value) { return std::log2(value / scale()); };
    return {{at(profiling::formatMinSubnormal(format)), tr("smallest subnormal")},
            {at(profiling::formatMinNormal(format)), tr("smallest normal")},
            {at(max), tr("largest %1").arg(QString::fromStdString(format))}};
}

QString ExponentPlot::below() const {
    if (!m_data || !m_data->snapshot) return {};
    const profiling::SnapshotRow& snapshot = *m_data->snapshot;
    if (!profiling::isCast(snapshot)) return tr("%1, not cast").arg(QString::fromStdString(m_data->tensor.format));
    // Every block ends elsewhere: the histogram does not tell, the counters of the cast do.
    if (hasBlocks()) return tr("%1 stored as 0").arg(percent(profiling::underflowedShare(snapshot)));
    return tr("%1 below")
        .arg(shareText(
            profiling::belowSubnormalShare(m_data->exponents, snapshot, m_data->tensor.format, snapshot.scale)));
}

QString ExponentPlot::above() const {
    if (!m_data || !m_data->snapshot || !profiling::isCast(*m_data->snapshot)) return {};
    const profiling::SnapshotRow& snapshot = *m_data->snapshot;
    if (hasBlocks()) return tr("%1 saturated").arg(percent(profiling::saturatedShare(snapshot)));
    return tr("%1 above")
        .arg(shareText(profiling::aboveMaxShare(m_data->exponents, snapshot, m_data->tensor.format, snapshot.scale)));
}

Limits ExponentPlot::binades() const {
    Limits limits;
    if (!m_data) return limits;
    const auto& counts = m_data->exponents.counts;
    limits.include(m_data->exponents.firstExponent - 0.5);
    limits.include(m_data->exponents.firstExponent + static_cast<double>(counts.size()) + 0.5);
    const std::vector<Mark> edges = marks();
    for (const Mark& mark : edges) {
        limits.include(mark.exponent - 1.5);
        limits.include(mark.exponent + 1.5);
    }
    // Between the marks of a narrow format (E2M1) no name fits: that of the largest value gets its room to the right.
    constexpr double kNarrow = 6;
    constexpr double kNameShare = 0.27;
    if (!edges.empty() && edges[2].exponent - edges[1].exponent < kNarrow) {
        limits.include(edges[2].exponent + kNameShare * (limits.high - limits.low));
    }
    return limits;
}

/// The bars stand on the axis, and the names of the marks have their rows above them.
Limits ExponentPlot::heights() const {
    Limits limits;
    if (!m_data || m_data->exponents.counts.empty()) return limits;
    const auto& counts = m_data->exponents.counts;
    const std::uint32_t most = std::max<std::uint32_t>(1, *std::max_element(counts.begin(), counts.end()));
    const double foot = m_logarithmic ? kLeastTop : 0.0;
    const double text = kTextRows * (QFontMetrics(style().captionFont()).height() + 2.0);
    const double share = std::clamp(text / std::max(1, axisRect()->height()), 0.0, 0.6);
    limits.include(foot);
    limits.include(foot + (barTop(most) - foot) / (1 - share));
    return limits;
}

QColor ExponentPlot::ink(int paletteIndex) const {
    QColor color = style().runColor(paletteIndex);
    while (contrast(color, style().card) < 4.5 && color != QColor(Qt::white) && color != QColor(Qt::black)) {
        color = style().isDark ? color.lighter(110) : color.darker(110);
    }
    return color;
}

void ExponentPlot::paintOutside(QCPPainter* painter) const {
    const std::vector<Mark> edges = marks();
    if (edges.empty()) return;
    const QRect axes = axisRect()->rect();
    const auto fill = [&](double left, double right, int paletteIndex) {
        QColor color = style().runColor(paletteIndex);
        color.setAlpha(38);
        if (right > left) painter->fillRect(QRectF(left, axes.top(), right - left, axes.height()), color);
    };
    fill(axes.left(), xAxis->coordToPixel(edges.front().exponent), kUnderflows);
    fill(xAxis->coordToPixel(edges.back().exponent), axes.right() + 1, kSaturates);
}

/// The first place beside the line of mark `i` where the name covers no other name and, if that can be, no other line.
QRectF ExponentPlot::placeOf(std::size_t i, const std::vector<Mark>& edges, const QVector<QRectF>& taken,
                             const QFontMetrics& metrics) const {
    const QRect axes = axisRect()->rect();
    const double x = xAxis->coordToPixel(edges[i].exponent);
    const double width = metrics.horizontalAdvance(edges[i].name) + 4.0;
    for (const bool crossing : {false, true}) {
        for (int place = 0; place < 2 * (kTextRows - 1); ++place) {
            const bool right = (place % 2 == 0) == (i > 0);
            const int row = place / 2;
            const QRectF box(right ? x + 3 : x - 3 - width, axes.top() + row * metrics.height(), width,
                             metrics.height());
            const bool crossed = std::any_of(edges.begin(), edges.end(), [&](const Mark& other) {
                const double line = xAxis->coordToPixel(other.exponent);
                return line > box.left() && line < box.right();
            });
            const bool covers =
                std::any_of(taken.begin(), taken.end(), [&](const QRectF& other) { return other.intersects(box); });
            if (covers || (crossed && !crossing) || box.left() < axes.left() || box.right() > axes.right()) continue;
            return box;
        }
    }
    return {};
}

void ExponentPlot::paintMarks(QCPPainter* painter) const {
    const QRect axes = axisRect()->rect();
    painter->setFont(style().captionFont());
    const QFontMetrics metrics(painter->font());
    const std::vector<Mark> edges = marks();
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const double x = xAxis->coordToPixel(edges[i].exponent);
        painter->setPen(QPen(style().text, 1, i == 1 ? Qt::DotLine : Qt::DashLine));
        painter->drawLine(QPointF(x, axes.top()), QPointF(x, axes.bottom()));
    }
    QVector<QRectF> taken;
    double lowest = axes.top();
    for (std::size_t i = edges.size(); i-- > 0;) {
        const QRectF box = placeOf(i, edges, taken, metrics);
        if (box.isNull()) continue;
        painter->fillRect(box, style().card);
        painter->setPen(style().text);
        painter->drawText(box, Qt::AlignCenter, edges[i].name);
        taken << box;
        lowest = std::max(lowest, box.bottom());
    }
    paintShares(painter, lowest);
}

/// No line goes through the words.
void ExponentPlot::paintShares(QCPPainter* painter, double top) const {
    const QRectF axes = axisRect()->rect();
    const QFontMetrics metrics(painter->font());
    const auto draw = [&](const QString& text, bool left, const QColor& color) {
        if (text.isEmpty()) return;
        const double width = metrics.horizontalAdvance(text) + 6.0;
        const QRectF box(left ? axes.left() + 1 : axes.right() - width - 1, top + 1, width, metrics.height());
        painter->fillRect(box, style().card);
        painter->setPen(color);
        painter->drawText(box, Qt::AlignCenter, text);
    };
    draw(below(), true, marks().empty() ? style().secondary : ink(kUnderflows));
    draw(above(), false, ink(kSaturates));
}

std::vector<ReadoutRow> ExponentPlot::barReadout(double x) const {
    if (!m_data) return {};
    const int exponent = static_cast<int>(std::floor(x));
    const std::int64_t count = countAt(exponent);
    std::vector<ReadoutRow> rows{
        {m_color, tr("|x| from %1 to %2").arg(log2Label(exponent), log2Label(exponent + 1)), QString()},
        {{}, tr("elements"), grouped(count)},
        {{},
         tr("share"),
         percent(static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(1, elements())))}};
    if (!m_data->snapshot) return rows;
    const profiling::SnapshotRow& snapshot = *m_data->snapshot;
    rows.push_back({{}, tr("amax"), significant(snapshot.amax)});
    if (snapshot.smallest > 0) {
        rows.push_back({{}, tr("smallest"), significant(snapshot.smallest)});
        rows.push_back(
            {{}, tr("dynamic range"), tr("%1 bits").arg(significant(profiling::dynamicRangeBits(snapshot)))});
    }
    if (!profiling::isCast(snapshot)) return rows;
    rows.push_back({{}, hasBlocks() ? tr("scale, block of the amax") : tr("scale"), significant(snapshot.scale)});
    rows.push_back({{}, tr("stored as 0"), percent(profiling::underflowedShare(snapshot))});
    rows.push_back({{}, tr("saturated"), percent(profiling::saturatedShare(snapshot))});
    return rows;
}

QString ExponentPlot::histogramCsv() const {
    QString text = QStringLiteral("tensor,step,exponent,elements\r\n");
    for (std::size_t i = 0; m_data && i < m_data->exponents.counts.size(); ++i) {
        text += QStringLiteral("%1,%2,%3,%4\r\n")
                    .arg(QString::fromStdString(m_data->tensor.fullName()))
                    .arg(m_data->exponents.step)
                    .arg(m_data->exponents.firstExponent + static_cast<int>(i))
                    .arg(m_data->exponents.counts[i]);
    }
    return text;
}

}  // namespace gui
