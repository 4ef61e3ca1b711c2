// The parts of `show` that go into single tensors: their newest figures, and the exponent histogram of one.
#pragma once

#include "profiling/queries.h"

#include <cstdint>
#include <limits>
#include <string>

namespace cli {

/// Stands for the newest step.
inline constexpr std::int64_t kLastStep = std::numeric_limits<std::int64_t>::max();

/// Every tensor at its newest snapshot at `step` or before it.
void showTensors(profiling::Store& store, const profiling::RunRow& run, std::int64_t step, bool json);

/// The newest histogram at `step` or before it of the tensor with this full name, and what formats would lose of it.
/// Throws UsageError when there is no such tensor or histogram.
void showExponents(profiling::Store& store, const profiling::RunRow& run, const std::string& tensor, std::int64_t step,
                   bool json);

}  // namespace cli
