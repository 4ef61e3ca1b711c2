// Tells whether the process that was recording a run still exists: a run left `running` by one that is gone crashed.
// A process of another container or machine cannot be looked up and is judged by what it writes.
#pragma once

#include <cstdint>
#include <string>

namespace profiling {

struct ProcessIdentity {
    std::int64_t pid = 0;
    std::int64_t start = 0;         // clock ticks since boot: tells a reused pid from the old process
    std::string boot;               // boot id: tells another machine, or the same one before a restart
    std::int64_t pidNamespace = 0;  // inode: tells another container, where the pid means something else; 0: unknown
    std::string host;               // tells a restarted machine from another one
};

ProcessIdentity currentProcess();

enum class Liveness : std::uint8_t {
    Alive = 1,
    Gone = 2,   ///< certainly
    Silent = 3  ///< cannot be looked up from here, and has written nothing for kSilentNs
};
inline constexpr std::int64_t kSilentNs = 60'000'000'000;

/// `silentNs` is how long the process has written nothing. Linux; where /proc does not exist a process counts as alive.
Liveness liveness(const ProcessIdentity& process, std::int64_t silentNs);
/// The same, asked from the process `here`.
Liveness liveness(const ProcessIdentity& process, std::int64_t silentNs, const ProcessIdentity& here);

}  // namespace profiling
