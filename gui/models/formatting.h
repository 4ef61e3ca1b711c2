// Numbers as text, the same in the window and in reports: SI steps, three significant digits, a decimal point in
// every locale, a true minus sign, "–" for what is not known.
#pragma once

#include <QString>

#include <cstdint>

namespace gui {

/// What stands for NaN or a missing value.
QString missingText();

/// `value` with exactly `digits` significant digits and no exponent between 1e-4 and 1e15: "9.31", "0.0410".
/// Trailing zeros stay, so that columns line up. "∞" for infinities, "1.20e-05" outside that band.
QString significant(double value, int digits = 3);

/// SI steps from a thousand up: 21400 → "21.4 k", 1.2e6 → "1.20 M". Whole numbers below 1000 have no decimals.
QString siNumber(double value, int digits = 3);
/// The whole value for tool tips: 21400.25 → "21 400.25" (grouped by a narrow no-break space).
QString fullNumber(double value);
/// A whole number in groups of three: 1200000 → "1 200 000".
QString grouped(std::int64_t value);

/// Three digits and the unit that fits: "23.4 ms", "812 ns", "1.50 s", from a minute up "2 min 05 s", "1 h 02 min".
QString duration(std::int64_t ns);
/// Milliseconds without unit, for columns whose header names it.
QString milliseconds(double ns);
/// Time left as a clock: "0:18", "1:02:03".
QString clockTime(double seconds);
/// Unix time as local "yyyy-MM-dd HH:mm:ss".
QString dateTime(std::int64_t unixNs);

/// Binary steps: "812 B", "1.50 KiB", "1.20 GiB".
QString bytes(double value);

/// 0.64 → "64 %", 0.0041 → "0.41 %".
QString percent(double ratio);
/// Always with a sign: 0.99 → "+99 %", −0.004 → "−0.4 %"; 0 → "±0 %".
QString signedPercent(double ratio);
/// value ÷ base − 1 as signedPercent; missing when base is 0 or either is not finite.
QString difference(double value, double base);

/// Label of a log2 axis: 4 → "2^4".
QString log2Label(int exponent);

}  // namespace gui
