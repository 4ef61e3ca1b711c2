// Tick labels in our number forms: SI steps, whole steps, powers of two, percent.
#pragma once

#include <qcustomplot.h>

namespace gui {

/// 12 k, 1.5 M: labels get only the digits that tell neighbours apart.
class SiTicker : public QCPAxisTicker {
protected:
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;
};

/// Training steps: whole numbers only.
class StepTicker : public SiTicker {
protected:
    double getTickStep(const QCPRange& range) override;
};

/// For an axis that holds log2 of the values: ticks at whole exponents, labelled 2^k.
class Log2Ticker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;
};

/// For an axis that holds log10 of counts: ticks at whole powers of ten, labelled 1, 10, 100, 1 k.
class Log10Ticker : public Log2Ticker {
protected:
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;
};

/// For an axis that holds shares: 0.02 reads "2 %".
class PercentTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;

private:
    int m_decimals = 0;
};

/// Bytes in binary steps.
class BytesTicker : public QCPAxisTicker {
protected:
    double getTickStep(const QCPRange& range) override;
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar, int precision) override;
};

}  // namespace gui
