// Tells whether the process that was recording a run still exists: a run left `running` by one that is gone crashed.
#pragma once

#include <cstdint>
#include <string>

namespace profiling {

struct ProcessIdentity {
    std::int64_t pid = 0;
    std::int64_t start = 0;  // clock ticks since boot: tells a reused pid from the old process
    std::string boot;        // boot id: tells another machine, or the same one before a restart
};

ProcessIdentity currentProcess();

/// Linux. Where /proc does not exist a process is taken to be alive.
bool isAlive(const ProcessIdentity& process);

}  // namespace profiling
