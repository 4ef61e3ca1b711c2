// Which options matter under a configuration: what belongs to another recipe or precision changes nothing. The command
// line refuses such an option when it is given, the forms switch its field off.
#pragma once

#include "engine/config.h"

#include <string>

namespace jobs {

/// Why this option ("margin", without dashes) changes nothing under this configuration: "it belongs to the recipe
/// delayed, and this run's is mxfp8". "" when it has an effect; precision auto counts as FP8, which it may become.
std::string withoutEffect(const engine::RunConfig& config, const std::string& option);

/// The configuration with every setting of the recipe that has no effect at its default, and weights in FP32 unless the
/// precision is FP8: what a variant of a benchmark must not take over from its neighbours.
engine::RunConfig withoutIdleSettings(engine::RunConfig config);

}  // namespace jobs
