// Text forms of numbers; see formatting.h for each rule.
#include "models/formatting.h"

#include <QDateTime>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace gui {
namespace {

const QChar kMinus(0x2212);
const QChar kNarrowSpace(0x202F);

QString withMinus(QString text) {
    if (text.startsWith('-')) text[0] = kMinus;
    return text;
}

/// Rounds first, so that 999.6 counts as 1000 when its magnitude is chosen.
double roundedTo(double value, int digits) {
    if (value == 0 || !std::isfinite(value)) return value;
    return QString::number(value, 'e', std::max(0, digits - 1)).toDouble();
}

int decimalsFor(double value, int digits) {
    if (value == 0) return 0;
    const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
    return std::max(0, digits - 1 - magnitude);
}

QString special(double value) {
    if (std::isnan(value)) return missingText();
    return value > 0 ? QStringLiteral("∞") : QString(kMinus) + QStringLiteral("∞");
}

QString groupDigits(QString digits) {
    for (qsizetype at = digits.size() - 3; at > 0; at -= 3) digits.insert(at, kNarrowSpace);
    return digits;
}

/// Divides by `step` until the rounded value is below it.
QString scaled(double value, double step, const QStringList& units, int digits) {
    qsizetype unit = 0;
    while (unit + 1 < units.size() && std::abs(roundedTo(value, digits)) >= step) {
        value /= step;
        ++unit;
    }
    const bool whole = unit == 0 && value == std::floor(value);
    const QString number = whole ? QString::number(value, 'f', 0)
                                 : QString::number(value, 'f', decimalsFor(roundedTo(value, digits), digits));
    return withMinus(number) + (units[unit].isEmpty() ? QString() : QStringLiteral(" ") + units[unit]);
}

}  // namespace

QString missingText() {
    return QStringLiteral("–");
}

QString significant(double value, int digits) {
    if (!std::isfinite(value)) return special(value);
    if (value == 0) return QStringLiteral("0");
    const double rounded = roundedTo(value, digits);
    const double size = std::abs(rounded);
    if (size < 1e-4 || size >= 1e15) return withMinus(QString::number(value, 'e', std::max(0, digits - 1)));
    return withMinus(QString::number(rounded, 'f', decimalsFor(rounded, digits)));
}

QString siNumber(double value, int digits) {
    if (!std::isfinite(value)) return special(value);
    if (std::abs(value) < 1 && value != 0) return significant(value, digits);
    static const QStringList kUnits{"", "k", "M", "G", "T", "P"};
    return scaled(value, 1000.0, kUnits, digits);
}

QString fullNumber(double value) {
    if (!std::isfinite(value)) return special(value);
    if (value == std::floor(value) && std::abs(value) < 1e15) return grouped(static_cast<std::int64_t>(value));
    QString text = QString::number(std::abs(value), 'g', 10);
    if (!text.contains('e')) {
        const qsizetype point = text.indexOf('.');
        const QString whole = point < 0 ? text : text.left(point);
        text = groupDigits(whole) + (point < 0 ? QString() : text.mid(point));
    }
    return value < 0 ? QString(kMinus) + text : text;
}

QString grouped(std::int64_t value) {
    QString digits = QString::number(value);
    const bool negative = digits.startsWith('-');
    if (negative) digits.remove(0, 1);
    return negative ? QString(kMinus) + groupDigits(digits) : groupDigits(digits);
}

QString duration(std::int64_t ns) {
    const double value = static_cast<double>(ns);
    if (std::abs(value) < 59.95e9) {
        static const QStringList kUnits{"ns", "µs", "ms", "s"};
        return scaled(value, 1000.0, kUnits, 3);
    }
    const std::int64_t seconds = std::llround(value / 1e9);
    if (std::abs(seconds) < 3600) {
        return QStringLiteral("%1 min %2 s").arg(seconds / 60).arg(std::abs(seconds % 60), 2, 10, QChar('0'));
    }
    const std::int64_t minutes = std::llround(value / 60e9);
    return QStringLiteral("%1 h %2 min").arg(minutes / 60).arg(std::abs(minutes % 60), 2, 10, QChar('0'));
}

QString milliseconds(double ns) {
    return significant(ns / 1e6);
}

QString clockTime(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return missingText();
    const std::int64_t total = std::llround(seconds);
    const std::int64_t hours = total / 3600;
    const QString tail = QStringLiteral(":%1").arg(total % 60, 2, 10, QChar('0'));
    if (hours == 0) return QString::number(total / 60) + tail;
    return QStringLiteral("%1:%2").arg(hours).arg(total / 60 % 60, 2, 10, QChar('0')) + tail;
}

QString dateTime(std::int64_t unixNs) {
    if (unixNs == 0) return missingText();
    return QDateTime::fromMSecsSinceEpoch(unixNs / 1000000).toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
}

QString bytes(double value) {
    if (!std::isfinite(value)) return special(value);
    static const QStringList kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
    return scaled(value, 1024.0, kUnits, 3);
}

QString percent(double ratio) {
    if (!std::isfinite(ratio)) return special(ratio);
    const double value = ratio * 100;
    const double size = std::abs(value);
    if (size > 0 && size < 0.005) return withMinus(QString::number(value, 'e', 0)) + QStringLiteral(" %");
    const int decimals = size == 0 || size >= 9.95 ? 0 : (size >= 0.995 ? 1 : 2);
    return withMinus(QString::number(value, 'f', decimals)) + QStringLiteral(" %");
}

QString signedPercent(double ratio) {
    if (!std::isfinite(ratio)) return special(ratio);
    const double value = ratio * 100;
    const QString number = QString::number(std::abs(value), 'f', std::abs(value) >= 9.95 ? 0 : 1);
    if (number == QLatin1String("0.0")) return QStringLiteral("±0 %");
    return (value < 0 ? QString(kMinus) : QStringLiteral("+")) + number + QStringLiteral(" %");
}

QString difference(double value, double base) {
    if (!std::isfinite(value) || !std::isfinite(base) || base == 0) return missingText();
    return signedPercent(value / base - 1);
}

QString log2Label(int exponent) {
    return QStringLiteral("2^") + withMinus(QString::number(exponent));
}

}  // namespace gui
