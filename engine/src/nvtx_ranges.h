// Ranges of the engine: one RAII class that speaks NVTX (domain "amaxscope") and, where it is set, the direct sink.
// Names are string literals or live in the trainer's name table: they must outlive the process's ranges.
#pragma once

#include "engine/observer.h"

namespace engine {

/// Opens a range on construction, closes it on destruction. Costs one branch when ranges are off.
class Range {
public:
    Range(const char* name, RangeKind kind, RangeWork work = {0, 0});
    ~Range();
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;

private:
    bool m_open;
};

}  // namespace engine
