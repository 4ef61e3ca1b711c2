// Settings as people write them: TOML files with the tables [model], [recipe] and [train], whose keys are those of the
// stored configuration. Presets and suites are read through here.
#pragma once

#include "engine/suites.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// A TOML document as JSON. Throws Error (Usage) "source: why: fix" for text that is no TOML, is larger or deeper than
/// such files are, or holds a date.
nlohmann::json parseToml(std::string_view text, const std::string& source);

/// The text of a file that a user named. Throws Error (Usage).
std::string readSettingsFile(const std::string& path, const std::string& source);

/// True for a name that stands for a file and not for something built in.
bool isSettingsFile(const std::string& name);

/// The tables model, recipe and train of an object.
Settings settingsIn(const nlohmann::json& object, const std::string& source);

/// Throws Error (Usage) for a key that is not on the list.
void requireKnownKeys(const nlohmann::json& object, const std::vector<std::string>& keys, const std::string& source);

/// The text at a key; `fallback` when the key is absent. Throws Error (Usage) when something else stands there.
std::string textAt(const nlohmann::json& object, const std::string& key, const std::string& fallback,
                   const std::string& source);

/// "a, b, c"
std::string joined(const std::vector<std::string>& words);

/// The key `preset` of a file: the built-in preset that it starts from, `fallback` when the key is absent. Throws Error
/// (Usage) for anything else: a chain of files could end in a circle.
std::string presetAt(const nlohmann::json& object, const std::string& fallback, const std::string& source);

/// What a built-in preset adds to another one that it is built on, nearest to that one first. Throws Error (Usage)
/// naming `source` when it is not built on it.
std::vector<Settings> presetSettings(const std::string& preset, const std::string& base, const std::string& source);

}  // namespace engine
