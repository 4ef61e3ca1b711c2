// Fitting names into plots: wrapping under bars, labels beside dots that do not cover each other.
#pragma once

#include <QFontMetrics>
#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <QString>
#include <QVector>

namespace gui {

/// At most two lines no wider than `width`; what does not fit is elided. "" below a readable width.
QString wrapped(const QString& text, const QFontMetrics& metrics, int width);

/// For each dot the corner where its label goes (right, left, above, below in this order of preference), inside
/// `area` and clear of the labels placed before and of all dots; a null rectangle where there is no room.
QVector<QRectF> placeLabels(const QVector<QPointF>& dots, const QVector<QSizeF>& sizes, const QRectF& area);

}  // namespace gui
