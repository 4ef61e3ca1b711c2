// Plain-text tables and the number forms they share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cli {

enum class Align { Left, Right };

/// Collects cells, then prints columns as wide as their widest cell (UTF-8 aware), two spaces apart. Control
/// characters are escaped: names and notes come from files that others wrote.
class Table {
public:
    explicit Table(std::vector<std::string> header, std::vector<Align> align);
    void add(std::vector<std::string> row);
    std::string text(const std::string& indent = "") const;

private:
    std::vector<Align> m_align;
    std::vector<std::vector<std::string>> m_rows;  // the header first
};

std::string grouped(double value);            ///< "12,345": rounded, with thousands separators
std::string fixed(double value, int digits);  ///< "1.2346"; "n/a" for NaN
std::string fixed(std::optional<double> value, int digits);
std::string bytesText(std::int64_t bytes);   ///< "1.5 GiB"
std::string durationText(double seconds);    ///< "0:07", "1:02:03"
std::string localTime(std::int64_t unixNs);  ///< "2026-01-31 23:59:59"; "-" for 0
std::string percentText(double share);       ///< "+1.2 %" from 0.012

// "" for NaN: where there is nothing to tell.
std::string significant(double value);                   ///< four digits: "0.001234"
std::string decimals(double value);                      ///< "12.34"
std::string shareText(double share);                     ///< "1.23 %" from 0.0123
std::string rangeText(double smallest, double largest);  ///< "0.5 .. 2"; "0.5" where both are the same

}  // namespace cli
