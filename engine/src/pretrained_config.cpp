// Reading config.json: known keys are taken and checked, all others passed over.
#include "src/pretrained_config.h"

#include "src/input_file.h"
#include "src/json_walker.h"

#include <cmath>
#include <filesystem>
#include <variant>

namespace engine {

namespace {

constexpr std::int64_t kLongestConfig = std::int64_t{1} << 20;
constexpr std::int64_t kLargestCount = std::int64_t{1} << 24;

class ConfigVisitor : public JsonVisitor {
public:
    explicit ConfigVisitor(const InputFile& file) : m_file(file) {}

    PretrainedConfig config;

    void open(const JsonPlace& place, bool /*array*/) override {
        // {"type": "linear", "factor": 2}; newer files write {"rope_type": "default"} for none.
        if (place.keys.size() == 1 && place.keys[0] == "rope_scaling") config.ropeScaled = true;
    }
    void close(const JsonPlace& /*place*/) override {}

    void value(const JsonPlace& place, const JsonValue& value) override {
        if (std::holds_alternative<std::monostate>(value) || place.arrays > 0) return;
        const std::string& key = place.keys.back();
        if (place.keys.size() == 1) {
            top(key, value);
        } else if (place.keys.size() == 2 && (place.keys[0] == "rope_parameters" || place.keys[0] == "rope_scaling")) {
            rope(key, value);
        }
    }

private:
    void top(const std::string& key, const JsonValue& value) {
        if (key == "model_type") config.modelType = text(key, value);
        if (key == "activation_function" || key == "hidden_act") config.activation = text(key, value);
        if (key == "n_layer" || key == "num_hidden_layers") config.layers = count(key, value);
        if (key == "n_head" || key == "num_attention_heads") config.heads = count(key, value);
        if (key == "num_key_value_heads") config.kvHeads = count(key, value);
        if (key == "head_dim") config.headDim = count(key, value);
        if (key == "n_positions" || key == "max_position_embeddings") config.seqLen = count(key, value);
        if (key == "rope_theta") config.ropeTheta = positive(key, value);
        if (key == "layer_norm_epsilon" || key == "rms_norm_eps") config.normEpsilon = positive(key, value);
        if (key == "tie_word_embeddings") {
            const auto* tied = std::get_if<bool>(&value);
            if (tied == nullptr) fail(key, "true or false");
            config.tiedHead = *tied;
        }
    }

    void rope(const std::string& key, const JsonValue& value) {
        if (key == "rope_theta") config.ropeTheta = positive(key, value);
        if (key == "rope_type" || key == "type") config.ropeScaled = text(key, value) != "default";
    }

    std::string text(const std::string& key, const JsonValue& value) const {
        const auto* found = std::get_if<std::string>(&value);
        if (found == nullptr) fail(key, "a text");
        return printable(*found);
    }

    std::int64_t count(const std::string& key, const JsonValue& value) const {
        const auto* found = std::get_if<std::uint64_t>(&value);
        if (found == nullptr || *found == 0 || *found > static_cast<std::uint64_t>(kLargestCount)) {
            fail(key, "a whole number from 1 to " + std::to_string(kLargestCount));
        }
        return static_cast<std::int64_t>(*found);
    }

    double positive(const std::string& key, const JsonValue& value) const {
        double number = 0;
        if (const auto* whole = std::get_if<std::uint64_t>(&value)) number = static_cast<double>(*whole);
        if (const auto* real = std::get_if<double>(&value)) number = *real;
        if (!(number > 0) || !std::isfinite(number)) fail(key, "a number above 0");
        return number;
    }

    [[noreturn]] void fail(const std::string& key, const std::string& expected) const {
        throw m_file.failure("its \"" + key + "\" is not " + expected, "correct it, or take the file away");
    }

    const InputFile& m_file;
};

}  // namespace

PretrainedConfig readPretrainedConfig(const std::string& weights) {
    const std::filesystem::path path = std::filesystem::path(weights).replace_filename("config.json");
    std::error_code ignored;
    if (std::filesystem::symlink_status(path, ignored).type() == std::filesystem::file_type::not_found) return {};
    const InputFile file(path.string());
    const std::string text = file.readText(kLongestConfig);
    ConfigVisitor visitor(file);
    try {
        constexpr int kDepth = 32;
        walkJson(text, kDepth, visitor);
    } catch (const JsonProblem& problem) {
        throw file.failure(std::string("it ") + problem.what(), "correct it, or take the file away");
    }
    visitor.config.path = path.string();
    return visitor.config;
}

}  // namespace engine
