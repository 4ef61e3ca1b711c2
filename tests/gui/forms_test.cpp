// Forms for configurations: every field is written and read back, problems stand at their field, nothing wrong starts.
#include "engine/suites.h"
#include "jobs/option_effect.h"
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
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

#include <algorithm>

namespace {

using engine::RunConfig;

/// Every setting away from its default.
RunConfig unusualConfig() {
    RunConfig config;
    config.model.layers = 2;
    config.model.dModel = 64;
    config.model.heads = 8;
    config.model.seqLen = 32;
    config.model.vocab = 512;
    config.model.kvHeads = 2;
    config.model.ffn = 96;
    config.model.norm = engine::Norm::RmsNorm;
    config.model.activation = engine::Activation::SwiGlu;
    config.model.positions = engine::Positions::Rotary;
    config.model.ropeTheta = 5000;
    config.model.normEpsilon = 1e-6;
    config.model.bias = false;
    config.model.tiedHead = true;
    config.recipe.kind = engine::RecipeKind::Block;
    config.recipe.format = engine::RecipeFormat::Hybrid;
    config.recipe.margin = 3;
    config.recipe.amaxHistoryLen = 7;
    config.recipe.amaxAlgo = engine::AmaxAlgo::MostRecent;
    config.recipe.powerOfTwoScales = engine::Switch::Off;
    config.recipe.amaxEpsilon = 1e-12;
    config.recipe.weightTiles = false;
    config.recipe.stochasticRounding = false;
    config.recipe.hadamard = false;
    config.train.precision = engine::Precision::Fp8;
    config.train.batch = 16;
    config.train.accumulate = 4;
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
    config.train.keepFp32 = "lm_head";
    config.train.bf16EdgeLayers = 2;
    config.train.weights = engine::WeightStorage::Fp8KeepInit;
    config.train.guard = engine::Guard::Fallback;
    config.train.guardLimit = 2.5;
    config.train.guardSteps = 40;
    config.train.snapshotEvery = 5;
    config.train.snapshotFrom = 10;
    config.train.snapshotTo = 90;
    config.train.exponentsEvery = 25;
    config.train.observe = "input,weight,grad_output,wgrad";
    config.train.validateEvery = 6;
    config.train.init = "/tmp/a.safetensors";
    config.train.device = "cpu";
    config.train.data = "text:/tmp/a.txt";
    return config;
}

/// Changes the value by clicks and keys, as somebody at the screen would, to that of `unusual` where keys are typed.
void useInput(const gui::ConfigForm& form, const gui::FormField& field, const RunConfig& unusual) {
    const QString name = "field_" + field.option;
    const QVariant value = field.get(unusual);
    switch (field.kind) {
        case gui::FieldKind::Integer: {
            auto* box = form.findChild<QSpinBox*>(name);
            box->selectAll();
            QTest::keyClicks(box, value.toString());
            break;
        }
        case gui::FieldKind::Choice: {
            auto* box = form.findChild<QComboBox*>(name);
            QTest::keyClick(box, Qt::Key_Home);
            for (int i = 0; i < box->findData(value); ++i) QTest::keyClick(box, Qt::Key_Down);
            break;
        }
        case gui::FieldKind::Flag:
            QTest::keyClick(form.findChild<QCheckBox*>(name), Qt::Key_Space);
            break;
        case gui::FieldKind::OptionalCount: {
            auto* check = form.findChild<QCheckBox*>("check_" + field.option);
            QTest::mouseClick(check, Qt::LeftButton, {}, QPoint(8, check->height() / 2));
            QTest::keyClick(form.findChild<QSpinBox*>(name), Qt::Key_Up);
            break;
        }
        case gui::FieldKind::Set: {
            auto* box = form.findChild<QCheckBox*>("observe_wgrad");
            QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(8, box->height() / 2));
            break;
        }
        case gui::FieldKind::Real:
        case gui::FieldKind::Text:
        case gui::FieldKind::File:
        case gui::FieldKind::Unsigned64: {
            auto* line = form.findChild<QLineEdit*>(name);
            line->selectAll();
            QTest::keyClicks(line, value.toString());
            break;
        }
    }
}

bool isShown(const gui::ConfigForm& form, const char* option) {
    const auto* input = form.findChild<QWidget*>(QStringLiteral("field_") + option);
    return input != nullptr && !input->parentWidget()->isHidden();  // the row, whatever page is in front
}

RunConfig withRecipe(engine::RecipeKind kind) {
    RunConfig config;
    config.train.precision = engine::Precision::Fp8;
    config.recipe.kind = kind;
    return config;
}

TEST(ConfigForm, givesBackEveryFieldOfTheConfigurationItWasGiven) {
    gui::ConfigForm form({});
    form.setConfig(unusualConfig());
    EXPECT_EQ(form.config(), unusualConfig());
    form.setConfig(RunConfig{});
    EXPECT_EQ(form.config(), RunConfig{});
}

TEST(ConfigForm, hasAFieldForEverySettingThatIsStoredWithARun) {
    const RunConfig config;
    QStringList keys;
    for (const std::string& part :
         {engine::toJson(config.model), engine::toJson(config.recipe), engine::toJson(config.train)}) {
        keys << QJsonDocument::fromJson(QByteArray::fromStdString(part)).object().keys();
    }
    ASSERT_GT(keys.size(), 50);
    for (QString key : keys) {
        if (key == "data") continue;  // the chooser on top
        if (key == "fused") key = "unfused";
        EXPECT_NE(gui::findField(key.replace('_', '-')), nullptr) << key.toStdString();
    }
}

TEST(ConfigForm, everyInputChangesItsSettingAndNoOther) {
    const RunConfig unusual = unusualConfig();
    for (const gui::FormField& field : gui::formFields()) {
        RunConfig start = withRecipe(engine::RecipeKind::Delayed);
        start.train.guard = engine::Guard::Off;
        start.model.positions = engine::Positions::Learned;
        if (field.option == "precision") start.train.precision = engine::Precision::Bf16;
        if (field.option == "rope-theta") start.model.positions = engine::Positions::Rotary;
        if (field.option.startsWith("guard-")) start.train.guard = engine::Guard::Fallback;
        for (const engine::RecipeKind kind : {engine::RecipeKind::Block, engine::RecipeKind::NvFp4}) {
            RunConfig other = start;
            other.recipe.kind = kind;
            if (!jobs::withoutEffect(start, field.option.toStdString()).empty()) start = other;
        }
        RunConfig expected = start;
        field.set(expected, field.get(unusual));
        gui::ConfigForm form({});
        form.setConfig(start);
        form.resize(760, 560);
        form.showField(field.option);
        form.show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(&form));
        useInput(form, field, unusual);
        EXPECT_EQ(engine::toJson(form.config().model), engine::toJson(expected.model)) << field.option.toStdString();
        EXPECT_EQ(engine::toJson(form.config().recipe), engine::toJson(expected.recipe)) << field.option.toStdString();
        EXPECT_EQ(engine::toJson(form.config().train), engine::toJson(expected.train)) << field.option.toStdString();
        EXPECT_NE(form.config(), start) << field.option.toStdString();
    }
}

TEST(ConfigForm, everyChoiceOfTheEngineIsOfferedAndExplained) {
    const gui::FormField* recipe = gui::findField("recipe");
    ASSERT_NE(recipe, nullptr);
    EXPECT_EQ(recipe->choices.size(), engine::choices<engine::RecipeKind>().size());
    for (const gui::FormField& field : gui::formFields()) {
        for (const gui::FieldChoice& choice : field.choices) {
            EXPECT_FALSE(choice.help.isEmpty()) << field.option.toStdString() << " " << choice.word.toStdString();
        }
    }
}

TEST(ConfigForm, showsOnlyTheOptionsOfTheRecipeThatIsChosen) {
    using enum engine::RecipeKind;
    struct Case {
        const char* option;
        std::vector<engine::RecipeKind> shown;
    };
    const std::vector<Case> cases = {
        {"format", {Delayed, Current, Block, MxFp8}},
        {"margin", {Delayed}},
        {"amax-history-len", {Delayed}},
        {"amax-algo", {Delayed}},
        {"power-of-two-scales", {Current, Block}},
        {"amax-epsilon", {Current, Block}},
        {"weight-tiles", {Block, NvFp4}},
        {"stochastic-rounding", {NvFp4}},
        {"hadamard", {NvFp4}},
        {"recipe", {Delayed, Current, Block, MxFp8, NvFp4}},
    };
    gui::ConfigForm form({});
    for (const engine::RecipeKind kind : {Delayed, Current, Block, MxFp8, NvFp4}) {
        form.setConfig(withRecipe(kind));
        for (const Case& each : cases) {
            const bool expected = std::find(each.shown.begin(), each.shown.end(), kind) != each.shown.end();
            EXPECT_EQ(isShown(form, each.option), expected) << each.option << " under " << engine::name(kind);
        }
    }
}

TEST(ConfigForm, whatHasNoEffectIsOffAndTheToolTipSaysWhy) {
    gui::ConfigForm form({});
    RunConfig config;
    config.train.precision = engine::Precision::Bf16;
    config.train.guard = engine::Guard::Warn;
    config.train.snapshotEvery = 0;
    form.setConfig(config);
    const auto* recipe = form.findChild<QComboBox*>("field_recipe");
    EXPECT_FALSE(recipe->isEnabled());
    EXPECT_TRUE(recipe->toolTip().contains("bf16")) << recipe->toolTip().toStdString();
    EXPECT_TRUE(isShown(form, "margin"));  // of the recipe that is chosen: off, not gone
    EXPECT_FALSE(form.findChild<QSpinBox*>("field_margin")->isEnabled());
    EXPECT_FALSE(form.findChild<QCheckBox*>("check_bf16-edge-layers")->isEnabled());
    EXPECT_FALSE(form.findChild<QSpinBox*>("field_exponents-every")->isEnabled());
    EXPECT_FALSE(form.findChild<QLineEdit*>("field_rope-theta")->isEnabled());
    EXPECT_TRUE(form.findChild<QSpinBox*>("field_steps")->isEnabled());

    config.train.precision = engine::Precision::Fp8;
    form.setConfig(config);
    const auto* steps = form.findChild<QSpinBox*>("field_guard-steps");
    EXPECT_FALSE(steps->isEnabled());
    EXPECT_TRUE(steps->toolTip().contains("belongs to the guard fallback")) << steps->toolTip().toStdString();

    config.train.guard = engine::Guard::Fallback;
    config.train.snapshotEvery = 1;
    config.model.positions = engine::Positions::Rotary;
    form.setConfig(config);
    EXPECT_TRUE(recipe->isEnabled());
    EXPECT_FALSE(recipe->toolTip().contains("no effect")) << recipe->toolTip().toStdString();
    EXPECT_TRUE(steps->isEnabled());
    EXPECT_TRUE(form.findChild<QSpinBox*>("field_exponents-every")->isEnabled());
    EXPECT_TRUE(form.findChild<QLineEdit*>("field_rope-theta")->isEnabled());
}

TEST(ConfigForm, firstAndLastLayersGoToBf16WithOneClick) {
    gui::ConfigForm form({});
    form.setConfig(withRecipe(engine::RecipeKind::Delayed));
    auto* check = form.findChild<QCheckBox*>("check_bf16-edge-layers");
    auto* number = form.findChild<QSpinBox*>("field_bf16-edge-layers");
    EXPECT_FALSE(number->isEnabled());
    check->click();
    EXPECT_EQ(form.config().train.bf16EdgeLayers, 1);
    EXPECT_TRUE(number->isEnabled());
    number->setValue(3);
    EXPECT_EQ(form.config().train.bf16EdgeLayers, 3);
    check->click();
    EXPECT_EQ(form.config().train.bf16EdgeLayers, 0);
}

TEST(ConfigForm, automaticValuesSayWhatTheyComeTo) {
    gui::ConfigForm form({});
    RunConfig config = withRecipe(engine::RecipeKind::Delayed);
    config.model.dModel = 320;
    config.model.heads = 5;
    form.setConfig(config);
    const auto* format = form.findChild<QComboBox*>("field_format");
    EXPECT_EQ(format->currentText(), "auto: hybrid");
    EXPECT_EQ(form.findChild<QSpinBox*>("field_ffn")->text(), "auto: 1280, 4 × width");
    EXPECT_EQ(form.findChild<QSpinBox*>("field_kv-heads")->text(), "auto: 5, as heads");
    form.setConfig(withRecipe(engine::RecipeKind::Block));
    EXPECT_EQ(format->currentText(), "auto: e4m3");
    EXPECT_EQ(form.findChild<QComboBox*>("field_power-of-two-scales")->currentText(), "auto: on");
    form.setConfig(withRecipe(engine::RecipeKind::Current));
    EXPECT_EQ(form.findChild<QComboBox*>("field_power-of-two-scales")->currentText(), "auto: off");
    EXPECT_EQ(form.config().recipe.powerOfTwoScales, engine::Switch::Auto);
}

TEST(ConfigForm, aPageWithAProblemIsMarkedAndItsFieldCanBeTurnedTo) {
    gui::ConfigForm form({});
    RunConfig config;
    config.train.keepBf16 = "layer.9.*";
    form.setConfig(config);
    auto* pages = form.findChild<QTabWidget*>("formPages");
    EXPECT_EQ(pages->currentIndex(), 0);
    ASSERT_EQ(form.check().size(), 1U);
    const int page = 2;
    EXPECT_EQ(pages->tabText(page), "Layers and weights");
    EXPECT_FALSE(pages->tabIcon(page).isNull());
    EXPECT_TRUE(pages->tabIcon(0).isNull());
    form.showField("keep-bf16");
    EXPECT_EQ(pages->currentIndex(), page);
    EXPECT_TRUE(form.findChild<QLabel*>("problem_keep-bf16")->text().contains("names no layer"));
    form.setConfig(RunConfig{});
    EXPECT_TRUE(form.check().empty());
    EXPECT_TRUE(pages->tabIcon(page).isNull());
}

TEST(ConfigForm, aProblemOfAnOptionThatIsHiddenShowsIt) {
    gui::ConfigForm form({});
    form.setConfig(withRecipe(engine::RecipeKind::Current));
    form.findChild<QLineEdit*>("field_amax-epsilon")->setText("tiny");
    form.findChild<QComboBox*>("field_recipe")->setCurrentIndex(0);
    EXPECT_FALSE(form.check().empty());
    EXPECT_TRUE(isShown(form, "amax-epsilon"));
}

TEST(ConfigForm, everyInputIsReachedByKeyboard) {
    gui::ConfigForm form({});
    form.setConfig(withRecipe(engine::RecipeKind::Delayed));
    for (const gui::FormField& field : gui::formFields()) {
        form.showField(field.option);
        const auto* input = form.findChild<QWidget*>("field_" + field.option);
        if (field.kind == gui::FieldKind::OptionalCount) continue;  // its check box comes first
        if (field.kind == gui::FieldKind::Set) input = form.findChild<QWidget*>("observe_input");
        EXPECT_TRUE(input->focusPolicy() & Qt::TabFocus) << field.option.toStdString();
        EXPECT_FALSE(input->accessibleName().isEmpty()) << field.option.toStdString();
    }
}

TEST(ConfigForm, theWheelChangesNothingInAnInputWithoutTheKeyboard) {
    gui::ConfigForm form({});
    form.setConfig(RunConfig{});
    auto* box = form.findChild<QSpinBox*>("field_layers");
    box->clearFocus();
    const QPointF at(5, 5);
    QWheelEvent wheel(at, box->mapToGlobal(at), {}, {0, 120}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(box, &wheel);
    EXPECT_EQ(box->value(), RunConfig{}.model.layers);
    EXPECT_FALSE(wheel.isAccepted());  // the page gets it
}

TEST(ConfigForm, aWeightsFileThatIsNotThereIsAProblemOfItsField) {
    gui::ConfigForm form({});
    form.setConfig(RunConfig{});
    form.findChild<QLineEdit*>("field_init")->setText("/no/such/model.safetensors");
    EXPECT_FALSE(form.check().empty());
    EXPECT_TRUE(form.findChild<QLabel*>("problem_init")->text().contains("no such file"));
}

TEST(ConfigForm, noLabelIsCutAtTheSizeTheFormAsksFor) {
    gui::ConfigForm form({});
    form.setConfig(withRecipe(engine::RecipeKind::Delayed));
    form.resize(form.sizeHint());
    form.show();
    auto* pages = form.findChild<QTabWidget*>("formPages");
    for (int page = 0; page < pages->count(); ++page) {
        pages->setCurrentIndex(page);
        QApplication::processEvents();
        for (const QWidget* widget : pages->widget(page)->findChildren<QWidget*>()) {
            if (!widget->isVisible()) continue;
            const auto* label = qobject_cast<const QLabel*>(widget);
            const bool isBox = qobject_cast<const QCheckBox*>(widget) != nullptr;
            if (!isBox && (label == nullptr || label->wordWrap())) continue;
            EXPECT_GE(widget->width(), widget->sizeHint().width())
                << (label != nullptr ? label->text() : widget->objectName()).toStdString();
        }
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

TEST(ConfigForm, theInputsOfAColumnStandInOneLine) {
    gui::ConfigForm form({});
    form.setConfig(withRecipe(engine::RecipeKind::Delayed));
    form.resize(760, 560);
    form.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&form));
    const auto left = [&form](const char* option) {
        const auto* input = form.findChild<QWidget*>(QStringLiteral("field_") + option);
        return input->mapTo(&form, QPoint(0, 0)).x();
    };
    EXPECT_EQ(left("heads"), left("seed"));
    EXPECT_EQ(left("precision"), left("margin"));
    EXPECT_GT(left("precision"), left("heads"));
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
