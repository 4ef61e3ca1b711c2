// Reads the benchmark suites; see engine/suites.h.
#include "engine/suites.h"

#include "embedded_suites.h"
#include "engine/error.h"
#include "src/settings_file.h"

#include <algorithm>
#include <array>
#include <utility>

namespace engine {

namespace {

constexpr std::size_t kMostVariants = 64;

const auto& table() {
    static const std::array<std::pair<const char*, std::string_view>, 1> suites{
        {{"tutorial-extensions", suites::kEmbedded_tutorial_extensions_toml}}};
    return suites;
}

std::string suiteText(const std::string& name, const std::string& source) {
    for (const auto& [builtIn, text] : table()) {
        if (name == builtIn) return std::string(text);
    }
    if (isSettingsFile(name)) return readSettingsFile(name, source);
    throw Error(ErrorKind::Usage, "--suite " + name, "there is no such suite",
                "use " + joined(suiteNames()) + ", or a file that ends in .toml");
}

SuiteVariant readVariant(const nlohmann::json& object, const Suite& suite, const std::string& source) {
    if (!object.is_object()) {
        throw Error(ErrorKind::Usage, source, "a variant is no table", "begin each with a line [[variant]]");
    }
    SuiteVariant variant;
    variant.label = textAt(object, "label", "", source);
    const std::string where = source + ", variant \"" + variant.label + "\"";
    requireKnownKeys(object, {"label", "summary", "preset", "model", "recipe", "train"}, where);
    const bool known = std::any_of(suite.variants.begin(), suite.variants.end(),
                                   [&](const SuiteVariant& other) { return other.label == variant.label; });
    if (variant.label.empty() || known) {
        throw Error(ErrorKind::Usage, where, known ? "its label stands there twice" : "its label is missing",
                    "give each variant a label of its own");
    }
    variant.summary = textAt(object, "summary", "", where);
    variant.settings = presetSettings(presetAt(object, suite.preset, where), suite.preset, where);
    variant.settings.push_back(settingsIn(object, where));
    return variant;
}

}  // namespace

RunConfig SuiteVariant::applyTo(RunConfig base) const {
    for (const Settings& each : settings) base = withSettings(base, each);
    return base;
}

std::vector<std::string> suiteNames() {
    std::vector<std::string> names;
    for (const auto& entry : table()) names.emplace_back(entry.first);
    return names;
}

Suite suite(const std::string& name) {
    const std::string source = "suite " + name;
    const nlohmann::json document = parseToml(suiteText(name, source), source);
    requireKnownKeys(document, {"summary", "preset", "variant"}, source);
    Suite suite{name, textAt(document, "summary", "", source), presetAt(document, "tutorial", source), {}};
    const auto variants = document.find("variant");
    if (variants == document.end() || !variants->is_array() || variants->empty() || variants->size() > kMostVariants) {
        throw Error(ErrorKind::Usage, source, "it has no list of 1 to " + std::to_string(kMostVariants) + " variants",
                    "write [[variant]] and label = \"…\" for each");
    }
    for (const nlohmann::json& object : *variants) suite.variants.push_back(readVariant(object, suite, source));
    const RunConfig base = presetConfig(suite.preset);
    for (const SuiteVariant& variant : suite.variants) variant.applyTo(base);  // wrong keys are told here
    return suite;
}

}  // namespace engine
