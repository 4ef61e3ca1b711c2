// Reads the list of things a benchmark compares: "fp32,bf16,fp8:delayed:hybrid,fp8:mxfp8/norecord".
#include "engine/error.h"
#include "jobs/job.h"
#include "jobs/option_effect.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

namespace jobs {
namespace {

using engine::Precision;
using engine::RecipeKind;

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::size_t start = 0;
    for (std::size_t end = text.find(separator); end != std::string::npos; end = text.find(separator, start)) {
        parts.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    parts.push_back(text.substr(start));
    return parts;
}

[[noreturn]] void reject(const std::string& item, const std::string& why) {
    throw engine::Error(engine::ErrorKind::Usage, "--precisions item \"" + item + "\"", why, "use " + variantForms());
}

using Switch = engine::Switch;

/// One thing that may follow a slash. Where high is not 0, a number follows the word: "edges1", "history=1024".
struct Suffix {
    std::string_view word;
    std::string_view option;  // of the command line, that sets the same; "" where there is none
    int low;                  // limits of the number
    int high;
    void (*apply)(BenchVariant&, int number);
    const char* help;
};

constexpr Suffix kSuffixes[] = {
    {"unfused", "", 0, 0, [](BenchVariant& v, int) { v.config.train.fused = false; },
     "every operation in a pass of its own"},
    {"fp8weights", "weights", 0, 0, [](BenchVariant& v, int) { v.config.train.weights = engine::WeightStorage::Fp8; },
     "weights kept only as quantised"},
    {"keepinit", "weights", 0, 0,
     [](BenchVariant& v, int) { v.config.train.weights = engine::WeightStorage::Fp8KeepInit; },
     "weights quantised, the optimizer's FP32 masters from before that"},
    {"edges", "bf16-edge-layers", 1, 128, [](BenchVariant& v, int n) { v.config.train.bf16EdgeLayers = n; },
     "the N first and N last Transformer layers in BF16"},
    {"history=", "amax-history-len", 1, 65536, [](BenchVariant& v, int n) { v.config.recipe.amaxHistoryLen = n; },
     "delayed: steps of amax that decide a scale"},
    {"most_recent", "amax-algo", 0, 0,
     [](BenchVariant& v, int) { v.config.recipe.amaxAlgo = engine::AmaxAlgo::MostRecent; },
     "delayed: the newest amax decides, not the largest"},
    {"margin=", "margin", 0, 32, [](BenchVariant& v, int n) { v.config.recipe.margin = n; },
     "delayed: scales divided by 2^N"},
    {"pow2", "power-of-two-scales", 0, 0, [](BenchVariant& v, int) { v.config.recipe.powerOfTwoScales = Switch::On; },
     "current, block: scales are powers of two"},
    {"nopow2", "power-of-two-scales", 0, 0,
     [](BenchVariant& v, int) { v.config.recipe.powerOfTwoScales = Switch::Off; },
     "current, block: scales are any FP32 number"},
    {"notiles", "weight-tiles", 0, 0, [](BenchVariant& v, int) { v.config.recipe.weightTiles = false; },
     "block, nvfp4: a weight's blocks are parts of rows, not squares"},
    {"nosr", "stochastic-rounding", 0, 0, [](BenchVariant& v, int) { v.config.recipe.stochasticRounding = false; },
     "nvfp4: no stochastic rounding"},
    {"nohadamard", "hadamard", 0, 0, [](BenchVariant& v, int) { v.config.recipe.hadamard = false; },
     "nvfp4: no Hadamard transform"},
    {"norecord", "", 0, 0,
     [](BenchVariant& v, int) {
         v.record = false;
         v.config.train.snapshotEvery = 0;
     },
     "no ranges and no snapshots"},
};

std::string joined(const std::vector<std::string>& words, const char* separator) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
    return text;
}

/// "/history=N"
std::string suffixText(const Suffix& suffix) {
    return "/" + std::string(suffix.word) + (suffix.high == 0 ? "" : "N");
}

template <typename Enum>
Enum itemWord(const std::string& item, const std::string& word, const std::string& what) {
    try {
        return engine::parse<Enum>(word);
    } catch (const engine::Error&) {
        reject(item, "\"" + word + "\" is not " + what);
    }
}

/// The number behind the suffix's word; 0 where it takes none. Empty when `text` is another suffix.
std::optional<int> suffixNumber(const std::string& item, const std::string& text, const Suffix& suffix) {
    if (suffix.high == 0) return text == suffix.word ? std::optional(0) : std::nullopt;
    if (!text.starts_with(suffix.word)) return std::nullopt;
    int number = -1;
    const char* end = text.data() + text.size();
    const std::from_chars_result parsed = std::from_chars(text.data() + suffix.word.size(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end || number < suffix.low || number > suffix.high) {
        reject(item, "\"/" + text + "\" needs a number from " + std::to_string(suffix.low) + " to " +
                         std::to_string(suffix.high) + " after \"" + std::string(suffix.word) + "\"");
    }
    return number;
}

using Applied = std::map<std::size_t, std::string>;  // place in kSuffixes, canonical text: the label's order

void applySuffix(const std::string& item, const std::string& text, BenchVariant& variant, Applied& applied) {
    for (std::size_t i = 0; i < std::size(kSuffixes); ++i) {
        const Suffix& suffix = kSuffixes[i];
        const std::optional<int> number = suffixNumber(item, text, suffix);
        if (!number) continue;
        const bool again = std::any_of(applied.begin(), applied.end(), [&](const auto& other) {
            return other.first == i || (!suffix.option.empty() && kSuffixes[other.first].option == suffix.option);
        });
        if (again) reject(item, "\"/" + text + "\" sets what another suffix has set");
        if (!suffix.option.empty()) {
            const std::string idle = withoutEffect(variant.config, std::string(suffix.option));
            if (!idle.empty()) reject(item, "\"/" + text + "\" would change nothing: " + idle);
        }
        suffix.apply(variant, *number);
        applied[i] = suffix.high == 0 ? text : std::string(suffix.word) + std::to_string(*number);
        return;
    }
    reject(item, "\"/" + text + "\" is not a suffix");
}

/// "fp8:delayed:hybrid" in full, whatever was left out of the item; block recipes name a format only when it is not
/// their own.
std::string canonicalLabel(const BenchVariant& variant, const Applied& suffixes) {
    const engine::Fp8Recipe& recipe = variant.config.recipe;
    std::string label = engine::name(variant.config.train.precision);
    if (variant.config.train.precision == Precision::Fp8) {
        label += std::string(":") + engine::name(recipe.kind);
        const engine::RecipeFormat format = engine::effectiveFormat(recipe);
        const bool perTensor = recipe.kind == RecipeKind::Delayed || recipe.kind == RecipeKind::Current;
        if (perTensor || format != engine::effectiveFormat({recipe.kind})) {
            label += std::string(":") + engine::name(format);
        }
    }
    for (const auto& suffix : suffixes) label += "/" + suffix.second;
    return label;
}

BenchVariant parseItem(const std::string& item, const engine::RunConfig& base) {
    BenchVariant variant;
    variant.config = base;
    const std::vector<std::string> parts = split(item, '/');
    const std::vector<std::string> words = split(parts.front(), ':');
    engine::RunConfig& config = variant.config;
    config.train.precision = itemWord<Precision>(item, words[0], "a precision");
    if (words.size() > 1 && config.train.precision != Precision::Fp8) reject(item, "only fp8 takes a recipe");
    if (words.size() > 1) config.recipe.kind = itemWord<RecipeKind>(item, words[1], "a recipe");
    config = withoutIdleSettings(config);
    if (words.size() > 2) {
        const std::string idle = withoutEffect(config, "format");
        if (!idle.empty())
            reject(item, "\":" + words[2] + "\" would change nothing: nvfp4 has one element format, E2M1");
        config.recipe.format = itemWord<engine::RecipeFormat>(item, words[2], "an FP8 format");
    }
    if (words.size() > 3) reject(item, "\"" + words[3] + "\" is one part too many");
    Applied applied;
    for (std::size_t i = 1; i < parts.size(); ++i) applySuffix(item, parts[i], variant, applied);
    variant.label = canonicalLabel(variant, applied);
    return variant;
}

}  // namespace

std::string variantForms() {
    std::string suffixes;
    for (const Suffix& suffix : kSuffixes) suffixes += (suffixes.empty() ? "" : ", ") + suffixText(suffix);
    return "a comma-separated list of auto, fp32, bf16, fp8, fp8:RECIPE or fp8:RECIPE:FORMAT, RECIPE one of " +
           joined(engine::choices<RecipeKind>(), ", ") + ", FORMAT hybrid or e4m3, each followed as wanted by " +
           suffixes;
}

std::string variantHelp() {
    std::string text =
        "  auto, fp32, bf16, fp8[:RECIPE[:FORMAT]]\n"
        "      RECIPE  " +
        joined(engine::choices<RecipeKind>(), ", ") +
        "\n"
        "      FORMAT  hybrid or e4m3; not with nvfp4, whose elements are E2M1\n"
        "  each followed as wanted by\n";
    for (const Suffix& suffix : kSuffixes) {
        std::string word = suffixText(suffix);
        word.resize(14, ' ');
        text += "      " + word + suffix.help + "\n";
    }
    return text;
}

const std::vector<VariantChoice>& variantChoices() {
    static const std::vector<VariantChoice> choices = {
        {"fp32", "32-bit floats"},
        {"bf16", "16-bit floats with the range of FP32"},
        {"fp8:delayed:hybrid", "one scale per tensor from earlier steps, E4M3 forward, E5M2 backward"},
        {"fp8:delayed:e4m3", "one scale per tensor from earlier steps, E4M3 everywhere"},
        {"fp8:current:hybrid", "one scale per tensor from the tensor itself, E4M3 forward, E5M2 backward"},
        {"fp8:block", "one scale per 128 elements, 128×128 of a weight"},
        {"fp8:mxfp8", "one power-of-two scale per 32 elements"},
        {"fp8:nvfp4", "4-bit elements, one scale per 16 of them and one per tensor"},
        {"fp8:delayed:hybrid/unfused", "as fp8:delayed:hybrid, every operation in a pass of its own"},
        {"fp8:delayed:hybrid/fp8weights", "as fp8:delayed:hybrid, weights kept in FP8 only"},
    };
    return choices;
}

std::vector<BenchVariant> parseVariants(const std::string& list, const engine::RunConfig& base) {
    std::vector<BenchVariant> variants;
    for (const std::string& item : split(list, ',')) {
        BenchVariant variant = parseItem(item, base);
        // The same item twice is a fair question (how large is the noise?); the label tells the two apart.
        const std::string label = variant.label;
        for (int copy = 2; std::any_of(variants.begin(), variants.end(),
                                       [&](const BenchVariant& other) { return other.label == variant.label; });
             ++copy) {
            variant.label = label + " #" + std::to_string(copy);
        }
        variants.push_back(std::move(variant));
    }
    return variants;
}

}  // namespace jobs
