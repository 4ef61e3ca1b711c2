// Numbers as text for other programs: decimal point whatever the locale, the fewest digits that read back the same.
#pragma once

#include <cstdint>
#include <string>

namespace profiling {

std::string numberText(std::int64_t value);
/// "inf", "-inf" and "nan" for what is not finite.
std::string numberText(double value);

}  // namespace profiling
