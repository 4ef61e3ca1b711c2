// Decides when a write that failed is worth telling: a lock of another program passes, a full disk does not.
#pragma once

#include "profiling/error.h"

#include <chrono>
#include <exception>
#include <optional>
#include <string>

namespace profiling {

/// Time is given by the caller. Not thread-safe.
class WriteHealth {
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    /// How long another program may hold the file before that counts as a failure.
    static constexpr auto kPatience = std::chrono::seconds(60);

    /// True when the failure is to be reported: at once when it lasts, after kPatience when it is a lock.
    bool failed(bool transient, TimePoint startedAt, TimePoint now) {
        if (!m_failingSince) m_failingSince = startedAt;
        return !transient || now - *m_failingSince >= kPatience;
    }
    void succeeded() { m_failingSince.reset(); }

private:
    std::optional<TimePoint> m_failingSince;
};

/// True when another program held the file, so that the same write may work later.
bool isTransient(const std::exception& error);

}  // namespace profiling
