// Names of the choices, as the command line, the database and the forms spell them. A new choice is added to its list
// here and nowhere else.
#include "engine/config.h"
#include "engine/error.h"

#include <array>
#include <utility>

namespace engine {

namespace {

template <typename Enum, std::size_t N>
struct NameTable {
    const char* option;  // the command-line option that takes these words
    std::array<std::pair<Enum, const char*>, N> entries;
};

constexpr NameTable<Precision, 4> kPrecisions{
    "--precision",
    {{{Precision::Auto, "auto"}, {Precision::Fp32, "fp32"}, {Precision::Bf16, "bf16"}, {Precision::Fp8, "fp8"}}}};
constexpr NameTable<RecipeKind, 5> kRecipes{"--recipe",
                                            {{{RecipeKind::Delayed, "delayed"},
                                              {RecipeKind::Current, "current"},
                                              {RecipeKind::Block, "block"},
                                              {RecipeKind::MxFp8, "mxfp8"},
                                              {RecipeKind::NvFp4, "nvfp4"}}}};
constexpr NameTable<RecipeFormat, 3> kFormats{
    "--format", {{{RecipeFormat::Auto, "auto"}, {RecipeFormat::Hybrid, "hybrid"}, {RecipeFormat::E4M3, "e4m3"}}}};
constexpr NameTable<AmaxAlgo, 2> kAlgos{"--amax-algo",
                                        {{{AmaxAlgo::Max, "max"}, {AmaxAlgo::MostRecent, "most_recent"}}}};
constexpr NameTable<Switch, 3> kSwitches{"--power-of-two-scales",
                                         {{{Switch::Auto, "auto"}, {Switch::On, "on"}, {Switch::Off, "off"}}}};
constexpr NameTable<Guard, 5> kGuards{"--guard",
                                      {{{Guard::Off, "off"},
                                        {Guard::Warn, "warn"},
                                        {Guard::Skip, "skip"},
                                        {Guard::Fallback, "fallback"},
                                        {Guard::Stop, "stop"}}}};
constexpr NameTable<Norm, 2> kNorms{"--norm", {{{Norm::LayerNorm, "layernorm"}, {Norm::RmsNorm, "rmsnorm"}}}};
constexpr NameTable<Activation, 4> kActivations{"--activation",
                                                {{{Activation::Gelu, "gelu"},
                                                  {Activation::Relu, "relu"},
                                                  {Activation::GeGlu, "geglu"},
                                                  {Activation::SwiGlu, "swiglu"}}}};
constexpr NameTable<Positions, 2> kPositions{"--positions",
                                             {{{Positions::Learned, "learned"}, {Positions::Rotary, "rotary"}}}};
constexpr NameTable<WeightStorage, 3> kWeights{
    "--weights",
    {{{WeightStorage::Fp32, "fp32"}, {WeightStorage::Fp8, "fp8"}, {WeightStorage::Fp8KeepInit, "fp8_keep_init"}}}};

template <typename Enum>
const auto& table();
template <>
const auto& table<Precision>() {
    return kPrecisions;
}
template <>
const auto& table<RecipeKind>() {
    return kRecipes;
}
template <>
const auto& table<RecipeFormat>() {
    return kFormats;
}
template <>
const auto& table<AmaxAlgo>() {
    return kAlgos;
}
template <>
const auto& table<Switch>() {
    return kSwitches;
}
template <>
const auto& table<Guard>() {
    return kGuards;
}
template <>
const auto& table<Norm>() {
    return kNorms;
}
template <>
const auto& table<Activation>() {
    return kActivations;
}
template <>
const auto& table<Positions>() {
    return kPositions;
}
template <>
const auto& table<WeightStorage>() {
    return kWeights;
}

}  // namespace

template <typename Enum>
const char* name(Enum value) {
    for (const auto& [entry, text] : table<Enum>().entries) {
        if (entry == value) return text;
    }
    checkFailed("known value", __FILE__, __LINE__, "an enumerator without a name");
}

template <typename Enum>
Enum parse(const std::string& text) {
    std::string known;
    for (const auto& [entry, word] : table<Enum>().entries) {
        if (text == word) return entry;
        known += known.empty() ? word : std::string(", ") + word;
    }
    throw Error(ErrorKind::Usage, table<Enum>().option + (" " + text), "not one of the choices", "use " + known);
}

template <typename Enum>
std::vector<std::string> choices() {
    std::vector<std::string> words;
    for (const auto& entry : table<Enum>().entries) words.emplace_back(entry.second);
    return words;
}

#define AMAXSCOPE_NAMED(Enum)                      \
    template const char* name<Enum>(Enum);         \
    template Enum parse<Enum>(const std::string&); \
    template std::vector<std::string> choices<Enum>()
AMAXSCOPE_NAMED(Precision);
AMAXSCOPE_NAMED(RecipeKind);
AMAXSCOPE_NAMED(RecipeFormat);
AMAXSCOPE_NAMED(AmaxAlgo);
AMAXSCOPE_NAMED(Switch);
AMAXSCOPE_NAMED(Guard);
AMAXSCOPE_NAMED(Norm);
AMAXSCOPE_NAMED(Activation);
AMAXSCOPE_NAMED(Positions);
AMAXSCOPE_NAMED(WeightStorage);
#undef AMAXSCOPE_NAMED

RecipeFormat effectiveFormat(const Fp8Recipe& recipe) {
    if (recipe.format != RecipeFormat::Auto) return recipe.format;
    const bool perTensor = recipe.kind == RecipeKind::Delayed || recipe.kind == RecipeKind::Current;
    return perTensor ? RecipeFormat::Hybrid : RecipeFormat::E4M3;
}

bool usesPowerOfTwoScales(const Fp8Recipe& recipe) {
    if (recipe.powerOfTwoScales != Switch::Auto) return recipe.powerOfTwoScales == Switch::On;
    return recipe.kind == RecipeKind::Block;
}

std::string precisionLabel(Precision precision, const Fp8Recipe& recipe) {
    if (precision != Precision::Fp8) return name(precision);
    if (recipe.kind == RecipeKind::NvFp4) return "fp4 nvfp4";
    return std::string("fp8 ") + name(recipe.kind) + " " + name(effectiveFormat(recipe));
}

}  // namespace engine
