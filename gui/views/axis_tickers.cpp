// Tick steps and labels; see axis_tickers.h.
#include "views/axis_tickers.h"

#include "models/formatting.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gui {
namespace {

/// "12.50" → "12.5", "3.00 k" → "3 k".
QString withoutTrailingZeros(const QString& text) {
    const qsizetype space = text.indexOf(' ');
    QString number = space < 0 ? text : text.left(space);
    const QString unit = space < 0 ? QString() : text.mid(space);
    if (number.contains('.') && !number.contains('e')) {
        while (number.endsWith('0')) number.chop(1);
        if (number.endsWith('.')) number.chop(1);
    }
    return number + unit;
}

/// A tick that should be 0 may arrive as 1e-17.
double cleaned(double tick) {
    return std::abs(tick) < 1e-12 ? 0.0 : tick;
}

}  // namespace

QString SiTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return withoutTrailingZeros(siNumber(cleaned(tick), 4));
}

double StepTicker::getTickStep(const QCPRange& range) {
    return std::max(1.0, std::ceil(SiTicker::getTickStep(range)));
}

double Log2Ticker::getTickStep(const QCPRange& range) {
    double step = 1;
    while (range.size() / step > tickCount()) step *= 2;
    return step;
}

QString Log2Ticker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return log2Label(static_cast<int>(std::lround(tick)));
}

QString Log10Ticker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return withoutTrailingZeros(siNumber(std::pow(10.0, std::round(tick))));
}

double PercentTicker::getTickStep(const QCPRange& range) {
    const double step = QCPAxisTicker::getTickStep(range);
    const auto isWhole = [](double value) { return std::abs(value - std::round(value)) < 1e-6 * std::max(1.0, value); };
    constexpr int kMost = 6;
    m_decimals = 0;
    while (m_decimals < kMost && !isWhole(step * 100 * std::pow(10, m_decimals))) ++m_decimals;  // 0.025 has three
    return step;
}

QString PercentTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    QString text = QString::number(std::abs(cleaned(tick)) * 100, 'f', m_decimals);
    if (cleaned(tick) < 0) text.prepend(QChar(0x2212));
    return text + QStringLiteral(" %");
}

double BytesTicker::getTickStep(const QCPRange& range) {
    const double exact = range.size() / std::max(1, tickCount());
    double step = 1;
    while (step < exact) step *= 2;
    return step;
}

QString BytesTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
    return withoutTrailingZeros(bytes(cleaned(tick)));
}

}  // namespace gui
