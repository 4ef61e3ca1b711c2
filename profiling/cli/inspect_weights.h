// The part of `inspect` that looks into files of weights: every tensor under every recipe asked for.
#pragma once

#include <string>
#include <vector>

namespace cli {

struct WeightOptions {
    std::string recipes;   // "mxfp8,nvfp4"; "": all there are
    std::string tensors;   // globs; "": all
    bool all = false;      // vectors too
    std::string database;  // "": nothing is stored
    bool json = false;
};

/// By the name of the file, or how it begins.
bool looksLikeWeights(const std::string& path);

/// Checks the options and all files before the first number is read, prints each file, and stores all of them at the
/// end: an error leaves nothing behind. Throws UsageError, engine::Error or profiling::Error.
void inspectWeights(const std::vector<std::string>& paths, const WeightOptions& options);

}  // namespace cli
