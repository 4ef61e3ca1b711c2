// Reads the list of things a benchmark compares: "fp32,bf16,fp8:delayed:hybrid,fp8:delayed:hybrid/norecord".
#include "engine/error.h"
#include "jobs/job.h"

#include <algorithm>

namespace jobs {
namespace {

constexpr const char* kForms =
    "use a comma-separated list of auto, fp32, bf16, fp8, fp8:delayed, fp8:delayed:hybrid, fp8:delayed:e4m3, each "
    "optionally followed by /norecord or /unfused";

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
    throw engine::Error(engine::ErrorKind::Usage, "--precisions item \"" + item + "\"", why, kForms);
}

engine::Precision itemPrecision(const std::string& item, const std::string& word) {
    try {
        return engine::parse<engine::Precision>(word);
    } catch (const engine::Error&) {
        reject(item, "\"" + word + "\" is not a precision");
    }
}

engine::RecipeFormat itemFormat(const std::string& item, const std::string& word) {
    try {
        return engine::parse<engine::RecipeFormat>(word);
    } catch (const engine::Error&) {
        reject(item, "\"" + word + "\" is not an FP8 format");
    }
}

void applySuffix(const std::string& item, const std::string& suffix, BenchVariant& variant) {
    if (suffix == "norecord") {
        variant.record = false;
        variant.config.train.snapshotEvery = 0;
    } else if (suffix == "unfused") {
        variant.config.train.fused = false;
    } else {
        reject(item, "\"/" + suffix + "\" is not a suffix");
    }
}

/// "fp8:delayed:hybrid" in full, whatever was left out of the item.
std::string canonicalLabel(const BenchVariant& variant, const std::vector<std::string>& suffixes) {
    const engine::Precision precision = variant.config.train.precision;
    std::string label = engine::name(precision);
    if (precision == engine::Precision::Fp8) {
        label += std::string(":delayed:") + engine::name(variant.config.recipe.format);
    }
    for (std::size_t i = 1; i < suffixes.size(); ++i) label += "/" + suffixes[i];
    return label;
}

BenchVariant parseItem(const std::string& item, const engine::RunConfig& base) {
    BenchVariant variant{base, item, true};
    const std::vector<std::string> suffixes = split(item, '/');
    const std::vector<std::string> words = split(suffixes.front(), ':');
    variant.config.train.precision = itemPrecision(item, words[0]);
    if (words.size() > 1 && variant.config.train.precision != engine::Precision::Fp8) {
        reject(item, "only fp8 takes a recipe");
    }
    if (words.size() > 1 && words[1] != "delayed") {
        reject(item, "this version has one recipe, delayed, not \"" + words[1] + "\"");
    }
    if (words.size() > 2) variant.config.recipe.format = itemFormat(item, words[2]);
    if (words.size() > 3) reject(item, "\"" + words[3] + "\" is one part too many");
    for (std::size_t i = 1; i < suffixes.size(); ++i) applySuffix(item, suffixes[i], variant);
    variant.label = canonicalLabel(variant, suffixes);
    return variant;
}

}  // namespace

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
