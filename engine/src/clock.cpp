// The one clock of a process: monotonic, anchored once to the Unix epoch.
#include "engine/observer.h"

#include <chrono>

namespace engine {

namespace {

std::int64_t steadyNs() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::int64_t epochOffsetNs() {
    static const std::int64_t offset =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count() -
        steadyNs();
    return offset;
}

}  // namespace

std::int64_t clockNs() {
    return steadyNs() + epochOffsetNs();
}

}  // namespace engine
