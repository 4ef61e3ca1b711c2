// The form for a configuration: every field is written and read back by clicks and keys, what does not apply is off or
// hidden, problems stand at their field.
#include "views/config_form.h"
#include "form_support.h"
#include "jobs/option_effect.h"
#include "models/config_form_model.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

#include <algorithm>

namespace {

using engine::RunConfig;

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

}  // namespace
