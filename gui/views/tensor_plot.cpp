// Lines, limits and bands of quantised tensors; see tensor_plot.h.
#include "views/tensor_plot.h"

#include "models/formatting.h"
#include "views/plot_overlay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

namespace gui {

double underflowEdge(const std::string& format) {
    return profiling::formatMinSubnormal(format) / 2;
}

namespace {

bool isScaled(const profiling::TensorRow& tensor) {
    return !std::isnan(profiling::formatMax(tensor.format));
}

/// A tensor that was not cast has none of the values that depend on a scale: nothing recorded, and no NaN either.
double orNotRecorded(double value) {
    return std::isnan(value) ? kNotRecorded : value;
}

bool hasBlocks(const profiling::SnapshotRow& row) {
    return row.scaleInvMax > row.scaleInvMin;
}

/// The limit in force at most steps. The first steps cast with scale 1, sixteen binades away from everything after.
double usualLimit(const Series& limit) {
    constexpr double kShare = 0.9;
    std::vector<double> values;
    std::copy_if(limit.y.begin(), limit.y.end(), std::back_inserter(values), [](double v) { return std::isfinite(v); });
    if (values.empty()) return std::nan("");
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * kShare);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

}  // namespace

TensorPlot::TensorPlot(Selection* selection, QWidget* parent) : PlotWidget(selection, parent) {
    setYScale(YScale::Log2);
    setValueText([this](int line, std::size_t point, double) { return pointText(line, point); });
    new PlotPainter(this, QStringLiteral("grid"), PlotPainter::Area::Axes,
                    [this](QCPPainter* painter) { paintBands(painter); });
    connect(this, &PlotWidget::styleChanged, this, &TensorPlot::redraw);
    setMode(Mode::Amax);
    redraw();
}

QColor TensorPlot::tensorColor(int index) const {
    constexpr std::array kOrder{1, 3, 2, 0, 4, 5, 7, 6};  // starts away from the first runs' colours
    return style().runLineColor(kOrder[static_cast<std::size_t>(index) % kOrder.size()]);
}

void TensorPlot::setMode(Mode mode) {
    m_mode = mode;
    redraw();
}

void TensorPlot::setTensors(std::vector<profiling::TensorRow> tensors) {
    m_tensors = std::move(tensors);
    redraw();
}

void TensorPlot::addSnapshots(profiling::TensorId tensor, std::int64_t after,
                              const std::vector<profiling::SnapshotRow>& rows) {
    Rows& known = m_rows[tensor.value];
    while (!known.empty() && known.back().step > after) known.pop_back();
    known.insert(known.end(), rows.begin(), rows.end());
}

std::int64_t TensorPlot::lastStep(profiling::TensorId tensor) const {
    const auto found = m_rows.find(tensor.value);
    return found == m_rows.end() || found->second.empty() ? -1 : found->second.back().step;
}

void TensorPlot::forget() {
    m_rows.clear();
    m_tensors.clear();
    redraw();
}

const TensorPlot::Rows& TensorPlot::rowsOf(const profiling::TensorRow& tensor) const {
    static const Rows kNone;
    const auto found = m_rows.find(tensor.id.value);
    return found == m_rows.end() ? kNone : found->second;
}

/// One point per snapshot, and a gap where snapshots are missing: further apart than they usually are.
template <typename Value>
Series TensorPlot::seriesOf(const profiling::TensorRow& tensor, Value value) const {
    const Rows& rows = rowsOf(tensor);
    std::int64_t usual = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 1; i < rows.size(); ++i) usual = std::min(usual, rows[i].step - rows[i - 1].step);
    Series series;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i > 0 && rows[i].step - rows[i - 1].step > usual) {
            series.add(static_cast<double>(rows[i - 1].step + usual), kNotRecorded);
        }
        series.add(static_cast<double>(rows[i].step), value(rows[i]));
    }
    return series;
}

Series TensorPlot::valuesOf(const profiling::TensorRow& tensor) const {
    const double most = profiling::formatMax(tensor.format);
    return seriesOf(tensor, [this, most](const profiling::SnapshotRow& row) {
        if (m_mode == Mode::Amax) return row.amax;
        if (std::isnan(row.scale)) return kNotRecorded;
        return m_mode == Mode::Scale ? row.scale : row.amax * row.scale / most;
    });
}

/// The magnitude that the cast maps to `edge` of the format, step by step.
Series TensorPlot::limitOf(const profiling::TensorRow& tensor, double edge) const {
    return seriesOf(tensor, [edge](const profiling::SnapshotRow& row) { return orNotRecorded(edge / row.scale); });
}

void TensorPlot::redraw() {
    clearLines();
    switch (m_mode) {
        case Mode::Amax:
            setCaption(tr("amax · dotted: limit"));
            break;
        case Mode::Scale:
            setCaption(blockLimits().valid ? tr("scale · band: of all blocks") : tr("scale"));
            break;
        case Mode::Scaled:
            setCaption(tr("amax × scale ÷ format max"));
            break;
    }
    if (m_mode != Mode::Amax && !m_tensors.empty() && bandTensor() == nullptr) {
        setCaption(tr("no scale: none of these was cast"));
    }
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        LineLook look;
        look.name = QString::fromStdString(m_tensors[i].fullName());
        look.pen = QPen(tensorColor(static_cast<int>(i)), 1, PlotStyle::runDash(static_cast<int>(i)));
        setData(addLine(look), valuesOf(m_tensors[i]));
    }
    if (m_mode == Mode::Amax) {  // the limits come last, so that line i is tensor i
        for (std::size_t i = 0; i < m_tensors.size(); ++i) {
            LineLook look;
            look.name = tr("%1 limit").arg(QString::fromStdString(m_tensors[i].fullName()));
            look.pen = QPen(tensorColor(static_cast<int>(i)), 1, Qt::DotLine);
            look.inReadout = false;
            look.inLegend = false;
            look.inFit = false;  // see usualLimit()
            setData(addLine(look), limitOf(m_tensors[i], profiling::formatMax(m_tensors[i].format)));
        }
    }
    setExtraLimits({}, [this] {
        Limits limits;
        if (m_mode == Mode::Scale) return blockLimits();
        if (bandTensor() == nullptr) return limits;
        // Room for the upper band and its name.
        if (m_mode == Mode::Scaled) {
            limits.include(1.0);
        } else {
            for (std::size_t i = 0; i < m_tensors.size(); ++i) {
                const double room = &m_tensors[i] == bandTensor() ? 1.0 : 0.0;
                limits.include(usualLimit(marksOf(static_cast<int>(m_tensors.size() + i)).line) + room);
            }
        }
        return limits;
    });
    if (group() != nullptr) group()->dataChanged(this);
}

/// Whose bands are shown: the first that has a scale.
const profiling::TensorRow* TensorPlot::bandTensor() const {
    const auto found = std::find_if(m_tensors.begin(), m_tensors.end(), isScaled);
    return found == m_tensors.end() ? nullptr : &*found;
}

Limits TensorPlot::blockLimits() const {
    Limits limits;
    for (const profiling::TensorRow& tensor : m_tensors) {
        for (const profiling::SnapshotRow& row : rowsOf(tensor)) {
            if (!hasBlocks(row)) continue;
            limits.include(-std::log2(row.scaleInvMin));
            limits.include(-std::log2(row.scaleInvMax));
        }
    }
    return limits;
}

/// From the smallest to the largest scale of a tensor's blocks, step by step.
void TensorPlot::paintBlockScales(QCPPainter* painter, int index) const {
    const profiling::TensorRow& tensor = m_tensors[static_cast<std::size_t>(index)];
    QPolygonF upper;
    QPolygonF lower;
    const auto flush = [&] {
        if (upper.size() > 1) {
            std::reverse(lower.begin(), lower.end());
            painter->drawPolygon(upper + lower);
        }
        upper.clear();
        lower.clear();
    };
    QColor fill = tensorColor(index);
    fill.setAlpha(48);
    painter->setPen(Qt::NoPen);
    painter->setBrush(fill);
    double lastX = -1e9;
    for (const profiling::SnapshotRow& row : rowsOf(tensor)) {
        if (!hasBlocks(row)) {
            flush();
            continue;
        }
        const double x = xAxis->coordToPixel(static_cast<double>(row.step));
        if (x - lastX < 0.5) continue;  // one pair of points per pixel is all that can be seen
        lastX = x;
        upper << QPointF(x, yAxis->coordToPixel(-std::log2(row.scaleInvMin)));
        lower << QPointF(x, yAxis->coordToPixel(-std::log2(row.scaleInvMax)));
    }
    flush();
}

void TensorPlot::paintBands(QCPPainter* painter) const {
    if (m_mode == Mode::Scale) {
        for (std::size_t i = 0; i < m_tensors.size(); ++i) paintBlockScales(painter, static_cast<int>(i));
        return;
    }
    if (bandTensor() == nullptr) return;
    const profiling::TensorRow& first = *bandTensor();
    const double most = profiling::formatMax(first.format);
    const double least = underflowEdge(first.format);
    Series upper;
    Series lower;
    if (m_mode == Mode::Amax) {
        upper = toLog2(limitOf(first, most)).line;
        lower = toLog2(limitOf(first, least)).line;
    } else {
        const QCPRange range = xAxis->range();
        for (const double x : {range.lower, range.upper}) {
            upper.add(x, 0.0);
            lower.add(x, std::log2(least / most));
        }
    }
    const QString limit = siNumber(most);
    const QString above =
        m_mode == Mode::Amax ? tr("saturates above %1 / scale").arg(limit) : tr("saturates above %1").arg(limit);
    paintBand(painter, upper, true, style().runColor(5), above);
    paintBand(painter, lower, false, style().runColor(0), tr("underflows"));
}

void TensorPlot::paintBand(QCPPainter* painter, const Series& edge, bool above, const QColor& color,
                           const QString& name) const {
    const QRect axes = axisRect()->rect();
    const double rim = above ? axes.top() - 1.0 : axes.bottom() + 1.0;
    const Series visible = decimate(edge, xAxis->range().lower, xAxis->range().upper, std::max(1, axes.width()));
    QPolygonF area;
    double lastY = rim;
    for (std::size_t i = 0; i < visible.size(); ++i) {
        if (std::isnan(visible.y[i])) continue;
        const double x = xAxis->coordToPixel(visible.x[i]);
        const double y = yAxis->coordToPixel(visible.y[i]);
        if (area.isEmpty()) area << QPointF(x, rim);
        area << QPointF(x, y);
        lastY = y;
    }
    if (area.size() < 2) return;
    area << QPointF(area.back().x(), rim);
    QColor fill = color;
    fill.setAlpha(38);
    painter->setPen(Qt::NoPen);
    painter->setBrush(fill);
    painter->drawPolygon(area);

    painter->setFont(style().captionFont());
    const QFontMetrics metrics(painter->font());
    const double room = above ? lastY - axes.top() : axes.bottom() - lastY;
    if (room < metrics.height()) return;
    const QRectF box(axes.left(), above ? axes.top() : axes.bottom() - metrics.height(), axes.width() - 4,
                     metrics.height());
    QColor ink = color;  // dark enough, or light enough, to be read
    while (contrast(ink, style().card) < 4.5 && ink != QColor(Qt::white) && ink != QColor(Qt::black)) {
        ink = style().isDark ? ink.lighter(110) : ink.darker(110);
    }
    // No grid line goes through the name.
    const int width = metrics.horizontalAdvance(name) + 6;
    const QRectF behind(box.right() - width + 2, box.top(), width, box.height());
    painter->fillRect(behind, style().card);
    painter->fillRect(behind, fill);
    painter->setPen(ink);
    painter->drawText(box, Qt::AlignRight | Qt::AlignVCenter, name);
}

QString TensorPlot::pointText(int line, std::size_t point) const {
    if (line < 0 || line >= static_cast<int>(m_tensors.size())) return {};
    const profiling::TensorRow& tensor = m_tensors[static_cast<std::size_t>(line)];
    const Rows& rows = rowsOf(tensor);
    const std::int64_t step = std::llround(data(line).x[point]);
    const auto found = std::lower_bound(rows.begin(), rows.end(), step,
                                        [](const profiling::SnapshotRow& r, std::int64_t s) { return r.step < s; });
    if (found == rows.end() || found->step != step) return tr("not recorded");
    const profiling::SnapshotRow& row = *found;
    const bool isCast = profiling::isCast(row);
    QString text = tr("amax %1").arg(significant(row.amax));
    if (m_mode == Mode::Scale && isCast) text = tr("scale %1").arg(significant(row.scale));
    if (m_mode == Mode::Scale && hasBlocks(row)) {
        text += tr(", blocks %1 … %2").arg(significant(1 / row.scaleInvMax), significant(1 / row.scaleInvMin));
    }
    if (!isCast) text += tr(", %1, not cast").arg(QString::fromStdString(tensor.format));
    const double headroom = profiling::headroomBits(row, tensor.format);
    if (std::isfinite(headroom)) text += tr(", headroom %1 bits").arg(significant(headroom, 2));
    if (isCast && row.saturated > 0) text += tr(", %1 saturated").arg(percent(profiling::saturatedShare(row)));
    if (row.nonFinite > 0) text += tr(", %1 not finite").arg(grouped(row.nonFinite));
    return text;
}

}  // namespace gui
