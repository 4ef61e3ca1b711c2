// The built-in models, read from resources/presets/*.toml, which are compiled in, and files of the same form.
#include "embedded_presets.h"
#include "engine/config.h"
#include "engine/error.h"
#include "src/settings_file.h"

#include <algorithm>
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
    return {textAt(document, "summary", "", source), presetAt(document, "", source), settingsIn(document, source)};
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

std::string presetAt(const nlohmann::json& object, const std::string& fallback, const std::string& source) {
    const std::string preset = textAt(object, "preset", fallback, source);
    const std::vector<std::string> names = presetNames();
    if (preset == fallback || std::find(names.begin(), names.end(), preset) != names.end()) return preset;
    throw Error(ErrorKind::Usage, source, "preset = \"" + preset + "\" names no built-in preset",
                "use one of " + joined(names));
}

std::vector<Settings> presetSettings(const std::string& preset, const std::string& base, const std::string& source) {
    std::vector<Settings> settings;
    for (std::string name = preset; name != base;) {
        Preset found = readPreset(name);
        if (found.base.empty()) {
            throw Error(ErrorKind::Usage, source, "preset = \"" + preset + "\" is not built on " + base,
                        "name " + base + " or one that is built on it");
        }
        settings.insert(settings.begin(), std::move(found.settings));
        name = found.base;
    }
    return settings;
}

}  // namespace engine
