// How much memory a run may take before the system would have to kill something.
#pragma once

#include <cstdint>

namespace engine {

/// Bytes that can be allocated without swapping, by the kernel's estimate and within this process's control group;
/// −1 where the system does not say.
std::int64_t availableMemoryBytes();

}  // namespace engine
