// The options that say what to train and how, shared by train and bench. `--preset` comes first; everything else
// changes it, wherever it stands on the command line.
#pragma once

#include "engine/config.h"

#include <CLI/App.hpp>

#include <functional>
#include <string>
#include <vector>

namespace cli {

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

private:
    using Change = std::function<void(engine::RunConfig&)>;

    void addShared(CLI::App& app);
    void addModel(CLI::App& app);
    void addFp8(CLI::App& app);
    void addTraining(CLI::App& app);
    void addRunning(CLI::App& app);

    /// One option of each kind. The member pointers say where its value goes.
    void integer(CLI::App& app, const std::string& option, const std::string& help, const std::string& group,
                 const std::function<void(engine::RunConfig&, int)>& set);
    void real(CLI::App& app, const std::string& option, const std::string& help, const std::string& group,
              const std::function<void(engine::RunConfig&, double)>& set);
    void word(CLI::App& app, const std::string& option, const std::string& choices, const std::string& help,
              const std::string& group, const std::function<Change(const std::string&)>& parse);

    std::string m_preset;
    std::vector<Change> m_changes;
};

/// Throws UsageError for the last thing wrong with a configuration, after printing the others.
void requireValid(const engine::RunConfig& config);

}  // namespace cli
