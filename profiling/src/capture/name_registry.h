// Process-wide interning of range names: a range carries a small number instead of its text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace profiling {

struct InternedName {
    std::uint32_t id;  // counts from 0
    std::string text;
};

/// Thread-safe; takes a lock, so callers keep what they got. The entry lives as long as the process.
const InternedName& internName(std::string_view text);
/// Thread-safe. `id` must come from internName.
const std::string& internedText(std::uint32_t id);

}  // namespace profiling
