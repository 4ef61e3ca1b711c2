// Reading TOML settings and applying them key by key; see settings_file.h.
#include "src/settings_file.h"

#include "engine/error.h"
#include "src/input_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

// toml11's headers trip our warnings when instantiated here.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <toml.hpp>
#pragma GCC diagnostic pop

namespace engine {

using nlohmann::json;

namespace {

constexpr std::int64_t kLongestFile = 64 << 10;
// The parser calls itself for what is nested, in brackets or in dotted keys, so that is bounded before it sees the
// text.
constexpr int kMostBrackets = 1000;
constexpr int kMostDotsInLine = 100;

constexpr std::array<const char*, 3> kTables = {"model", "recipe", "train"};

bool isTooDeep(std::string_view text) {
    int brackets = 0;
    int dots = 0;
    for (const char c : text) {
        if (c == '[' || c == '{') ++brackets;
        dots = c == '\n' ? 0 : dots + (c == '.' ? 1 : 0);
        if (brackets > kMostBrackets || dots > kMostDotsInLine) return true;
    }
    return false;
}

Error unfit(const toml::value& value, const std::string& source, const std::string& what) {
    return {ErrorKind::Usage, source, "line " + std::to_string(value.location().line()) + " holds " + what,
            "no setting takes one: write a number, true, false or \"text\""};
}

json toJsonValue(const toml::value& value, const std::string& source) {
    switch (value.type()) {
        case toml::value_t::boolean:
            return value.as_boolean();
        case toml::value_t::integer:
            // toml11 reads a number that is too large as the largest.
            if (value.as_integer() == std::numeric_limits<std::int64_t>::max() ||
                value.as_integer() == std::numeric_limits<std::int64_t>::min()) {
                throw unfit(value, source, "a number beyond 64 bits");
            }
            return value.as_integer();
        case toml::value_t::floating:
            if (!std::isfinite(value.as_floating())) throw unfit(value, source, "a number that is not finite");
            return value.as_floating();
        case toml::value_t::string:
            return value.as_string().str;
        case toml::value_t::array: {
            json array = json::array();
            for (const toml::value& item : value.as_array()) array.push_back(toJsonValue(item, source));
            return array;
        }
        case toml::value_t::table: {
            json object = json::object();
            for (const auto& [key, item] : value.as_table()) object[key] = toJsonValue(item, source);
            return object;
        }
        default:
            throw unfit(value, source, "a date");
    }
}

/// The first line of toml11's own message, which goes on with a picture of the place.
std::string firstLine(const std::string& message) {
    const std::string line = message.substr(0, message.find('\n'));
    const std::size_t word = line.find("] ");
    return word == std::string::npos ? line : line.substr(word + 2);
}

const char* typeName(const json& value) {
    if (value.is_boolean()) return "true or false";
    if (value.is_number_integer()) return "a whole number";
    if (value.is_number()) return "a number";
    if (value.is_string()) return "text in quotes";
    if (value.is_array()) return "a list";
    return "a table";
}

bool fits(const json& value, const json& standard) {
    if (standard.is_number_integer()) return value.is_number_integer();
    if (standard.is_number()) return value.is_number();
    return value.type() == standard.type();
}

std::vector<std::string> keysOf(const json& object) {
    std::vector<std::string> keys;
    for (const auto& item : object.items()) keys.push_back(item.key());
    return keys;
}

/// One configuration as its three JSON objects, which keys are set in.
class Parts {
public:
    explicit Parts(const RunConfig& config)
        : m_parts{json::parse(toJson(config.model)), json::parse(toJson(config.recipe)),
                  json::parse(toJson(config.train))} {}

    void set(std::size_t table, const std::string& key, const json& value, const std::string& source) {
        json& part = m_parts[table];
        const std::string name = std::string(kTables[table]) + "." + key;
        if (!part.contains(key)) {
            throw Error(ErrorKind::Usage, source, name + " is no setting",
                        "[" + std::string(kTables[table]) + "] takes " + joined(keysOf(part)));
        }
        if (!fits(value, part[key])) {
            throw Error(ErrorKind::Usage, source,
                        name + " holds " + value.dump() + ", where " + typeName(part[key]) + " belongs",
                        "write it like " + key + " = " + part[key].dump());
        }
        part[key] = part[key].is_number_float() ? json(value.get<double>()) : value;
        const json kept = readBack(name, value, source).m_parts[table][key];
        // A number too large for its field comes back as another one; texts tell −1 from 2^64 − 1, numbers do not.
        if (kept.dump() != part[key].dump()) {
            throw Error(ErrorKind::Usage, source, name + " = " + value.dump() + " is out of range",
                        "use a number within the setting's limits");
        }
    }

    RunConfig config() const { return runConfigFromJson(m_parts[0].dump(), m_parts[1].dump(), m_parts[2].dump()); }

private:
    Parts readBack(const std::string& name, const json& value, const std::string& source) const {
        try {
            return Parts(config());
        } catch (const Error& error) {
            throw Error(ErrorKind::Usage, source, name + " = " + value.dump() + " is " + error.why(), error.fix());
        }
    }

    std::array<json, kTables.size()> m_parts;
};

}  // namespace

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

json parseToml(std::string_view text, const std::string& source) {
    if (isTooDeep(text)) {
        throw Error(ErrorKind::Usage, source, "it is nested deeper than settings can be",
                    "name a file with the tables [model], [recipe] and [train]");
    }
    try {
        std::istringstream stream{std::string(text)};
        return toJsonValue(toml::parse(stream, source), source);
    } catch (const toml::exception& error) {
        throw Error(ErrorKind::Usage, source,
                    "line " + std::to_string(error.location().line()) + " is no TOML (" + firstLine(error.what()) + ")",
                    "write tables like [model] and lines like layers = 4");
    }
}

bool isSettingsFile(const std::string& name) {
    return name.ends_with(".toml");
}

std::string readSettingsFile(const std::string& path, const std::string& source) {
    try {
        return InputFile(path).readText(kLongestFile);
    } catch (const Error& error) {
        throw Error(ErrorKind::Usage, source, error.why(), "name a .toml file that can be read");
    }
}

void requireKnownKeys(const json& object, const std::vector<std::string>& keys, const std::string& source) {
    for (const std::string& key : keysOf(object)) {
        if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
        throw Error(ErrorKind::Usage, source, key + " is no key or table of it", "use " + joined(keys));
    }
}

std::string textAt(const json& object, const std::string& key, const std::string& fallback, const std::string& source) {
    const auto found = object.find(key);
    if (found == object.end()) return fallback;
    if (found->is_string()) return found->get<std::string>();
    throw Error(ErrorKind::Usage, source, key + " holds " + typeName(*found) + ", where text in quotes belongs",
                "write it like " + key + " = \"text\"");
}

Settings settingsIn(const json& object, const std::string& source) {
    Settings settings{source};
    for (const auto& [key, part] :
         {std::pair{kTables[0], &settings.model}, {kTables[1], &settings.recipe}, {kTables[2], &settings.train}}) {
        const auto found = object.find(key);
        if (found == object.end()) continue;
        if (!found->is_object()) {
            throw Error(ErrorKind::Usage, source, std::string(key) + " holds " + typeName(*found) + ", not a table",
                        "write [" + std::string(key) + "] on a line of its own and the settings below it");
        }
        *part = found->dump();
    }
    return settings;
}

RunConfig withSettings(const RunConfig& base, const Settings& settings) {
    Parts parts(base);
    const std::array<const std::string*, kTables.size()> texts = {&settings.model, &settings.recipe, &settings.train};
    for (std::size_t table = 0; table < texts.size(); ++table) {
        const json object = json::parse(*texts[table]);
        for (const auto& [key, value] : object.items()) parts.set(table, key, value, settings.source);
    }
    return parts.config();
}

}  // namespace engine
