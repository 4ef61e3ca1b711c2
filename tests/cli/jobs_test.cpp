// What a benchmark compares: items and their labels, suites and how they are scaled, and options without effect.
#include "engine/error.h"
#include "jobs/job.h"
#include "jobs/option_effect.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace {

using engine::Precision;
using engine::RecipeKind;
using engine::RunConfig;
using jobs::BenchVariant;

BenchVariant one(const std::string& item, const RunConfig& base = {}) {
    return jobs::parseVariants(item, base).at(0);
}

std::vector<std::string> labels(const std::string& list, const RunConfig& base = {}) {
    std::vector<std::string> found;
    for (const BenchVariant& variant : jobs::parseVariants(list, base)) found.push_back(variant.label);
    return found;
}

std::string complaint(const std::string& list, const RunConfig& base = {}) {
    try {
        jobs::parseVariants(list, base);
    } catch (const engine::Error& error) {
        EXPECT_EQ(error.kind(), engine::ErrorKind::Usage);
        EXPECT_NE(error.fix().find("fp8:RECIPE:FORMAT"), std::string::npos) << error.fix();
        return error.subject() + ": " + error.why();
    }
    return "nothing";
}

/// A suite file in a scratch folder, removed at the end.
class SuiteFile {
public:
    explicit SuiteFile(const std::string& text) {
        std::string folder = (std::filesystem::temp_directory_path() / "amaxscope-suite-XXXXXX").string();
        if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no scratch folder");
        m_folder = folder;
        std::ofstream(m_folder / "own.toml") << text;
    }
    ~SuiteFile() {
        std::error_code ignored;
        std::filesystem::remove_all(m_folder, ignored);
    }
    std::string path() const { return (m_folder / "own.toml").string(); }

private:
    std::filesystem::path m_folder;
};

TEST(Variants, labelsAreTheItemsInFull) {
    EXPECT_EQ(labels("auto,fp32,bf16,fp8"), (std::vector<std::string>{"auto", "fp32", "bf16", "fp8:delayed:hybrid"}));
    EXPECT_EQ(
        labels("fp8:delayed,fp8:delayed:e4m3,fp8:current,fp8:current:e4m3"),
        (std::vector<std::string>{"fp8:delayed:hybrid", "fp8:delayed:e4m3", "fp8:current:hybrid", "fp8:current:e4m3"}));
    EXPECT_EQ(
        labels("fp8:block,fp8:block:hybrid,fp8:mxfp8,fp8:mxfp8:hybrid,fp8:nvfp4"),
        (std::vector<std::string>{"fp8:block", "fp8:block:hybrid", "fp8:mxfp8", "fp8:mxfp8:hybrid", "fp8:nvfp4"}));
    EXPECT_EQ(labels("fp8:block:e4m3,fp8:block"), (std::vector<std::string>{"fp8:block", "fp8:block #2"}))
        << "one thing under one name";
    EXPECT_EQ(labels("fp8/norecord/unfused/edges1,fp8/edges01/unfused/norecord"),
              (std::vector<std::string>{"fp8:delayed:hybrid/unfused/edges1/norecord",
                                        "fp8:delayed:hybrid/unfused/edges1/norecord #2"}))
        << "whatever the order of the suffixes";
}

TEST(Variants, labelsReadBackAsTheSameVariant) {
    const std::string list =
        "auto,fp32/unfused,bf16/norecord,fp8,fp8:delayed:e4m3/margin=2/history=1024/most_recent,"
        "fp8:current/pow2/fp8weights,fp8:current:e4m3/edges2,fp8:block/nopow2/notiles,fp8:block:hybrid,"
        "fp8:mxfp8/keepinit,fp8:nvfp4/nosr/nohadamard/notiles/unfused";
    for (BenchVariant variant : jobs::parseVariants(list, {})) {
        BenchVariant again = one(variant.label);
        EXPECT_EQ(again.label, variant.label);
        for (RunConfig* config : {&again.config, &variant.config}) {
            config->recipe.format = engine::effectiveFormat(config->recipe);
        }
        EXPECT_EQ(again.config, variant.config) << variant.label;
        EXPECT_EQ(again.record, variant.record) << variant.label;
    }
}

TEST(Variants, partsReachTheConfiguration) {
    const RunConfig delayed = one("fp8:delayed:e4m3/margin=2/history=1024/most_recent/unfused/edges3").config;
    EXPECT_EQ(delayed.train.precision, Precision::Fp8);
    EXPECT_EQ(delayed.recipe.format, engine::RecipeFormat::E4M3);
    EXPECT_EQ(delayed.recipe.margin, 2);
    EXPECT_EQ(delayed.recipe.amaxHistoryLen, 1024);
    EXPECT_EQ(delayed.recipe.amaxAlgo, engine::AmaxAlgo::MostRecent);
    EXPECT_FALSE(delayed.train.fused);
    EXPECT_EQ(delayed.train.bf16EdgeLayers, 3);
    EXPECT_EQ(one("fp8/fp8weights").config.train.weights, engine::WeightStorage::Fp8);
    EXPECT_EQ(one("fp8/keepinit").config.train.weights, engine::WeightStorage::Fp8KeepInit);
    EXPECT_EQ(one("fp8:current/pow2").config.recipe.powerOfTwoScales, engine::Switch::On);
    EXPECT_EQ(one("fp8:block/nopow2").config.recipe.powerOfTwoScales, engine::Switch::Off);
    const engine::Fp8Recipe nvfp4 = one("fp8:nvfp4/nosr/nohadamard/notiles").config.recipe;
    EXPECT_EQ(nvfp4.kind, RecipeKind::NvFp4);
    EXPECT_FALSE(nvfp4.stochasticRounding || nvfp4.hadamard || nvfp4.weightTiles);
    EXPECT_FALSE(one("bf16/norecord").record);
    EXPECT_EQ(one("bf16/norecord").config.train.snapshotEvery, 0);
}

TEST(Variants, takeFromTheBaseOnlyWhatTheyHaveAUseFor) {
    RunConfig base;
    base.recipe.kind = RecipeKind::Delayed;
    base.recipe.format = engine::RecipeFormat::E4M3;
    base.recipe.margin = 3;
    base.train.weights = engine::WeightStorage::Fp8;
    base.train.lr = 0.5;
    const std::vector<BenchVariant> variants = jobs::parseVariants("bf16,fp8,fp8:nvfp4,fp8:current", base);
    for (const BenchVariant& variant : variants) EXPECT_EQ(variant.config.train.lr, 0.5);
    EXPECT_EQ(variants[0].config.train.weights, engine::WeightStorage::Fp32);
    EXPECT_EQ(variants[0].config.recipe, engine::Fp8Recipe{});
    EXPECT_EQ(variants[1].config.recipe, base.recipe);
    EXPECT_EQ(variants[1].label, "fp8:delayed:e4m3");
    EXPECT_EQ(variants[2].config.recipe.format, engine::RecipeFormat::Auto);
    EXPECT_EQ(variants[2].config.recipe.margin, 0);
    EXPECT_EQ(variants[2].config.train.weights, engine::WeightStorage::Fp8);
    EXPECT_EQ(variants[3].label, "fp8:current:e4m3");
    EXPECT_EQ(variants[3].config.recipe.margin, 0);
    for (const BenchVariant& variant : variants) EXPECT_TRUE(engine::validate(variant.config).empty()) << variant.label;
}

TEST(Variants, badItemsAreNamedWithTheReason) {
    EXPECT_EQ(complaint("fp32,fp16"), "--precisions item \"fp16\": \"fp16\" is not a precision");
    EXPECT_EQ(complaint(""), "--precisions item \"\": \"\" is not a precision");
    EXPECT_EQ(complaint("bf16:delayed"), "--precisions item \"bf16:delayed\": only fp8 takes a recipe");
    EXPECT_EQ(complaint("fp8:row"), "--precisions item \"fp8:row\": \"row\" is not a recipe");
    EXPECT_EQ(complaint("fp8:delayed:e5m2"), "--precisions item \"fp8:delayed:e5m2\": \"e5m2\" is not an FP8 format");
    EXPECT_EQ(
        complaint("fp8:nvfp4:e4m3"),
        "--precisions item \"fp8:nvfp4:e4m3\": \":e4m3\" would change nothing: nvfp4 has one element format, E2M1");
    EXPECT_EQ(complaint("fp8:delayed:e4m3:1"), "--precisions item \"fp8:delayed:e4m3:1\": \"1\" is one part too many");
    EXPECT_EQ(complaint("fp32/fast"), "--precisions item \"fp32/fast\": \"/fast\" is not a suffix");
    EXPECT_EQ(complaint("fp8/"), "--precisions item \"fp8/\": \"/\" is not a suffix");
    for (const char* text : {"history=0", "history=", "history=65537", "history=4x", "history=-1"}) {
        EXPECT_EQ(complaint(std::string("fp8/") + text), "--precisions item \"fp8/" + std::string(text) + "\": \"/" +
                                                             text +
                                                             "\" needs a number from 1 to 65536 after \"history=\"");
    }
    EXPECT_NE(complaint("fp8/edges").find("needs a number from 1 to 128 after \"edges\""), std::string::npos);
    EXPECT_NE(complaint("fp8/unfused/unfused").find("sets what another suffix has set"), std::string::npos);
    EXPECT_NE(complaint("fp8/fp8weights/keepinit").find("sets what another suffix has set"), std::string::npos);
    EXPECT_NE(complaint("fp8:current/pow2/nopow2").find("sets what another suffix has set"), std::string::npos);
    EXPECT_NE(complaint("bf16/edges1").find("would change nothing: this run computes in bf16"), std::string::npos);
    EXPECT_NE(complaint("fp8:mxfp8/history=4").find("it belongs to the recipe delayed, and this run's is mxfp8"),
              std::string::npos);
}

TEST(Variants, everyOfferedChoiceIsAnItemInFull) {
    std::string list;
    for (const jobs::VariantChoice& choice : jobs::variantChoices()) {
        EXPECT_EQ(one(choice.item).label, choice.item);
        EXPECT_FALSE(choice.summary.empty());
        list += (list.empty() ? "" : ",") + choice.item;
    }
    for (const std::string& label : labels(list)) EXPECT_EQ(label.find('#'), std::string::npos) << label;
}

TEST(Variants, helpTellsEverySuffixOnALineOfItsOwn) {
    const std::string help = jobs::variantHelp();
    for (const char* suffix : {"/unfused", "/fp8weights", "/keepinit", "/edgesN", "/history=N", "/most_recent",
                               "/margin=N", "/pow2", "/nopow2", "/notiles", "/nosr", "/nohadamard", "/norecord"}) {
        EXPECT_NE(help.find(std::string("\n      ") + suffix + " "), std::string::npos) << suffix;
        EXPECT_NE(jobs::variantForms().find(suffix), std::string::npos) << suffix;
    }
}

TEST(OptionEffect, followsRecipeAndPrecision) {
    RunConfig config;
    config.train.precision = Precision::Fp8;
    EXPECT_EQ(jobs::withoutEffect(config, "margin"), "");
    EXPECT_EQ(jobs::withoutEffect(config, "format"), "");
    EXPECT_EQ(jobs::withoutEffect(config, "hadamard"), "it belongs to the recipe nvfp4, and this run's is delayed");
    EXPECT_EQ(jobs::withoutEffect(config, "weight-tiles"),
              "it belongs to the recipes block and nvfp4, and this run's is delayed");
    config.recipe.kind = RecipeKind::NvFp4;
    EXPECT_EQ(jobs::withoutEffect(config, "format"),
              "it belongs to the recipes delayed, current, block and mxfp8, and this run's is nvfp4");
    EXPECT_EQ(jobs::withoutEffect(config, "stochastic-rounding"), "");
    config.train.precision = Precision::Auto;
    EXPECT_EQ(jobs::withoutEffect(config, "hadamard"), "") << "auto may become fp8";
    config.train.precision = Precision::Bf16;
    for (const char* option :
         {"recipe", "hadamard", "margin", "weights", "keep-bf16", "bf16-edge-layers", "guard-limit"}) {
        EXPECT_EQ(jobs::withoutEffect(config, option), "this run computes in bf16") << option;
    }
    EXPECT_EQ(jobs::withoutEffect(config, "keep-fp32"), "");
    EXPECT_EQ(jobs::withoutEffect(config, "layers"), "");
}

TEST(OptionEffect, followsModelGuardAndObservation) {
    RunConfig config;
    config.train.precision = Precision::Fp8;
    EXPECT_NE(jobs::withoutEffect(config, "rope-theta"), "");
    config.model.positions = engine::Positions::Rotary;
    EXPECT_EQ(jobs::withoutEffect(config, "rope-theta"), "");
    EXPECT_EQ(jobs::withoutEffect(config, "guard-steps"), "it belongs to the guard fallback, and this run's is warn");
    config.train.guard = engine::Guard::Fallback;
    EXPECT_EQ(jobs::withoutEffect(config, "guard-steps"), "");
    config.train.guard = engine::Guard::Off;
    EXPECT_EQ(jobs::withoutEffect(config, "guard-limit"), "the guard is off");
    EXPECT_EQ(jobs::withoutEffect(config, "observe"), "");
    config.train.snapshotEvery = 0;
    for (const char* option : {"observe", "exponents-every", "snapshot-from", "snapshot-to"}) {
        EXPECT_EQ(jobs::withoutEffect(config, option), "no snapshots are taken") << option;
    }
}

/// One layer of width 32, 128 tokens a step: small enough to work sizes out by hand.
RunConfig tinyBase() {
    RunConfig base = jobs::suiteBase("tutorial-extensions");
    base.model = {1, 32, 2, 32, 256};
    base.train.batch = 4;
    base.train.device = "cpu";
    return base;
}

TEST(Suites, areScaledDownAsWorkedOutByHand) {
    const jobs::BenchSuite suite = jobs::makeSuite("tutorial-extensions", tinyBase(), false);
    ASSERT_EQ(suite.variants.size(), 8U);
    EXPECT_EQ(suite.preset, "tutorial");
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(suite.variants[i].scaledDown, "") << suite.variants[i].label;
        EXPECT_EQ(suite.variants[i].config.model, tinyBase().model);
    }
    // Work per token: 6 per weight of a matrix product and 3·2·33·width per layer in attention. The base has
    // 6·(12·32² + 256·32) + 6336 = 129216, the limit is 8 times that, 1033728. Width and depth are halved by turns, the
    // one that stands further above the base first: 2048 → 256 (8 times), 12 → 6, 256 → 128, 6 → 3 leaves
    // 6·(3·12·128² + 256·128) + 3·25344 = 3811584, and 64 is 6·(3·12·64² + 256·64) + 3·12672 = 1021056: within it.
    for (std::size_t i = 6; i < 8; ++i) {
        EXPECT_EQ(suite.variants[i].scaledDown, "d-model 2048 → 64, heads 32 → 1, layers 12 → 3");
        EXPECT_EQ(suite.variants[i].config.model, (engine::ModelConfig{3, 64, 1, 32, 256}));
    }
    EXPECT_EQ(suite.variants[6].label, "large-bf16");
    EXPECT_EQ(suite.variants[7].config.train.precision, Precision::Fp8);
}

TEST(Suites, tutorialIsScaledDownToWhatACpuTakes) {
    RunConfig base = jobs::suiteBase("tutorial-extensions");
    base.train.device = "cpu";
    base.model.vocab = 256;
    const jobs::BenchSuite suite = jobs::makeSuite("tutorial-extensions", base, false);
    // 129·6 per layer and unit of width in attention: 2048 → 512 and 12 → 6 leave 116.6 million per token, and 8 times
    // the base's 20.06 million are 160.5; 1024 wide with 6 layers would be 459.
    EXPECT_EQ(suite.variants.back().scaledDown, "d-model 2048 → 512, heads 32 → 8, layers 12 → 6");
}

TEST(Suites, fullSizeIsLeftAloneWhereItFits) {
    const SuiteFile file(R"(
summary = "deep"
[[variant]]
label = "as it is"
[[variant]]
label = "deep"
model.layers = 200
)");
    const jobs::BenchSuite scaled = jobs::makeSuite(file.path(), tinyBase(), false);
    EXPECT_EQ(scaled.variants[1].scaledDown, "layers 200 → 7");
    const jobs::BenchSuite full = jobs::makeSuite(file.path(), tinyBase(), true);
    EXPECT_EQ(full.variants[1].scaledDown, "");
    EXPECT_EQ(full.variants[1].config.model.layers, 200);
}

TEST(Suites, fullSizeThatNoMachineHasMemoryForIsRefused) {
    const SuiteFile file(
        "[[variant]]\nlabel = \"vast\"\n[variant.model]\nd_model = 16384\nlayers = 256\nheads = 128\n");
    try {
        jobs::makeSuite(file.path(), tinyBase(), true);
        FAIL();
    } catch (const engine::Error& error) {
        EXPECT_EQ(error.kind(), engine::ErrorKind::Usage);
        EXPECT_EQ(error.subject(), "--full-size");
        EXPECT_NE(error.why().find(" are available"), std::string::npos) << error.why();
    }
    EXPECT_NE(jobs::makeSuite(file.path(), tinyBase(), false).variants[0].scaledDown, "");
}

TEST(Suites, variantsThatCannotRunAreRefusedByNameAndField) {
    const SuiteFile file("[[variant]]\nlabel = \"odd\"\n[variant.model]\nheads = 3\n");
    try {
        jobs::makeSuite(file.path(), tinyBase(), false);
        FAIL();
    } catch (const engine::Error& error) {
        EXPECT_EQ(error.subject(), "suite " + file.path() + ", variant \"odd\", --heads");
    }
}

}  // namespace
