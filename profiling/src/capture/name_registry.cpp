// Implementation of the name table. Entries sit in a deque, so that their addresses never change.
#include "capture/name_registry.h"

#include <deque>
#include <mutex>
#include <unordered_map>

namespace profiling {

namespace {

struct Registry {
    std::mutex mutex;
    std::deque<InternedName> names;
    std::unordered_map<std::string_view, std::uint32_t> ids;  // views into names
};

/// Never destroyed: ranges may still close while the process ends.
Registry& registry() {
    static Registry& instance = *new Registry;
    return instance;
}

}  // namespace

const InternedName& internName(std::string_view text) {
    Registry& table = registry();
    const std::lock_guard lock(table.mutex);
    const auto found = table.ids.find(text);
    if (found != table.ids.end()) return table.names[found->second];
    const auto id = static_cast<std::uint32_t>(table.names.size());
    const InternedName& entry = table.names.emplace_back(InternedName{id, std::string(text)});
    table.ids.emplace(entry.text, id);
    return entry;
}

const std::string& internedText(std::uint32_t id) {
    Registry& table = registry();
    const std::lock_guard lock(table.mutex);
    return table.names[id].text;
}

}  // namespace profiling
