// Benchmark suites: which settings belong side by side. The built-in ones are resources/presets/suites/*.toml, compiled
// in; a name that ends in .toml is the path of a file of the same form.
#pragma once

#include "engine/config.h"

#include <string>
#include <vector>

namespace engine {

/// Part of a configuration: JSON objects with the keys that toJson() writes. What is absent stays as it is.
struct Settings {
    std::string source;  // where they are from, for messages: "preset tutorial-e4m3"
    std::string model = "{}";
    std::string recipe = "{}";
    std::string train = "{}";
};
/// Throws Error (Usage) naming source and key: a key that there is not, a value of the wrong type or out of the type's
/// range. Whether the values fit together is for validate() to say.
RunConfig withSettings(const RunConfig& base, const Settings& settings);

struct SuiteVariant {
    std::string label;    // unique within the suite
    std::string summary;  // what sets it apart, one line
    std::vector<Settings> settings;

    RunConfig applyTo(RunConfig base) const;
};

struct Suite {
    std::string name;
    std::string summary;
    std::string preset;                  // that every variant starts from
    std::vector<SuiteVariant> variants;  // at full size; the first is the baseline
};

std::vector<std::string> suiteNames();
/// Throws Error (Usage) for an unknown name or an unsound file.
Suite suite(const std::string& name);

}  // namespace engine
