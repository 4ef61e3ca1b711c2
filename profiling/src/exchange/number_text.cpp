// Implementation on std::to_chars, which knows no locale.
#include "exchange/number_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace profiling {

namespace {

template <typename Number>
std::string shortest(Number value) {
    std::array<char, 32> text{};
    const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
    return std::string(text.data(), result.ptr);
}

}  // namespace

std::string numberText(std::int64_t value) {
    return shortest(value);
}

std::string numberText(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return shortest(value);
}

}  // namespace profiling
