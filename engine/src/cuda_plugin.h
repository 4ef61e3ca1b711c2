// Finding and asking the CUDA plug-in. Everything that can be missing is a sentence, not an error.
#pragma once

#include <string>

namespace engine {

/// "not installed", "CUDA 13.0, driver for CUDA 13.0, cuBLASLt 13.0.2, 1 GPU", or what stands in the way.
/// Looked for in $AMAXSCOPE_CUDA_PLUGIN (a path), beside the program, and in ../lib/amaxscope.
std::string cudaPluginStatus();

}  // namespace engine
