// Presets and suites: what the built-in ones say, how they build on one another, and what unsound files are told.
#include "engine/error.h"
#include "engine/suites.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <set>

namespace {

using engine::RunConfig;
using engine::Settings;

/// A scratch folder with one file, removed at the end.
class SettingsFile {
public:
    explicit SettingsFile(const std::string& text) {
        std::string folder = (std::filesystem::temp_directory_path() / "amaxscope-presets-XXXXXX").string();
        if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no scratch folder");
        m_folder = folder;
        std::ofstream(m_folder / "own.toml", std::ios::binary) << text;
    }
    ~SettingsFile() {
        std::error_code ignored;
        std::filesystem::remove_all(m_folder, ignored);
    }
    std::string path() const { return (m_folder / "own.toml").string(); }

private:
    std::filesystem::path m_folder;
};

/// What reading this text as a preset says, without the file's name: "model.layers holds …".
std::string complaint(const std::string& text) {
    const SettingsFile file(text);
    try {
        engine::presetConfig(file.path());
    } catch (const engine::Error& error) {
        EXPECT_EQ(error.kind(), engine::ErrorKind::Usage);
        EXPECT_EQ(error.subject(), "preset " + file.path());
        EXPECT_FALSE(error.fix().empty());
        return error.why();
    }
    return "nothing";
}

std::string suiteComplaint(const std::string& text) {
    const SettingsFile file(text);
    try {
        engine::suite(file.path());
    } catch (const engine::Error& error) {
        EXPECT_EQ(error.kind(), engine::ErrorKind::Usage);
        EXPECT_TRUE(error.subject().starts_with("suite " + file.path())) << error.subject();
        return error.subject().substr(("suite " + file.path()).size()) + ": " + error.why();
    }
    return "nothing";
}

TEST(Presets, everyFileOfTheFolderIsBuiltIn) {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(AMAXSCOPE_SOURCE_DIR "/resources/presets")) {
        if (entry.is_regular_file()) files.insert(entry.path().stem().string());
    }
    const std::vector<std::string> names = engine::presetNames();
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), files);
    EXPECT_EQ(names.front(), "tutorial");
    std::set<std::string> suites;
    for (const auto& entry : std::filesystem::directory_iterator(AMAXSCOPE_SOURCE_DIR "/resources/presets/suites")) {
        suites.insert(entry.path().stem().string());
    }
    const std::vector<std::string> suiteNames = engine::suiteNames();
    EXPECT_EQ(std::set<std::string>(suiteNames.begin(), suiteNames.end()), suites);
}

TEST(Presets, areSoundInEveryPrecisionTheyMayRunIn) {
    for (const std::string& preset : engine::presetNames()) {
        const std::string summary = engine::presetSummary(preset);
        EXPECT_FALSE(summary.empty()) << preset;
        EXPECT_EQ(summary.find('\n'), std::string::npos) << preset;
        RunConfig config = engine::presetConfig(preset);
        EXPECT_TRUE(engine::validate(config).empty()) << preset;
        config.train.precision = engine::Precision::Fp8;
        for (const std::string& recipe : engine::choices<engine::RecipeKind>()) {
            config.recipe = engine::Fp8Recipe{};
            config.recipe.kind = engine::parse<engine::RecipeKind>(recipe);
            EXPECT_TRUE(engine::validate(config).empty()) << preset << " " << recipe;
        }
    }
}

TEST(Presets, tutorialsDifferInNothingButWhatTheyAreNamedFor) {
    const RunConfig tutorial = engine::presetConfig("tutorial");
    RunConfig expected = tutorial;
    EXPECT_EQ(tutorial.model, (engine::ModelConfig{4, 256, 4, 128}));
    EXPECT_EQ(tutorial.train.batch, 8);

    expected.model = {12, 2048, 32, 128};
    EXPECT_EQ(engine::presetConfig("tutorial-large"), expected);

    expected = tutorial;
    expected.train.precision = engine::Precision::Fp8;
    const RunConfig fp8 = expected;
    expected.recipe.format = engine::RecipeFormat::E4M3;
    EXPECT_EQ(engine::presetConfig("tutorial-e4m3"), expected);
    expected = fp8;
    expected.recipe.amaxHistoryLen = 1024;
    EXPECT_EQ(engine::presetConfig("tutorial-history-1024"), expected);
    expected = fp8;
    expected.train.fused = false;
    EXPECT_EQ(engine::presetConfig("tutorial-unfused"), expected);
    expected = fp8;
    expected.train.weights = engine::WeightStorage::Fp8;
    EXPECT_EQ(engine::presetConfig("tutorial-fp8-weights"), expected);
}

TEST(Presets, llamaSmallHasLlamasParts) {
    const engine::ModelConfig model = engine::presetConfig("llama-small").model;
    EXPECT_EQ(model.norm, engine::Norm::RmsNorm);
    EXPECT_EQ(model.positions, engine::Positions::Rotary);
    EXPECT_EQ(model.activation, engine::Activation::SwiGlu);
    EXPECT_LT(model.keyValueHeads(), model.heads);
    EXPECT_FALSE(model.bias);
    EXPECT_TRUE(model.tiedHead);
}

// Every stored key with another value than the default's, so that a setting that cannot be set shows up.
TEST(Presets, anySettingCanStandInAFile) {
    const SettingsFile file(R"(
summary = "all of them"
preset = "small"
[model]
layers = 2
d_model = 64
heads = 8
seq_len = 32
vocab = 100
kv_heads = 2
ffn = 96
norm = "rmsnorm"
activation = "geglu"
positions = "rotary"
rope_theta = 500
norm_epsilon = 1e-6
bias = false
tied_head = true
[recipe]
recipe = "block"
format = "hybrid"
margin = 3
amax_history_len = 7
amax_algo = "most_recent"
power_of_two_scales = "off"
amax_epsilon = 1e-3
weight_tiles = false
stochastic_rounding = false
hadamard = false
[train]
precision = "fp8"
batch = 2
accumulate = 3
steps = 11
lr = 2e-3
warmup_steps = 5
weight_decay = 0.2
beta1 = 0.8
beta2 = 0.9
grad_clip = 2
seed = 9223372036854775806
threads = 3
fused = false
keep_bf16 = "lm_head"
keep_fp32 = "layer.0.*"
bf16_edge_layers = 1
weights = "fp8_keep_init"
guard = "fallback"
guard_limit = 2.5
guard_steps = 9
snapshot_every = 4
snapshot_from = 8
snapshot_to = 80
exponents_every = 16
observe = "weight,wgrad"
validate_every = 25
init = "model.safetensors"
device = "cpu"
data = "text:book.txt"
)");
    EXPECT_EQ(engine::presetSummary(file.path()), "all of them");
    const RunConfig config = engine::presetConfig(file.path());
    const RunConfig defaults;
    std::size_t keys = 0;
    const auto compare = [&keys](const std::string& read, const std::string& standard) {
        const auto before = nlohmann::json::parse(standard);
        const auto after = nlohmann::json::parse(read);
        for (const auto& [key, value] : after.items()) {
            EXPECT_NE(value, before.at(key)) << key;
            ++keys;
        }
    };
    compare(engine::toJson(config.model), engine::toJson(defaults.model));
    compare(engine::toJson(config.recipe), engine::toJson(defaults.recipe));
    compare(engine::toJson(config.train), engine::toJson(defaults.train));
    EXPECT_GT(keys, 50U);
    EXPECT_EQ(config.model.ropeTheta, 500.0) << "a whole number will do for a real one";
    EXPECT_EQ(config.train.seed, 9223372036854775806U);
    EXPECT_EQ(config.train.keepFp32, "layer.0.*");
    EXPECT_EQ(config.recipe.powerOfTwoScales, engine::Switch::Off);
}

TEST(Presets, whatAFileLeavesOutStaysAsItsBaseHasIt) {
    const SettingsFile file("preset = \"llama-small\"\n[recipe]\nrecipe = \"mxfp8\"\n");
    RunConfig expected = engine::presetConfig("llama-small");
    expected.recipe.kind = engine::RecipeKind::MxFp8;
    EXPECT_EQ(engine::presetConfig(file.path()), expected);
    EXPECT_EQ(engine::presetConfig(SettingsFile("").path()), RunConfig{});
}

TEST(Presets, unsoundFilesAreToldWithTheKey) {
    EXPECT_TRUE(complaint("[model]\nlayer = 3\n").starts_with("model.layer is no setting"));
    EXPECT_TRUE(complaint("[training]\nsteps = 3\n").starts_with("training is no key or table"));
    EXPECT_EQ(complaint("[model]\nlayers = \"four\"\n"), "model.layers holds \"four\", where a whole number belongs");
    EXPECT_EQ(complaint("[model]\nlayers = 4.0\n"), "model.layers holds 4.0, where a whole number belongs");
    EXPECT_EQ(complaint("[model]\nbias = 1\n"), "model.bias holds 1, where true or false belongs");
    EXPECT_EQ(complaint("[train]\nlr = \"fast\"\n"), "train.lr holds \"fast\", where a number belongs");
    EXPECT_EQ(complaint("[train]\ndata = 7\n"), "train.data holds 7, where text in quotes belongs");
    EXPECT_EQ(complaint("[model]\nnorm = \"batch\"\n"), "model.norm = \"batch\" is not one of the choices");
    // 2^32 + 1 would be 1 in 32 bits, −1 would be 2^64 − 1 without a sign.
    EXPECT_EQ(complaint("[model]\nlayers = 4294967297\n"), "model.layers = 4294967297 is out of range");
    EXPECT_EQ(complaint("[train]\nseed = -1\n"), "train.seed = -1 is out of range");
    EXPECT_EQ(complaint("[train]\nseed = 9223372036854775808\n"), "line 2 holds a number beyond 64 bits");
    EXPECT_EQ(complaint("[train]\nlr = nan\n"), "line 2 holds a number that is not finite");
    EXPECT_EQ(complaint("[train]\nlr = 2026-12-01\n"), "line 2 holds a date");
    EXPECT_EQ(complaint("model = 3\n"), "model holds a whole number, not a table");
    EXPECT_EQ(complaint("summary = 3\n"), "summary holds a whole number, where text in quotes belongs");
    EXPECT_EQ(complaint("preset = \"huge\"\n"), "preset = \"huge\" names no built-in preset");
    EXPECT_TRUE(complaint("[model\nlayers = 3\n").starts_with("line 1 is no TOML"));
    EXPECT_TRUE(complaint("[model]\nlayers = 3\nlayers = 4\n").starts_with("line 3 is no TOML"));
    EXPECT_TRUE(complaint(std::string(1000, '\xFF')).starts_with("line 1 is no TOML"));
}

TEST(Presets, hostileFilesAreRefusedBeforeTheyAreParsed) {
    const std::string deep = "it is nested deeper than settings can be";
    EXPECT_EQ(complaint("x = " + std::string(60000, '[')), deep);
    std::string dotted = "a";
    for (int i = 0; i < 30000; ++i) dotted += ".a";
    EXPECT_EQ(complaint(dotted + " = 1\n"), deep);
    EXPECT_EQ(complaint("[" + dotted + "]\n"), deep);
    EXPECT_TRUE(complaint(std::string(70000, '#')).starts_with("it is 70000 bytes long"));
}

TEST(Presets, missingFilesAndFoldersAreTold) {
    EXPECT_THROW(engine::presetConfig("/nowhere/own.toml"), engine::Error);
    const SettingsFile file("");
    std::filesystem::remove(file.path());
    std::filesystem::create_directory(file.path());
    try {
        engine::presetConfig(file.path());
        FAIL();
    } catch (const engine::Error& error) {
        EXPECT_EQ(error.why(), "it is a folder");
    }
    try {
        engine::presetConfig("huge");
        FAIL();
    } catch (const engine::Error& error) {
        EXPECT_EQ(error.subject(), "--preset huge");
        EXPECT_TRUE(error.fix().starts_with("use one of tutorial, small, base, large")) << error.fix();
    }
}

TEST(Suites, tutorialExtensionsAreThePresetsOfTheirNames) {
    const engine::Suite suite = engine::suite("tutorial-extensions");
    EXPECT_EQ(suite.preset, "tutorial");
    EXPECT_FALSE(suite.summary.empty());
    const RunConfig base = engine::presetConfig("tutorial");
    std::vector<std::string> labels;
    for (const engine::SuiteVariant& variant : suite.variants) {
        labels.push_back(variant.label);
        EXPECT_FALSE(variant.summary.empty()) << variant.label;
        const RunConfig config = variant.applyTo(base);
        EXPECT_TRUE(engine::validate(config).empty()) << variant.label;
        EXPECT_EQ(config.train.precision,
                  variant.label.ends_with("bf16") ? engine::Precision::Bf16 : engine::Precision::Fp8);
        if (variant.label.starts_with("large")) {
            EXPECT_EQ(config.model, engine::presetConfig("tutorial-large").model);
        }
    }
    EXPECT_EQ(labels, (std::vector<std::string>{"bf16", "hybrid", "e4m3", "history-1024", "unfused", "fp8-weights",
                                                "large-bf16", "large-hybrid"}));
    for (const std::size_t i : {2U, 3U, 4U, 5U}) {
        EXPECT_EQ(suite.variants[i].applyTo(base), engine::presetConfig("tutorial-" + labels[i])) << labels[i];
    }
}

TEST(Suites, variantsKeepWhatTheBaseHasAndTheyDoNotSet) {
    RunConfig base = engine::presetConfig("tutorial");
    base.train.data = "text:book.txt";
    base.model.seqLen = 64;
    for (const engine::SuiteVariant& variant : engine::suite("tutorial-extensions").variants) {
        EXPECT_EQ(variant.applyTo(base).train.data, "text:book.txt") << variant.label;
        EXPECT_EQ(variant.applyTo(base).model.seqLen, 64) << variant.label;
    }
}

TEST(Suites, unsoundFilesAreToldWithTheVariant) {
    EXPECT_EQ(suiteComplaint("[[variant]]\nlabel = \"a\"\n"), "nothing");
    EXPECT_EQ(suiteComplaint("[[variant]]\nlabel = \"a\"\n[[variant]]\nlabel = \"a\"\n"),
              ", variant \"a\": its label stands there twice");
    EXPECT_EQ(suiteComplaint("[[variant]]\nsummary = \"a\"\n"), ", variant \"\": its label is missing");
    EXPECT_EQ(suiteComplaint(""), ": it has no list of 1 to 64 variants");
    EXPECT_EQ(suiteComplaint("variant = [1]\n"), ": a variant is no table");
    EXPECT_TRUE(suiteComplaint("[[variant]]\nlabel = \"a\"\n[variant.model]\nlayer = 1\n")
                    .starts_with(", variant \"a\": model.layer is no setting"));
    EXPECT_EQ(suiteComplaint("preset = \"huge\"\n"), ": preset = \"huge\" names no built-in preset");
    EXPECT_EQ(suiteComplaint("[[variant]]\nlabel = \"a\"\npreset = \"small\"\n"),
              ", variant \"a\": preset = \"small\" is not built on tutorial");
    try {
        engine::suite("all");
        FAIL();
    } catch (const engine::Error& error) {
        EXPECT_EQ(error.subject(), "--suite all");
    }
}

TEST(Settings, areAppliedOverWhatIsThere) {
    RunConfig base;
    base.train.lr = 0.5;
    Settings settings;
    settings.source = "a form";
    settings.train = R"({"steps": 7})";
    RunConfig expected = base;
    expected.train.steps = 7;
    EXPECT_EQ(engine::withSettings(base, settings), expected);
    settings.recipe = R"({"scale": 7})";
    try {
        engine::withSettings(base, settings);
        FAIL();
    } catch (const engine::Error& error) {
        EXPECT_EQ(error.subject(), "a form");
    }
}

}  // namespace
