// Text placement; see plot_text.h.
#include "views/plot_text.h"

#include <QStringList>

#include <algorithm>

namespace gui {

QString wrapped(const QString& text, const QFontMetrics& metrics, int width) {
    constexpr int kReadable = 24;
    if (width < kReadable) return {};
    if (metrics.horizontalAdvance(text) <= width) return text;
    const QStringList words = text.split(' ', Qt::SkipEmptyParts);
    QString first;
    qsizetype next = 0;
    while (next < words.size()) {
        const QString longer = first.isEmpty() ? words[next] : first + ' ' + words[next];
        if (metrics.horizontalAdvance(longer) > width) break;
        first = longer;
        ++next;
    }
    if (first.isEmpty()) return metrics.elidedText(text, Qt::ElideMiddle, width);
    return first + '\n' + metrics.elidedText(words.mid(next).join(' '), Qt::ElideRight, width);
}

QVector<QRectF> placeLabels(const QVector<QPointF>& dots, const QVector<QSizeF>& sizes, const QRectF& area) {
    constexpr double kGap = 7;
    constexpr double kDot = 4;
    QVector<QRectF> placed;
    for (qsizetype i = 0; i < dots.size(); ++i) {
        const QPointF dot = dots[i];
        const QSizeF size = sizes[i];
        const QVector<QPointF> corners{
            {dot.x() + kGap, dot.y() - size.height() / 2},
            {dot.x() - kGap - size.width(), dot.y() - size.height() / 2},
            {dot.x() - size.width() / 2, dot.y() - kGap - size.height()},
            {dot.x() - size.width() / 2, dot.y() + kGap},
        };
        const auto isFree = [&](const QRectF& rect) {
            if (!area.contains(rect)) return false;
            const bool overDot = std::any_of(dots.begin(), dots.end(), [&](const QPointF& other) {
                return rect.intersects(QRectF(other.x() - kDot, other.y() - kDot, 2 * kDot, 2 * kDot));
            });
            return !overDot && std::none_of(placed.begin(), placed.end(),
                                            [&](const QRectF& other) { return rect.intersects(other); });
        };
        QRectF chosen;
        for (const QPointF& corner : corners) {
            const QRectF rect(corner, size);
            if (!isFree(rect)) continue;
            chosen = rect;
            break;
        }
        placed.push_back(chosen);
    }
    return placed;
}

}  // namespace gui
