// Plain-text tables and the number forms they share; see table.h.
#include "table.h"

#include "token_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace cli {
namespace {

/// Characters, not bytes: every byte but UTF-8's continuation bytes.
std::size_t columns(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

Table::Table(std::vector<std::string> header, std::vector<Align> align) : m_align(std::move(align)) {
    m_rows.push_back(std::move(header));
}

void Table::add(std::vector<std::string> row) {
    for (std::string& cell : row) cell = oneLine(cell);
    m_rows.push_back(std::move(row));
}

std::string Table::text(const std::string& indent) const {
    std::vector<std::size_t> widths(m_align.size(), 0);
    for (const std::vector<std::string>& row : m_rows) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
    }
    std::string out;
    for (const std::vector<std::string>& row : m_rows) {
        std::string line = indent;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string padding(widths[i] - columns(row[i]), ' ');
            if (i > 0) line += "  ";
            line += m_align[i] == Align::Right ? padding + row[i] : row[i] + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

std::string grouped(double value) {
    if (!std::isfinite(value)) return fmt::format("{}", value);
    const std::string digits = fmt::format("{:.0f}", std::abs(value));
    std::string out = value < 0 && digits != "0" ? "-" : "";
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) out.push_back(',');
        out.push_back(digits[i]);
    }
    return out;
}

std::string fixed(double value, int digits) {
    return std::isnan(value) ? "n/a" : fmt::format("{:.{}f}", value, digits);
}

std::string fixed(std::optional<double> value, int digits) {
    return value ? fixed(*value, digits) : "n/a";
}

std::string bytesText(std::int64_t bytes) {
    constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string durationText(double seconds) {
    const auto total = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
    const std::int64_t hours = total / 3600;
    const std::int64_t minutes = total / 60 % 60;
    return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60)
                     : fmt::format("{}:{:02}", minutes, total % 60);
}

std::string localTime(std::int64_t unixNs) {
    if (unixNs <= 0) return "-";
    const auto seconds = static_cast<std::time_t>(unixNs / 1'000'000'000);
    std::tm parts{};
#ifdef _WIN32
    localtime_s(&parts, &seconds);
#else
    localtime_r(&seconds, &parts);
#endif
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                       parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string percentText(double share) {
    return std::isfinite(share) ? fmt::format("{:+.1f} %", share * 100) : "n/a";
}

std::string significant(double value) {
    return std::isnan(value) ? "" : fmt::format("{:.4g}", value);
}

std::string decimals(double value) {
    return std::isnan(value) ? "" : fixed(value, 2);
}

std::string shareText(double share) {
    return std::isnan(share) ? "" : fmt::format("{:.3g} %", share * 100);
}

std::string rangeText(double smallest, double largest) {
    if (std::isnan(smallest) || std::isnan(largest)) return "";
    return smallest == largest ? significant(smallest) : significant(smallest) + " .. " + significant(largest);
}

}  // namespace cli
