// How much memory a run may take before the system would have to kill something: /proc/meminfo and the limits of
// control groups (version 2).
#include "engine/device.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace engine {

namespace {

std::int64_t memAvailable() {
    std::ifstream file("/proc/meminfo");
    std::string key;
    std::int64_t kibibytes = 0;
    std::string unit;
    while (file >> key >> kibibytes) {
        std::getline(file, unit);
        if (key == "MemAvailable:") return kibibytes * 1024;
    }
    return -1;
}

std::int64_t readNumber(const std::string& path) {
    std::ifstream file(path);
    std::int64_t value = -1;
    return file >> value ? value : -1;  // "max" is no number
}

// The path of this process's group, "/" in a container.
std::string controlGroup() {
    std::ifstream file("/proc/self/cgroup");
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3);
    }
    return "";
}

}  // namespace

std::int64_t availableMemoryBytes() {
    const std::int64_t machine = memAvailable();
    const std::string group = controlGroup();
    if (group.empty()) return machine;
    const std::int64_t limit = readNumber(group + "/memory.max");
    const std::int64_t used = readNumber(group + "/memory.current");
    if (limit < 0 || used < 0) return machine;
    const std::int64_t left = std::max<std::int64_t>(0, limit - used);
    return machine < 0 ? left : std::min(machine, left);
}

}  // namespace engine
