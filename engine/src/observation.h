// What is watched of a run's tensors, and what one step saw of each.
#pragma once

#include "cpu/kernels.h"
#include "engine/config.h"
#include "engine/observer.h"

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace engine {

/// Whether `role` is one that TrainConfig::observe may list.
bool isObservedRole(const std::string& role);
bool observes(const TrainConfig& train, const char* role);

/// Which of a step's costs are to be paid.
struct Watch {
    bool counters = false;    // counts and error sums of the casts of observed tensors
    bool everything = false;  // the same for all casts
    bool exponents = false;   // histograms of the binades and smallest values, of every watched tensor
    bool results = false;     // amax of watched results
};
Watch watchOf(const TrainConfig& train, std::int64_t step);

/// Binades of a tensor, by FP32 exponent field.
struct Exponents {
    std::array<std::uint32_t, 256> counts{};
    float smallest = std::numeric_limits<float>::infinity();  // non-zero |x|
    void add(const Exponents& other);
};

/// What a step saw of one tensor. Adds up over threads and micro-batches.
struct TensorRecord {
    bool seen = false;
    float scale = 0;  // of the last cast; 0: not cast
    cpu::CastStats stats;
    bool hasExponents = false;
    Exponents exponents;
};

TensorSnapshot snapshotOf(const TensorInfo& tensor, const TensorRecord& record);

}  // namespace engine
