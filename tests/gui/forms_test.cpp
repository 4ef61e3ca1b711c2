// Forms for configurations: every field is written and read back, problems stand at their field, nothing wrong starts.
#include "models/config_form_model.h"
#include "views/config_form.h"
#include "views/export_dialog.h"
#include "views/new_benchmark_dialog.h"
#include "views/new_run_dialog.h"

#include <gtest/gtest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>

namespace {

using engine::RunConfig;

RunConfig unusualConfig() {
    RunConfig config;
    config.model = {2, 64, 2, 32, 512};
    config.recipe = {engine::RecipeFormat::E4M3, 3, 7, engine::AmaxAlgo::MostRecent};
    config.train.precision = engine::Precision::Fp8;
    config.train.batch = 16;
    config.train.steps = 11;
    config.train.lr = 0.00125;
    config.train.warmupSteps = 2;
    config.train.weightDecay = 0.25;
    config.train.beta1 = 0.8;
    config.train.beta2 = 0.9;
    config.train.gradClip = 0.5;
    config.train.seed = 99;
    config.train.threads = 1;
    config.train.fused = false;
    config.train.keepBf16 = "layer.0.*";
    config.train.guard = engine::Guard::Fallback;
    config.train.snapshotEvery = 5;
    config.train.validateEvery = 6;
    config.train.device = "cpu";
    config.train.data = "text:/tmp/a.txt";
    return config;
}

TEST(ConfigForm, givesBackEveryFieldOfTheConfigurationItWasGiven) {
    gui::ConfigForm form({});
    form.setConfig(unusualConfig());
    EXPECT_EQ(form.config(), unusualConfig());
    form.setConfig(RunConfig{});
    EXPECT_EQ(form.config(), RunConfig{});
}

TEST(ConfigForm, everyInputChangesTheConfiguration) {
    gui::ConfigForm form({});
    form.setConfig(RunConfig{});
    const RunConfig unusual = unusualConfig();
    for (const gui::FormField& field : gui::formFields()) {
        RunConfig changed;
        field.set(changed, field.get(unusual));
        EXPECT_NE(changed, RunConfig{}) << field.option.toStdString();
    }
}

TEST(ConfigForm, fieldsThatAreLeftOutKeepTheirValues) {
    gui::ConfigForm form({"precision", "steps"});
    form.setConfig(unusualConfig());
    EXPECT_EQ(form.findChild<QWidget*>("field_steps"), nullptr);
    EXPECT_EQ(form.config(), unusualConfig());
}

TEST(ConfigForm, aProblemStandsUnderItsField) {
    gui::ConfigForm form({});
    RunConfig config;
    config.model.heads = 3;
    form.setConfig(config);
    form.check();
    const auto* problem = form.findChild<QLabel*>("problem_heads");
    ASSERT_NE(problem, nullptr);
    EXPECT_FALSE(problem->isHidden());
    EXPECT_TRUE(problem->text().contains("256")) << problem->text().toStdString();
    EXPECT_TRUE(form.findChild<QLabel*>("problem_layers")->isHidden());
}

TEST(ConfigForm, textThatIsNoNumberIsAProblemOfItsField) {
    gui::ConfigForm form({});
    form.setConfig(RunConfig{});
    form.findChild<QLineEdit*>("field_lr")->setText("fast");
    EXPECT_FALSE(form.check().empty());
    EXPECT_TRUE(form.findChild<QLabel*>("problem_lr")->text().contains("not a number"));
    form.findChild<QLineEdit*>("field_lr")->setText("3e-4");
    EXPECT_TRUE(form.check().empty());
    EXPECT_DOUBLE_EQ(form.config().train.lr, 3e-4);
}

TEST(ConfigForm, aSeedOf64BitsIsTakenWholeAndALargerOneIsAProblem) {
    gui::ConfigForm form({});
    RunConfig config;
    config.train.seed = 18446744073709551615ULL;
    form.setConfig(config);
    EXPECT_EQ(form.config().train.seed, config.train.seed);
    auto* seed = form.findChild<QLineEdit*>("field_seed");
    seed->setText("9007199254740993");  // a double cannot hold it
    EXPECT_TRUE(form.check().empty());
    EXPECT_EQ(form.config().train.seed, 9007199254740993ULL);
    seed->setText("18446744073709551616");
    EXPECT_FALSE(form.check().empty());
    EXPECT_TRUE(form.findChild<QLabel*>("problem_seed")->text().contains("18446744073709551615"));
}

TEST(ConfigForm, theLabelsOfAColumnAreEquallyWide) {
    const gui::ConfigForm form({});
    const auto widthOf = [&form](const char* text) {
        for (const QLabel* label : form.findChildren<QLabel*>()) {
            if (label->text() == text) return label->minimumWidth();
        }
        return -1;
    };
    EXPECT_GT(widthOf("Heads"), 0);
    EXPECT_EQ(widthOf("Heads"), widthOf("Amax algorithm"));
    EXPECT_EQ(widthOf("Seed"), widthOf("Unfused kernels"));
}

TEST(ConfigForm, dataThatCannotBeReadIsNamed) {
    const QTemporaryDir folder;
    const QString empty = folder.filePath("empty.txt");
    QFile(empty).open(QIODevice::WriteOnly);
    EXPECT_TRUE(gui::dataProblem({"text", folder.filePath("none.txt")}).contains("no such file"));
    EXPECT_TRUE(gui::dataProblem({"text", empty}).contains("empty"));
    EXPECT_TRUE(gui::dataProblem({"tokens", folder.path()}).contains("not a file"));
    EXPECT_EQ(gui::dataProblem({"stride", ""}), "");
}

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
    auto* preset = dialog.findChild<QComboBox*>("preset");
    const int small = preset->findData("small");
    ASSERT_GE(small, 0);
    preset->setCurrentIndex(small);
    emit preset->activated(small);
    EXPECT_EQ(dialog.findChild<QSpinBox*>("field_d-model")->value(), 512);
    EXPECT_EQ(dialog.findChild<QComboBox*>("field_precision")->currentText(), "bf16");
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

TEST(NewBenchmarkDialog, withoutAPrecisionItDoesNotStart) {
    gui::SessionController controller;
    gui::NewBenchmarkDialog dialog("here.amax", &controller);
    for (QCheckBox* box : dialog.findChildren<QCheckBox*>()) {
        if (box->objectName().startsWith("variant_")) box->setChecked(false);
    }
    EXPECT_FALSE(dialog.findChild<QPushButton*>("startButton")->isEnabled());
    EXPECT_TRUE(dialog.findChild<QLabel*>("startReason")->text().contains("no precision"));
}

}  // namespace
