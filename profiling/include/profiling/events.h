// What the capture stage hands to the store: plain records, ids that do not convert into each other.
#pragma once

#include "engine/observer.h"

#include <cstdint>

namespace profiling {

/// Ids of rows in one database file; RunId{3} and BenchId{3} are different types.
template <typename Tag>
struct Id {
    std::int64_t value = 0;  // 0: none
    explicit operator bool() const { return value != 0; }
    auto operator<=>(const Id&) const = default;
};
using RunId = Id<struct RunTag>;
using BenchId = Id<struct BenchTag>;
using TensorId = Id<struct TensorTag>;

/// A finished NVTX range (or the same from the direct sink). Ids count from 1 within one run.
struct RangeEvent {
    std::int64_t id;
    std::int64_t parent;  // 0: none
    std::int64_t step;    // −1: outside a step
    std::int64_t startNs;
    std::int64_t durationNs;
    double flops;  // 0: not stated
    double bytes;
    std::uint32_t name;    // interned in the recorder
    std::uint32_t thread;  // small number of the producing thread, from 0
    std::uint16_t depth;   // 0: outermost
    engine::RangeKind kind;
};

}  // namespace profiling
