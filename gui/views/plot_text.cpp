// Text placement; see plot_text.h.
#include "views/plot_text.h"

#include <QStringList>

#include <algorithm>

namespace gui {

namespace {

constexpr int kLines = 3;

/// The places where a name may be broken: after spaces and colons.
QStringList pieces(const QString& text) {
    QStringList result;
    qsizetype start = 0;
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (text[i] != ' ' && text[i] != ':' && i + 1 < text.size()) continue;
        result << text.mid(start, i + 1 - start);
        start = i + 1;
    }
    return result;
}

}  // namespace

QString wrapped(const QString& text, const QFontMetrics& metrics, int width) {
    constexpr int kReadable = 24;
    if (width < kReadable) return {};
    if (metrics.horizontalAdvance(text) <= width) return text;
    const QStringList words = pieces(text);
    QStringList lines;
    qsizetype next = 0;
    while (next < words.size() && lines.size() < kLines - 1) {
        QString line = words[next++];
        while (next < words.size() && metrics.horizontalAdvance((line + words[next]).trimmed()) <= width) {
            line += words[next++];
        }
        line = line.trimmed();
        if (metrics.horizontalAdvance(line) > width) {  // no use in going on: the read-out has the name
            lines << metrics.elidedText(line, Qt::ElideRight, width);
            return lines.join('\n');
        }
        lines << line;
    }
    if (next < words.size()) lines << metrics.elidedText(words.mid(next).join(QString()), Qt::ElideRight, width);
    return lines.join('\n');
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
