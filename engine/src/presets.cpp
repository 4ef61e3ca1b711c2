// The built-in models, read from resources/presets/*.toml, which are compiled in, and files of the same form.
#include "embedded_presets.h"
#include "engine/config.h"
#include "engine/error.h"
#include "src/settings_file.h"

#include <array>
#include <utility>

namespace engine {

namespace {

const auto& table() {
    static const std::array<std::pair<const char*, std::string_view>, 10> presets{
        {{"tutorial", presets::kEmbedded_tutorial_toml},
         {"small", presets::kEmbedded_small_toml},
         {"base", presets::kEmbedded_base_toml},
         {"large", presets::kEmbedded_large_toml},
         {"tutorial-large", presets::kEmbedded_tutorial_large_toml},
         {"tutorial-e4m3", presets::kEmbedded_tutorial_e4m3_toml},
         {"tutorial-history-1024", presets::kEmbedded_tutorial_history_1024_toml},
         {"tutorial-unfused", presets::kEmbedded_tutorial_unfused_toml},
         {"tutorial-fp8-weights", presets::kEmbedded_tutorial_fp8_weights_toml},
         {"llama-small", presets::kEmbedded_llama_small_toml}}};
    return presets;
}

struct Preset {
    std::string summary;
    std::string base;  // the preset that it changes; "": the defaults
    Settings settings;
};

std::string presetText(const std::string& name, const std::string& source) {
    for (const auto& [builtIn, text] : table()) {
        if (name == builtIn) return std::string(text);
    }
    if (isSettingsFile(name)) return readSettingsFile(name, source);
    throw Error(ErrorKind::Usage, "--preset " + name, "there is no such preset",
                "use one of " + joined(presetNames()) + ", or a file that ends in .toml");
}

Preset readPreset(const std::string& name) {
    const std::string source = "preset " + name;
    const nlohmann::json document = parseToml(presetText(name, source), source);
    requireKnownKeys(document, {"summary", "preset", "model", "recipe", "train"}, source);
    Preset preset{textAt(document, "summary", "", source), textAt(document, "preset", "", source),
                  settingsIn(document, source)};
    // A chain of files could end in a circle.
    if (isSettingsFile(preset.base)) {
        throw Error(ErrorKind::Usage, source, "preset = \"" + preset.base + "\" names a file",
                    "build on one of " + joined(presetNames()));
    }
    return preset;
}

}  // namespace

std::vector<std::string> presetNames() {
    std::vector<std::string> names;
    for (const auto& entry : table()) names.emplace_back(entry.first);
    return names;
}

std::string presetSummary(const std::string& preset) {
    return readPreset(preset).summary;
}

RunConfig presetConfig(const std::string& preset) {
    const Preset found = readPreset(preset);
    return withSettings(found.base.empty() ? RunConfig{} : presetConfig(found.base), found.settings);
}

std::vector<Settings> presetSettings(const std::string& preset, const std::string& base) {
    if (preset == base) return {};
    const Preset found = readPreset(preset);
    if (found.base.empty()) {
        throw Error(ErrorKind::Usage, "preset " + preset, "it is not built on " + base,
                    "name one that says preset = \"" + base + "\"");
    }
    std::vector<Settings> settings = presetSettings(found.base, base);
    settings.push_back(found.settings);
    return settings;
}

}  // namespace engine
