// The runs list and its search text: rows in, roles out.
#include "models/runs_model.h"
#include "engine/config.h"
#include "models/run_details.h"
#include "models/run_filter.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include <cmath>

namespace {

using gui::RunFilter;
using gui::RunsModel;
using profiling::RunId;
using profiling::RunRow;
using profiling::RunStatus;

RunRow makeRun(std::int64_t id, const char* name, double tokensPerSecond, RunStatus status = RunStatus::Finished) {
    RunRow run;
    run.id = RunId{id};
    run.name = name;
    run.status = status;
    run.description.precision = "fp8";
    run.description.precisionAsked = "auto";
    run.description.data = "text:/books/emma.txt";
    run.description.stepsPlanned = 1200;
    run.lastStep = 811;
    run.stepsDone = 812;
    run.lastLoss = 1.5;
    run.tokensPerSecond = tokensPerSecond;
    return run;
}

int colorByNumber(RunId run) {
    return static_cast<int>(run.value) - 1;
}

TEST(RunsModel, showsThroughputAndDifferenceFromTheBaseline) {
    RunsModel model(colorByNumber);
    const QAbstractItemModelTester tester(&model);
    model.setRuns({makeRun(2, "fp8", 40000), makeRun(1, "fp32", 20000)});
    model.setBaseline(RunId{1});
    EXPECT_EQ(model.index(0).data().toString(), "fp8");
    EXPECT_EQ(model.index(0).data(RunsModel::ThroughputRole).toString(), "40.0 k tok/s");
    EXPECT_EQ(model.index(0).data(RunsModel::DifferenceRole).toString(), "+100 %");
    EXPECT_EQ(model.index(1).data(RunsModel::DifferenceRole).toString(), "");
    EXPECT_TRUE(model.index(1).data(RunsModel::BaselineRole).toBool());
}

TEST(RunsModel, aRunningRunShowsItsStepAndProgress) {
    RunsModel model(colorByNumber);
    model.setRuns({makeRun(1, "live", 100, RunStatus::Running)});
    EXPECT_EQ(model.index(0).data(RunsModel::StatusTextRole).toString(), "step 812 / 1200");
    EXPECT_NEAR(model.index(0).data(RunsModel::ProgressRole).toDouble(), 812.0 / 1200.0, 1e-12);
    model.setRuns({makeRun(1, "live", 100, RunStatus::Crashed)});
    EXPECT_EQ(model.index(0).data(RunsModel::StatusTextRole).toString(), "crashed after step 812");
    EXPECT_LT(model.index(0).data(RunsModel::ProgressRole).toDouble(), 0);
}

TEST(RunsModel, newRunsAreInsertedWithoutResettingTheList) {
    RunsModel model(colorByNumber);
    const QAbstractItemModelTester tester(&model);
    model.setRuns({makeRun(1, "first", 1)});
    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
    QSignalSpy removed(&model, &QAbstractItemModel::rowsRemoved);
    model.setRuns({makeRun(3, "third", 1), makeRun(2, "second", 1), makeRun(1, "first", 1)});
    EXPECT_EQ(inserted.size(), 2);
    model.setRuns({makeRun(3, "third", 1), makeRun(1, "first", 1)});
    EXPECT_EQ(removed.size(), 1);
    EXPECT_EQ(reset.size(), 0);
    EXPECT_EQ(model.rowCount(), 2);
}

TEST(RunsModel, anUnchangedAnswerSignalsNothing) {
    RunsModel model(colorByNumber);
    RunRow run = makeRun(1, "quiet", 1);
    run.lastLoss = std::nan("");
    model.setRuns({run});
    QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
    QSignalSpy checked(&model, &RunsModel::checkedRunsChanged);
    model.setRuns({run});
    EXPECT_EQ(changed.size(), 0);
    EXPECT_EQ(checked.size(), 0);
}

TEST(RunsModel, onlyTheNewestRunsOfAFileStartChecked) {
    RunsModel model(colorByNumber);
    std::vector<RunRow> runs;
    for (std::int64_t id = 30; id > 0; --id) runs.push_back(makeRun(id, "run", 1));
    model.setRuns(runs);
    ASSERT_EQ(model.checkedRuns().size(), static_cast<std::size_t>(RunsModel::kCheckedAtOpen));
    EXPECT_EQ(model.checkedRuns().front(), RunId{30});
    runs.insert(runs.begin(), makeRun(31, "new", 1));
    model.setRuns(runs);
    EXPECT_EQ(model.checkedRuns().front(), RunId{31});
}

TEST(RunsModel, editingANameAsksForItAndKeepsTheOldOneUntilTheDatabaseAnswers) {
    RunsModel model(colorByNumber);
    model.setRuns({makeRun(7, "old", 1)});
    QSignalSpy asked(&model, &RunsModel::renameRequested);
    EXPECT_TRUE(model.setData(model.index(0), " new ", Qt::EditRole));
    ASSERT_EQ(asked.size(), 1);
    EXPECT_EQ(asked[0][1].toString(), "new");
    EXPECT_EQ(model.index(0).data().toString(), "old");
    EXPECT_FALSE(model.setData(model.index(0), "  ", Qt::EditRole));
}

TEST(RunsFilterModel, keepsRowsThatPass) {
    RunsModel model(colorByNumber);
    gui::RunsFilterModel filter;
    filter.setSourceModel(&model);
    model.setRuns({makeRun(2, "quick brown", 1), makeRun(1, "slow", 1)});
    filter.setFilter("quick");
    ASSERT_EQ(filter.rowCount(), 1);
    EXPECT_EQ(filter.index(0, 0).data().toString(), "quick brown");
}

struct FilterCase {
    const char* text;
    bool passes;
};
class FilterTexts : public testing::TestWithParam<FilterCase> {};

TEST_P(FilterTexts, matchAsWritten) {
    const RunFilter filter = RunFilter::parse(GetParam().text);
    EXPECT_EQ(filter.matches(makeRun(5, "Fox", 42600)), GetParam().passes);
    EXPECT_EQ(filter.problem(), "");
}
INSTANTIATE_TEST_SUITE_P(RunFilter, FilterTexts,
                         testing::Values(FilterCase{"", true}, FilterCase{"fox", true}, FilterCase{"hen", false},
                                         FilterCase{"precision:fp8 loss<2", true}, FilterCase{"loss<1.5", false},
                                         FilterCase{"loss<=1.5", true}, FilterCase{"tok>=42k", true},
                                         FilterCase{"tok>0.1M", false}, FilterCase{"status:finished", true},
                                         FilterCase{"data:emma fox", true}, FilterCase{"val<9", false},
                                         FilterCase{"id=5", true}, FilterCase{"steps:812", true},
                                         FilterCase{"loss<", true}));

TEST(RunFilter, namesWhatItCannotUse) {
    EXPECT_TRUE(RunFilter::parse("colour:red").problem().contains("no key 'colour'"));
    EXPECT_TRUE(RunFilter::parse("loss<two").problem().contains("'two' is not a number"));
}

TEST(RunDetails, nameWhatWasAskedAndWhatWasUsed) {
    RunRow run = makeRun(1, "fox", 1000);
    run.description.emulated = true;
    run.description.modelJson = R"({"layers":4,"d_model":256,"heads":4,"seq_len":128,"vocab":64})";
    run.description.trainJson = R"({"batch":8})";
    run.description.recipeJson =
        R"({"recipe":"delayed","format":"hybrid","margin":0,"amax_history_len":16,"amax_algo":"max"})";
    const QString text = gui::detailsText(gui::runDetails(run, nullptr));
    EXPECT_TRUE(text.contains("asked / used: auto / fp8 (emulated)")) << text.toStdString();
    bool model = false;
    bool recipe = false;
    for (const gui::Detail& detail : gui::runDetails(run, nullptr)) {
        model = model || detail.value == "4 × 256, 4 heads, T\u00a0128, B\u00a08";
        recipe = recipe || detail.value == "fp8 delayed hybrid, history 16, max, margin 0";
    }
    EXPECT_TRUE(model);
    EXPECT_TRUE(recipe);
}

profiling::RunDescription described(const engine::RunConfig& config) {
    profiling::RunDescription about;
    about.modelJson = engine::toJson(config.model);
    about.recipeJson = engine::toJson(config.recipe);
    about.trainJson = engine::toJson(config.train);
    return about;
}

TEST(RunDetails, everyRecipeIsSaidInItsOwnTerms) {
    using engine::RecipeKind;
    engine::RunConfig config;
    const auto text = [&config](RecipeKind kind) {
        config.recipe.kind = kind;
        return gui::recipeText(described(config)).toStdString();
    };
    EXPECT_EQ(text(RecipeKind::Delayed), "fp8 delayed hybrid, history 16, max, margin 0");
    EXPECT_EQ(text(RecipeKind::Current), "fp8 current hybrid");
    EXPECT_EQ(text(RecipeKind::Block), "fp8 block e4m3, blocks of 128, 128×128 of weights, power-of-two scales");
    EXPECT_EQ(text(RecipeKind::MxFp8), "fp8 mxfp8 e4m3, blocks of 32");
    EXPECT_EQ(text(RecipeKind::NvFp4),
              "fp4 nvfp4, blocks of 16, 16×16 of weights, stochastic rounding, Hadamard transform");
    config.recipe.powerOfTwoScales = engine::Switch::On;
    config.recipe.amaxEpsilon = 1e-6;
    config.recipe.weightTiles = false;
    config.recipe.stochasticRounding = false;
    config.recipe.hadamard = false;
    EXPECT_EQ(text(RecipeKind::Current), "fp8 current hybrid, power-of-two scales, amax at least 1e-06");
    EXPECT_EQ(text(RecipeKind::NvFp4), "fp4 nvfp4, blocks of 16");
    EXPECT_EQ(gui::recipeText({}), "");
}

TEST(RunDetails, factsOfTheModelAndWhatIsUnusual) {
    engine::RunConfig config;
    EXPECT_EQ(gui::partsText(described(config)).toStdString(), "LayerNorm, GELU 1\u202f024, learned positions");
    EXPECT_EQ(gui::weightsText(described(config)), "");
    EXPECT_EQ(gui::keptText(described(config)), "");
    EXPECT_EQ(gui::guardText(described(config)), "");
    config.model.norm = engine::Norm::RmsNorm;
    config.model.activation = engine::Activation::SwiGlu;
    config.model.ffn = 704;
    config.model.positions = engine::Positions::Rotary;
    config.model.kvHeads = 2;
    config.model.bias = false;
    config.model.tiedHead = true;
    config.train.weights = engine::WeightStorage::Fp8KeepInit;
    config.train.init = "/models/tiny.safetensors";
    config.train.bf16EdgeLayers = 1;
    config.train.keepFp32 = "lm_head";
    config.train.guard = engine::Guard::Fallback;
    config.train.guardSteps = 100;
    config.train.accumulate = 4;
    EXPECT_EQ(gui::partsText(described(config)).toStdString(),
              "RMSNorm, SwiGLU 704, rotary positions, 2 key/value heads, no bias, tied head");
    EXPECT_EQ(gui::weightsText(described(config)).toStdString(),
              "quantised, FP32 masters from the initial values, from tiny.safetensors");
    EXPECT_EQ(gui::keptText(described(config)).toStdString(), "first and last 1 in BF16, lm_head in FP32");
    EXPECT_EQ(gui::guardText(described(config)).toStdString(), "fallback above 1 bit, for 100 steps");
    EXPECT_TRUE(gui::modelText(described(config)).endsWith("B\u00a08 × 4"));
}

TEST(RunDetails, aDescriptionOfAnotherProgramIsShownAsFarAsItGoes) {
    profiling::RunDescription about;
    about.modelJson = R"({"layers":2,"norm":"groupnorm"})";
    about.recipeJson = R"({"recipe":"ternary"})";
    about.trainJson = "not JSON";
    EXPECT_TRUE(gui::modelText(about).startsWith("2 × –"));
    EXPECT_EQ(gui::partsText(about), "");
    EXPECT_EQ(gui::recipeText(about), QString(R"({"recipe":"ternary"})"));
}

profiling::EventRow event(const char* code, const char* text) {
    return {0, 0, engine::Severity::Warning, code, text};
}

TEST(FallbackText, namesWhatRunsInHigherPrecisionAndForgetsWhatIsBack) {
    EXPECT_EQ(gui::fallbackText({event("saturation", "x saturated")}).text, "");
    const gui::FallbackText text = gui::fallbackText({
        event("fallback", "lm_head runs in BF16: 65 columns, and FP8 needs a multiple of 16"),
        event("fallback", "layer.0.attn.qkv.input runs in BF16 for 100 steps"),
        event("fallback_end", "layer.0.attn.qkv.input is in E4M3 again"),
        event("fallback", "layer.1.mlp.fc1 runs in FP32: kept by --keep-fp32"),
        event("fallback", "layer.1.mlp.fc2.weight runs in BF16 from the next step on"),
    });
    EXPECT_EQ(text.text.toStdString(), "lm_head → BF16, layer.1.mlp.fc1 → FP32 and 1 more");
    EXPECT_EQ(text.whole.split('\n').size(), 3);
    EXPECT_TRUE(text.whole.contains("65 columns"));
}

}  // namespace
