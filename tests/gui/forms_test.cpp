// Dialogs with forms: presets, variants and suites become jobs, and nothing wrong starts.
#include "engine/suites.h"
#include "form_support.h"
#include "models/config_form_model.h"
#include "views/config_form.h"
#include "views/export_dialog.h"
#include "views/new_benchmark_dialog.h"
#include "views/new_run_dialog.h"
#include "views/theme.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QTabWidget>
#include <QTest>

#include <algorithm>

namespace {

using engine::RunConfig;

TEST(NewRunDialog, startIsOffWithTheReasonWhileSomethingIsWrong) {
    gui::SessionController controller;
    gui::NewRunDialog dialog("unused.amax", &controller);
    auto* start = dialog.findChild<QPushButton*>("startButton");
    auto* heads = dialog.findChild<QSpinBox*>("field_heads");
    const auto* reason = dialog.findChild<QLabel*>("startReason");
    ASSERT_TRUE(start && heads && reason);
    EXPECT_TRUE(start->isEnabled());
    EXPECT_TRUE(dialog.findChild<QLabel*>("estimate")->text().contains("parameters"));
    heads->setValue(3);
    EXPECT_FALSE(start->isEnabled());
    EXPECT_TRUE(reason->text().contains("--heads")) << reason->text().toStdString();
    heads->setValue(4);
    EXPECT_TRUE(start->isEnabled());
    EXPECT_TRUE(reason->text().isEmpty());
}

TEST(NewRunDialog, aPresetSetsTheModelAndKeepsThePrecision) {
    gui::SessionController controller;
    gui::NewRunDialog dialog("unused.amax", &controller);
    dialog.findChild<QComboBox*>("field_precision")->setCurrentText("bf16");
    dialog.findChild<QComboBox*>("field_guard")->setCurrentText("stop");
    auto* preset = dialog.findChild<QComboBox*>("preset");
    const int small = preset->findData("small");
    ASSERT_GE(small, 0);
    preset->setCurrentIndex(small);
    emit preset->activated(small);
    EXPECT_EQ(dialog.findChild<QSpinBox*>("field_d-model")->value(), 512);
    EXPECT_EQ(dialog.findChild<QComboBox*>("field_precision")->currentText(), "bf16");
    EXPECT_EQ(dialog.findChild<QComboBox*>("field_guard")->currentText(), "stop");
}

TEST(NewRunDialog, aPresetThatIsAboutPrecisionSetsItAndStaysNamed) {
    QSettings().clear();
    gui::SessionController controller;
    gui::NewRunDialog dialog("unused.amax", &controller);
    auto* preset = dialog.findChild<QComboBox*>("preset");
    const auto choose = [preset](const char* name) {
        const int index = preset->findData(name);
        ASSERT_GE(index, 0) << name;
        preset->setCurrentIndex(index);
        emit preset->activated(index);
    };
    choose("tutorial-history-1024");
    EXPECT_EQ(dialog.findChild<QComboBox*>("field_precision")->currentData(), "fp8");
    EXPECT_EQ(dialog.findChild<QSpinBox*>("field_amax-history-len")->value(), 1024);
    EXPECT_EQ(preset->currentData(), "tutorial-history-1024");
    choose("tutorial");  // says nothing about precision: what is set stays, and both fit
    EXPECT_EQ(preset->currentData(), "tutorial");
    EXPECT_EQ(dialog.findChild<QSpinBox*>("field_amax-history-len")->value(), 1024);
    choose("llama-small");
    EXPECT_EQ(dialog.findChild<QComboBox*>("field_activation")->currentData(), "swiglu");
    EXPECT_FALSE(dialog.findChild<QCheckBox*>("field_bias")->isChecked());
    EXPECT_EQ(preset->currentData(), "llama-small");
}

TEST(NewRunDialog, namesThePresetThatTheFormHolds) {
    QSettings().clear();
    gui::SessionController controller;
    const gui::NewRunDialog dialog("unused.amax", &controller);
    const auto* preset = dialog.findChild<QComboBox*>("preset");
    EXPECT_EQ(preset->currentData().toString(), "tutorial");
    dialog.findChild<QSpinBox*>("field_layers")->setValue(5);
    EXPECT_EQ(preset->currentText(), "own values");
    dialog.findChild<QSpinBox*>("field_layers")->setValue(4);
    EXPECT_EQ(preset->currentData().toString(), "tutorial");
}

TEST(NewRunDialog, startHandsOverTheJobAndIsOfferedAgainNextTime) {
    gui::SessionController controller;
    QPointer<gui::NewRunDialog> dialog = new gui::NewRunDialog("here.amax", &controller);
    std::vector<gui::Job> jobs;
    QObject::connect(dialog, &gui::JobDialog::jobWanted, dialog, [&jobs](const gui::Job& job) { jobs.push_back(job); });
    dialog->findChild<QLineEdit*>("jobName")->setText("fox");
    dialog->findChild<QSpinBox*>("field_steps")->setValue(17);
    dialog->findChild<QPushButton*>("startButton")->click();
    ASSERT_EQ(jobs.size(), 1U);
    const auto& job = std::get<jobs::TrainJob>(jobs[0]);
    EXPECT_EQ(job.name, "fox");
    EXPECT_EQ(job.database, "here.amax");
    EXPECT_EQ(job.config.train.steps, 17);
    const gui::NewRunDialog again("here.amax", &controller);
    EXPECT_EQ(again.findChild<QSpinBox*>("field_steps")->value(), 17);
}

TEST(NewBenchmarkDialog, makesOneVariantPerCheckedPrecision) {
    gui::SessionController controller;
    auto* dialog = new gui::NewBenchmarkDialog("here.amax", &controller);
    std::vector<gui::Job> jobs;
    QObject::connect(dialog, &gui::JobDialog::jobWanted, dialog, [&jobs](const gui::Job& job) { jobs.push_back(job); });
    dialog->findChild<QCheckBox*>("variant_bf16")->setChecked(false);
    dialog->findChild<QCheckBox*>("variant_fp8:delayed:e4m3")->setChecked(false);
    dialog->findChild<QSpinBox*>("repeats")->setValue(4);
    dialog->findChild<QPushButton*>("startButton")->click();
    ASSERT_EQ(jobs.size(), 1U);
    const auto& job = std::get<jobs::BenchJob>(jobs[0]);
    ASSERT_EQ(job.variants.size(), 2U);
    EXPECT_EQ(job.variants[0].config.train.precision, engine::Precision::Fp32);
    EXPECT_EQ(job.variants[1].config.train.precision, engine::Precision::Fp8);
    EXPECT_EQ(job.repeats, 4);
}

TEST(ExportDialog, startsInAFolderThatIsThere) {
    QSettings().setValue("exportFolder", "/no/such/folder");
    gui::ExportSource source;
    source.database = "here.amax";
    const gui::ExportDialog dialog(source);
    const QFileInfo proposed(dialog.findChild<QLineEdit*>("exportPath")->text());
    EXPECT_TRUE(proposed.dir().exists()) << proposed.filePath().toStdString();
    EXPECT_EQ(proposed.fileName(), "here.html");
    QSettings().remove("exportFolder");
}

struct BenchDialog {
    BenchDialog() : dialog(new gui::NewBenchmarkDialog("here.amax", &controller)) {
        QObject::connect(dialog, &gui::JobDialog::jobWanted, dialog,
                         [this](const gui::Job& job) { jobs.push_back(job); });
    }
    ~BenchDialog() { delete dialog; }
    void tickOnly(std::initializer_list<const char*> items) {
        for (QCheckBox* box : dialog->findChildren<QCheckBox*>()) {
            if (!box->objectName().startsWith("variant_")) continue;
            const bool wanted =
                std::any_of(items.begin(), items.end(), [&](const char* item) { return box->text() == item; });
            if (box->isChecked() != wanted) box->click();
        }
    }
    QPushButton* start() { return dialog->findChild<QPushButton*>("startButton"); }
    QString reason() { return dialog->findChild<QLabel*>("startReason")->text(); }

    gui::SessionController controller;
    QPointer<gui::NewBenchmarkDialog> dialog;
    std::vector<gui::Job> jobs;
};

TEST(NewBenchmarkDialog, comparesTheRecipesThatAreTickedAndTheItemsThatAreWritten) {
    QSettings().clear();
    BenchDialog bench;
    bench.tickOnly({"bf16", "fp8:current:hybrid", "fp8:block", "fp8:mxfp8", "fp8:nvfp4", "fp8:delayed:hybrid/unfused",
                    "fp8:delayed:hybrid/fp8weights"});
    bench.dialog->findChild<QLineEdit*>("moreVariants")->setText("fp8:delayed:hybrid/history=1024");
    ASSERT_TRUE(bench.start()->isEnabled()) << bench.reason().toStdString();
    bench.start()->click();
    ASSERT_EQ(bench.jobs.size(), 1U);
    const auto& job = std::get<jobs::BenchJob>(bench.jobs[0]);
    ASSERT_EQ(job.variants.size(), 8U);
    using enum engine::RecipeKind;
    EXPECT_EQ(job.variants[0].config.train.precision, engine::Precision::Bf16);
    const engine::RecipeKind kinds[] = {Current, Block, MxFp8, NvFp4, Delayed, Delayed, Delayed};
    for (std::size_t i = 0; i < std::size(kinds); ++i) EXPECT_EQ(job.variants[i + 1].config.recipe.kind, kinds[i]) << i;
    EXPECT_FALSE(job.variants[5].config.train.fused);
    EXPECT_EQ(job.variants[6].config.train.weights, engine::WeightStorage::Fp8);
    EXPECT_EQ(job.variants[7].config.recipe.amaxHistoryLen, 1024);
}

TEST(NewBenchmarkDialog, anItemThatCannotBeReadIsTheReason) {
    QSettings().clear();
    BenchDialog bench;
    auto* more = bench.dialog->findChild<QLineEdit*>("moreVariants");
    more->setText("fp9");
    EXPECT_FALSE(bench.start()->isEnabled());
    EXPECT_TRUE(bench.reason().contains("fp9")) << bench.reason().toStdString();
    more->clear();
    EXPECT_TRUE(bench.start()->isEnabled());
}

TEST(NewBenchmarkDialog, optionsAreShownForAnyVariantThatHasThem) {
    QSettings().clear();
    BenchDialog bench;
    const auto* form = bench.dialog->findChild<gui::ConfigForm*>();
    bench.tickOnly({"bf16", "fp8:nvfp4"});
    EXPECT_TRUE(isShown(*form, "hadamard"));
    EXPECT_FALSE(isShown(*form, "amax-history-len"));
    bench.tickOnly({"bf16", "fp8:nvfp4", "fp8:delayed:hybrid"});
    EXPECT_TRUE(isShown(*form, "hadamard") && isShown(*form, "amax-history-len"));
    EXPECT_TRUE(form->findChild<QSpinBox*>("field_amax-history-len")->isEnabled());
    bench.tickOnly({"bf16"});
    EXPECT_FALSE(form->findChild<QCheckBox*>("check_bf16-edge-layers")->isEnabled());
}

TEST(NewBenchmarkDialog, aProblemOfOneVariantStandsAtItsField) {
    QSettings().clear();
    BenchDialog bench;
    bench.dialog->findChild<QSpinBox*>("field_d-model")->setValue(272);  // 16 · 17: no multiple of 32
    bench.tickOnly({"bf16", "fp8:delayed:hybrid"});
    EXPECT_TRUE(bench.start()->isEnabled()) << bench.reason().toStdString();
    bench.tickOnly({"bf16", "fp8:delayed:hybrid", "fp8:mxfp8"});
    EXPECT_FALSE(bench.start()->isEnabled());
    EXPECT_TRUE(bench.dialog->findChild<QLabel*>("problem_d-model")->text().contains("multiple of 32"));
}

TEST(NewBenchmarkDialog, offersTheSuitesAndSaysWhatIsScaledDown) {
    QSettings().clear();
    BenchDialog bench;
    auto* suite = bench.dialog->findChild<QComboBox*>("suite");
    const int index = suite->findData("tutorial-extensions");
    ASSERT_GE(index, 0);
    bench.dialog->findChild<QLineEdit*>("field_device")->setText("cpu");
    suite->setCurrentIndex(index);
    EXPECT_EQ(bench.dialog->findChild<QComboBox*>("preset")->currentData(), "tutorial");
    QString shown;
    for (const QLabel* label : bench.dialog->findChildren<QLabel*>()) shown += label->text() + '\n';
    EXPECT_TRUE(shown.contains("history-1024"));
    EXPECT_TRUE(shown.contains("Scaled down for this machine: d-model 2048")) << shown.toStdString();
    ASSERT_TRUE(bench.start()->isEnabled()) << bench.reason().toStdString();
    bench.start()->click();
    ASSERT_EQ(bench.jobs.size(), 1U);
    const auto& job = std::get<jobs::BenchJob>(bench.jobs[0]);
    EXPECT_EQ(job.name, "tutorial-extensions");
    EXPECT_EQ(job.variants.size(), engine::suite("tutorial-extensions").variants.size());
    EXPECT_EQ(job.variants[0].label, "bf16");
    EXPECT_FALSE(job.variants.back().scaledDown.empty());
}

TEST(NewBenchmarkDialog, withoutAVariantItDoesNotStart) {
    gui::SessionController controller;
    gui::NewBenchmarkDialog dialog("here.amax", &controller);
    for (QCheckBox* box : dialog.findChildren<QCheckBox*>()) {
        if (box->objectName().startsWith("variant_")) box->setChecked(false);
    }
    EXPECT_FALSE(dialog.findChild<QPushButton*>("startButton")->isEnabled());
    EXPECT_TRUE(dialog.findChild<QLabel*>("startReason")->text().contains("no variant"));
}

/// Pictures of every page for reviews, as large as a screen of 1280×720 lets them be. AMAXSCOPE_SCREENSHOTS names the
/// folder; QT_SCALE_FACTOR=2 makes them as on a screen with twice the pixels.
TEST(FormPictures, areWrittenWhenAskedFor) {
    const QString target = qEnvironmentVariable("AMAXSCOPE_SCREENSHOTS");
    if (target.isEmpty()) GTEST_SKIP() << "AMAXSCOPE_SCREENSHOTS names no folder";
    QSettings().clear();
    auto& application = *static_cast<QApplication*>(QCoreApplication::instance());
    const auto grab = [&](QWidget& dialog, const QString& name) {
        dialog.resize(dialog.sizeHint().expandedTo({756, 0}).boundedTo({1240, 640}));
        dialog.show();
        auto* pages = dialog.findChild<QTabWidget*>("formPages");
        for (int page = 0; page < pages->count(); ++page) {
            pages->setCurrentIndex(page);
            QTest::qWait(50);
            const QString path = QStringLiteral("%1/%2-%3.png").arg(target, name).arg(page);
            EXPECT_TRUE(dialog.grab().save(path)) << path.toStdString();
        }
    };
    for (const char* theme : {"light", "dark"}) {
        gui::applyTheme(application, gui::themeFromName(theme));
        gui::SessionController controller;
        gui::NewRunDialog run("unused.amax", &controller);
        RunConfig config = unusualConfig();
        config.train.keepFp32 = "layer.9.*";  // a problem on another page
        config.train.guard = engine::Guard::Skip;
        run.findChild<gui::ConfigForm*>()->setConfig(withRecipe(engine::RecipeKind::Delayed));
        grab(run, QStringLiteral("form-run-%1").arg(theme));
        run.findChild<gui::ConfigForm*>()->setConfig(config);
        grab(run, QStringLiteral("form-problems-%1").arg(theme));
        gui::NewBenchmarkDialog bench("unused.amax", &controller);
        grab(bench, QStringLiteral("form-bench-%1").arg(theme));
        auto* suite = bench.findChild<QComboBox*>("suite");
        suite->setCurrentIndex(1);
        grab(bench, QStringLiteral("form-suite-%1").arg(theme));
    }
}

}  // namespace
