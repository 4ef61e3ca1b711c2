// Paints the cursor, the read-out, captions, legends and marks; see plot_overlay.h.
#include "views/plot_overlay.h"

#include "models/formatting.h"
#include "selection.h"

#include <QFontMetrics>

#include <algorithm>
#include <cmath>

namespace gui {
namespace {

constexpr int kPad = 8;
constexpr int kSwatch = 8;

}  // namespace

PlotOverlay::PlotOverlay(PlotWidget* plot) : QCPLayerable(plot, QStringLiteral("cursor")), m_plot(plot) {}

void PlotOverlay::applyDefaultAntialiasingHint(QCPPainter* painter) const {
    painter->setAntialiasing(true);
}

QRect PlotOverlay::clipRect() const {
    return m_plot->viewport();
}

void PlotOverlay::draw(QCPPainter* painter) {
    if (m_plot->isEmptyState()) return;
    const QRect axes = m_plot->axisRect()->rect();
    if (m_plot->hasFocus()) {  // for those who come by keyboard
        painter->setPen(QPen(m_plot->style().accent, 1));
        painter->drawLine(axes.bottomLeft(), axes.bottomRight());
    }
    if (m_plot->hasStepAxis()) {
        const auto step = m_plot->selection()->cursorStep();
        if (step && m_plot->xAxis->range().contains(static_cast<double>(*step))) {
            drawCursor(painter, static_cast<double>(*step));
        }
        return;
    }
    if (const auto hover = m_plot->hoverPixel()) {
        const double x = m_plot->xAxis->pixelToCoord(hover->x());
        const double y = m_plot->yAxis->pixelToCoord(hover->y());
        const auto rows = m_plot->readout(x, y);
        if (!rows.empty()) drawReadout(painter, QString(), rows, hover->x());
    }
}

void PlotOverlay::drawCursor(QCPPainter* painter, double step) {
    const PlotStyle& style = m_plot->style();
    const QRect axes = m_plot->axisRect()->rect();
    const double pixel = m_plot->xAxis->coordToPixel(step);
    const bool pinned = m_plot->selection()->cursorPinned();
    painter->setPen(QPen(style.text, 1, pinned ? Qt::SolidLine : Qt::DashLine));
    painter->drawLine(QPointF(pixel, axes.top()), QPointF(pixel, axes.bottom()));
    if (!m_plot->showsReadout()) return;

    for (int i = 0; i < m_plot->lineCount(); ++i) {
        const Series& series = m_plot->data(i);
        if (!m_plot->look(i).inReadout || series.empty()) continue;
        const std::size_t at = nearestIndex(series, step);
        const double value = m_plot->axisValue(series.y[at]);
        if (std::isnan(value) || !m_plot->yAxis->range().contains(value)) continue;
        painter->setPen(QPen(style.card, 1));
        painter->setBrush(m_plot->look(i).pen.color());
        painter->drawEllipse(QPointF(m_plot->xAxis->coordToPixel(series.x[at]), m_plot->yAxis->coordToPixel(value)),
                             3.5, 3.5);
    }
    const auto hover = m_plot->hoverPixel();
    const double y = hover ? m_plot->yAxis->pixelToCoord(hover->y()) : m_plot->yAxis->range().center();
    const QString title = pinned ? PlotWidget::tr("step %1, pinned") : PlotWidget::tr("step %1");
    drawReadout(painter, title.arg(grouped(std::llround(step))), m_plot->readout(step, y), pixel);
}

void PlotOverlay::drawReadout(QCPPainter* painter, const QString& title, const std::vector<ReadoutRow>& rows,
                              double atPixel) {
    const PlotStyle& style = m_plot->style();
    const QRect area = m_plot->viewport().adjusted(2, 2, -2, -2);
    QFont bold = style.captionFont();
    bold.setWeight(QFont::DemiBold);
    const QFontMetrics metrics(style.captionFont());
    const int lineHeight = metrics.height() + 1;

    const int titleRows = title.isEmpty() ? 0 : 1;
    const int fitting = std::max(1, (area.height() - 2 * kPad) / lineHeight - titleRows);
    const std::size_t shown = std::min(rows.size(), static_cast<std::size_t>(fitting));
    int names = 0;
    int values = 0;
    for (std::size_t i = 0; i < shown; ++i) {
        names = std::max(names, metrics.horizontalAdvance(rows[i].name) + 1);  // advances are rounded
        values = std::max(values, metrics.horizontalAdvance(rows[i].value));
    }
    const int gap = values > 0 ? 10 : 0;
    const int widest = std::max(80, area.width() - 2 * kPad - kSwatch - 6 - values - gap);
    names = std::min(names, widest);
    const int content = std::max(kSwatch + 6 + names + gap + values, QFontMetrics(bold).horizontalAdvance(title));
    const QSize size(content + 2 * kPad,
                     static_cast<int>(shown + static_cast<std::size_t>(titleRows)) * lineHeight + kPad + kPad / 2);

    int left = static_cast<int>(atPixel) + 10;
    if (left + size.width() > area.right()) left = static_cast<int>(atPixel) - 10 - size.width();
    left = std::clamp(left, area.left(), std::max(area.left(), area.right() - size.width()));
    const int top =
        std::clamp(m_plot->axisRect()->top() + 6, area.top(), std::max(area.top(), area.bottom() - size.height()));
    painter->setPen(QPen(style.line, 1));
    QColor card = style.card;
    card.setAlpha(240);
    painter->setBrush(card);
    painter->drawRoundedRect(QRectF(QPointF(left + 0.5, top + 0.5), QSizeF(size)), 4, 4);

    int y = top + kPad / 2 + 2;
    const int x = left + kPad;
    if (titleRows == 1) {
        painter->setFont(bold);
        painter->setPen(style.text);
        painter->drawText(QRect(x, y, content, lineHeight), Qt::AlignLeft | Qt::AlignVCenter, title);
        y += lineHeight;
    }
    painter->setFont(style.captionFont());
    for (std::size_t i = 0; i < shown; ++i, y += lineHeight) {
        if (rows[i].color.isValid()) {
            painter->setPen(Qt::NoPen);
            painter->setBrush(rows[i].color);
            painter->drawRect(x, y + (lineHeight - kSwatch) / 2, kSwatch, kSwatch);
        }
        painter->setPen(style.text);
        painter->drawText(QRect(x + kSwatch + 6, y, names, lineHeight), Qt::AlignLeft | Qt::AlignVCenter,
                          metrics.elidedText(rows[i].name, Qt::ElideMiddle, names));
        painter->drawText(QRect(x, y, content, lineHeight), Qt::AlignRight | Qt::AlignVCenter, rows[i].value);
    }
}

PlotDecoration::PlotDecoration(PlotWidget* plot) : QCPLayerable(plot, QStringLiteral("overlay")), m_plot(plot) {}

int PlotDecoration::headerHeight(const PlotStyle& style) {
    return QFontMetrics(style.captionFont()).height() + 6;
}

void PlotDecoration::applyDefaultAntialiasingHint(QCPPainter* painter) const {
    painter->setAntialiasing(true);
}

QRect PlotDecoration::clipRect() const {
    return m_plot->viewport();
}

void PlotDecoration::draw(QCPPainter* painter) {
    if (m_plot->isEmptyState()) return;
    painter->setFont(m_plot->style().captionFont());
    const int left = drawCaption(painter);
    if (m_plot->legendVisible()) drawLegend(painter, left);
    drawEdgeMarks(painter);
    drawStepMarks(painter);
}

int PlotDecoration::drawCaption(QCPPainter* painter) {
    const QFontMetrics metrics(painter->font());
    const int width = metrics.horizontalAdvance(m_plot->caption());
    painter->setPen(m_plot->style().secondary);
    painter->drawText(QRect(kPad / 2, 1, width + 2, metrics.height() + 2), Qt::AlignLeft | Qt::AlignVCenter,
                      m_plot->caption());
    return kPad / 2 + width + 16;
}

/// One row, right aligned. Names share what room there is; the tool tip has them whole.
void PlotDecoration::drawLegend(QCPPainter* painter, int left) {
    std::vector<int> lines;
    for (int i = 0; i < m_plot->lineCount(); ++i) {
        if (m_plot->look(i).inLegend && !m_plot->look(i).name.isEmpty()) lines.push_back(i);
    }
    if (lines.empty()) return;
    const QFontMetrics metrics(painter->font());
    constexpr int kKey = 14;
    constexpr int kGap = 12;
    const int count = static_cast<int>(lines.size());
    const int right = m_plot->viewport().right() - 12;
    int wanted = 0;
    for (const int i : lines) wanted += metrics.horizontalAdvance(m_plot->look(i).name) + kKey + 4 + kGap;
    const int room = right - left + kGap;
    const int share = wanted <= room ? 10000 : room / count - kKey - 4 - kGap;
    if (share < 64) return;  // too little to read: the tool tip has to do
    int x = wanted <= room ? right + kGap - wanted : left;
    for (const int i : lines) {
        const LineLook& look = m_plot->look(i);
        const int middle = 2 + metrics.height() / 2;
        painter->setPen(look.pen);
        painter->setBrush(Qt::NoBrush);
        if (look.joined) painter->drawLine(QPointF(x, middle), QPointF(x + kKey, middle));
        if (!look.scatter.isNone()) {
            look.scatter.applyTo(painter, look.pen);
            look.scatter.drawShape(painter, QPointF(x + kKey / 2.0, middle));
        }
        // A tensor's name tells its layer at the start and its role at the end; of a run's name it is the start.
        const auto cut = look.name.contains('.') ? Qt::ElideMiddle : Qt::ElideRight;
        const QString name = metrics.elidedText(look.name, cut, share);
        const int width = metrics.horizontalAdvance(name);
        painter->setPen(m_plot->style().secondary);
        painter->drawText(QRect(x + kKey + 4, 1, width + 2, metrics.height() + 2), Qt::AlignLeft | Qt::AlignVCenter,
                          name);
        x += kKey + 4 + width + kGap;
    }
}

void PlotDecoration::drawStepMarks(QCPPainter* painter) {
    const QRect axes = m_plot->axisRect()->rect();
    for (const StepMark& mark : m_plot->marks()) {
        if (!m_plot->xAxis->range().contains(mark.step)) continue;
        const double x = m_plot->xAxis->coordToPixel(mark.step);
        const double y = axes.bottom();
        painter->setPen(Qt::NoPen);
        painter->setBrush(mark.color);
        painter->drawPolygon(QPolygonF{{x, y - 7}, {x - 4, y}, {x + 4, y}});
    }
}

/// Zeros sit at the lower edge as open circles, infinities at the upper edge as triangles, NaN as crosses below.
void PlotDecoration::drawEdgeMarks(QCPPainter* painter) {
    if (m_plot->yScale() != PlotWidget::YScale::Log2) return;
    const QRect axes = m_plot->axisRect()->rect();
    const QCPRange range = m_plot->xAxis->range();
    for (int i = 0; i < m_plot->lineCount(); ++i) {
        const Log2Series& marks = m_plot->marksOf(i);
        const QColor color = m_plot->look(i).pen.color();
        const auto each = [&](const std::vector<double>& steps, auto paint) {
            double last = -1e9;
            for (auto it = std::lower_bound(steps.begin(), steps.end(), range.lower);
                 it != steps.end() && *it <= range.upper; ++it) {
                const double x = m_plot->xAxis->coordToPixel(*it);
                if (x - last < 4) continue;  // one mark per place on the screen
                last = x;
                paint(x);
            }
        };
        painter->setPen(QPen(color, 1));
        painter->setBrush(Qt::NoBrush);
        each(marks.zerosAt, [&](double x) { painter->drawEllipse(QPointF(x, axes.bottom() - 4.0), 2.5, 2.5); });
        each(marks.nansAt, [&](double x) {
            const double y = axes.bottom() - 4.0;
            painter->drawLine(QPointF(x - 2.5, y - 2.5), QPointF(x + 2.5, y + 2.5));
            painter->drawLine(QPointF(x - 2.5, y + 2.5), QPointF(x + 2.5, y - 2.5));
        });
        painter->setBrush(color);
        each(marks.infinitesAt, [&](double x) {
            const double y = axes.top() + 1.0;
            painter->drawPolygon(QPolygonF{{x, y}, {x - 4, y + 7}, {x + 4, y + 7}});
        });
    }
}

PlotPainter::PlotPainter(PlotWidget* plot, const QString& layer, Area area, std::function<void(QCPPainter*)> paint)
    : QCPLayerable(plot, layer), m_plot(plot), m_area(area), m_paint(std::move(paint)) {}

void PlotPainter::applyDefaultAntialiasingHint(QCPPainter* painter) const {
    painter->setAntialiasing(true);
}

void PlotPainter::draw(QCPPainter* painter) {
    if (!m_plot->isEmptyState()) m_paint(painter);
}

QRect PlotPainter::clipRect() const {
    return m_area == Area::Axes ? m_plot->axisRect()->rect() : m_plot->viewport();
}

}  // namespace gui
