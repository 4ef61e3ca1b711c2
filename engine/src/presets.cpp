// The built-in models, read from resources/presets/*.toml, which are compiled in.
#include "embedded_presets.h"
#include "engine/config.h"
#include "engine/error.h"

#include <array>
#include <sstream>
#include <string_view>
#include <utility>

// toml11's headers trip our warnings when instantiated here.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <toml.hpp>
#pragma GCC diagnostic pop

namespace engine {

namespace {

const std::array<std::pair<const char*, std::string_view>, 4>& table() {
    static const std::array<std::pair<const char*, std::string_view>, 4> presets{
        {{"tutorial", presets::kEmbedded_tutorial_toml},
         {"small", presets::kEmbedded_small_toml},
         {"base", presets::kEmbedded_base_toml},
         {"large", presets::kEmbedded_large_toml}}};
    return presets;
}

toml::value parsed(const std::string& preset) {
    std::string names;
    for (const auto& [presetName, text] : table()) {
        if (preset == presetName) {
            std::istringstream stream{std::string(text)};
            return toml::parse(stream, preset + ".toml");
        }
        names += (names.empty() ? "" : ", ") + std::string(presetName);
    }
    throw Error(ErrorKind::Usage, "--preset " + preset, "there is no such preset", "use one of " + names);
}

}  // namespace

std::vector<std::string> presetNames() {
    std::vector<std::string> names;
    for (const auto& entry : table()) names.emplace_back(entry.first);
    return names;
}

std::string presetSummary(const std::string& preset) {
    return toml::find<std::string>(parsed(preset), "summary");
}

RunConfig presetConfig(const std::string& preset) {
    const toml::value document = parsed(preset);
    const toml::value& model = toml::find(document, "model");
    RunConfig config;
    config.model.layers = toml::find<int>(model, "layers");
    config.model.dModel = toml::find<int>(model, "d_model");
    config.model.heads = toml::find<int>(model, "heads");
    config.model.seqLen = toml::find<int>(model, "seq_len");
    config.train.batch = toml::find<int>(toml::find(document, "train"), "batch");
    return config;
}

}  // namespace engine
