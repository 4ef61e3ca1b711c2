// The options that say what to train and how, shared by train and bench. `--preset` comes first; everything else
// changes it, wherever it stands on the command line.
#pragma once

#include "engine/config.h"

#include <CLI/App.hpp>

#include <functional>
#include <string>
#include <vector>

namespace cli {

/// One option that stands on the command line.
struct GivenOption {
    std::string shown;  // as it was written: "--no-hadamard"
    std::string field;  // as ConfigIssue::field has it: "hadamard"
    std::function<void(engine::RunConfig&)> change;
};

class RunOptions {
public:
    /// For `train`: with --precision, --steps and --validate-every, which a benchmark decides by itself.
    void addForTrain(CLI::App& app);
    void addForBench(CLI::App& app);

    bool hasPreset() const { return !m_preset.empty(); }
    /// The preset (or the defaults) with the options applied.
    engine::RunConfig config() const;
    /// The options applied to a configuration that comes from elsewhere, as from a checkpoint.
    engine::RunConfig applyTo(engine::RunConfig base) const;

    /// Throws UsageError when an option was given that changes nothing in any of these configurations: whoever asks for
    /// a margin with a recipe that has none would take the numbers for something else.
    void requireEffect(const std::vector<engine::RunConfig>& configs) const;

private:
    void addShared(CLI::App& app, bool withPrecision);

    std::string m_preset;
    std::vector<GivenOption> m_given;
};

/// Throws UsageError for the last thing wrong with a configuration, after printing the others.
void requireValid(const engine::RunConfig& config);

}  // namespace cli
