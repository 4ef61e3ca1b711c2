// Names of the choices, as the command line, the database and the forms spell them.
#include "engine/config.h"
#include "engine/error.h"

#include <array>
#include <utility>

namespace engine {

namespace {

template <typename Enum, std::size_t N>
using NameTable = std::array<std::pair<Enum, const char*>, N>;

constexpr NameTable<Precision, 4> kPrecisions{
    {{Precision::Auto, "auto"}, {Precision::Fp32, "fp32"}, {Precision::Bf16, "bf16"}, {Precision::Fp8, "fp8"}}};
constexpr NameTable<RecipeFormat, 2> kFormats{{{RecipeFormat::Hybrid, "hybrid"}, {RecipeFormat::E4M3, "e4m3"}}};
constexpr NameTable<AmaxAlgo, 2> kAlgos{{{AmaxAlgo::Max, "max"}, {AmaxAlgo::MostRecent, "most_recent"}}};
constexpr NameTable<Guard, 4> kGuards{
    {{Guard::Off, "off"}, {Guard::Warn, "warn"}, {Guard::Fallback, "fallback"}, {Guard::Stop, "stop"}}};

template <typename Enum, std::size_t N>
const char* find(const NameTable<Enum, N>& table, Enum value) {
    for (const auto& [entry, text] : table) {
        if (entry == value) return text;
    }
    checkFailed("known value", __FILE__, __LINE__, "an enumerator without a name");
}

template <typename Enum, std::size_t N>
Enum parse(const NameTable<Enum, N>& table, const char* option, const std::string& text) {
    std::string choices;
    for (const auto& [entry, name] : table) {
        if (text == name) return entry;
        choices += choices.empty() ? name : std::string(", ") + name;
    }
    throw Error(ErrorKind::Usage, option + (" " + text), "not one of the choices", "use " + choices);
}

}  // namespace

const char* name(Precision precision) {
    return find(kPrecisions, precision);
}
const char* name(RecipeFormat format) {
    return find(kFormats, format);
}
const char* name(AmaxAlgo algo) {
    return find(kAlgos, algo);
}
const char* name(Guard guard) {
    return find(kGuards, guard);
}

Precision parsePrecision(const std::string& text) {
    return parse(kPrecisions, "--precision", text);
}
RecipeFormat parseRecipeFormat(const std::string& text) {
    return parse(kFormats, "--format", text);
}
AmaxAlgo parseAmaxAlgo(const std::string& text) {
    return parse(kAlgos, "--amax-algo", text);
}
Guard parseGuard(const std::string& text) {
    return parse(kGuards, "--guard", text);
}

std::string precisionLabel(Precision precision, const Fp8Recipe& recipe) {
    if (precision != Precision::Fp8) return name(precision);
    return std::string("fp8 delayed ") + name(recipe.format);
}

}  // namespace engine
