// Clicks through the window as a user would: new run, live plots, pause, stop, export; then files, deleting, closing.
#include "views/main_window.h"
#include "models/runs_model.h"
#include "profiling/queries.h"
#include "profiling/session.h"
#include "qt_wait.h"
#include "views/help_dialog.h"
#include "views/message_bar.h"
#include "views/stability_view.h"
#include "views/throughput_view.h"

#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QToolButton>

#include <memory>

namespace {

using gui::MainWindow;
using State = gui::SessionController::State;

class MainWindowTest : public testing::Test {
protected:
    void SetUp() override {
        QSettings().clear();
        window = std::make_unique<MainWindow>();
        window->resize(1280, 720);
        window->show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(window.get()));
    }

    QString database() const { return folder.filePath("a.amax"); }
    void openFresh() {
        profiling::Session::open(database().toStdString());
        window->openDatabase(database());
        ASSERT_TRUE(waitFor([&] { return window->worker()->database() == database(); }));
    }

    void clickTool(const char* action) {
        auto* button = window->findChild<QToolButton*>(QStringLiteral("button_") + action);
        ASSERT_NE(button, nullptr) << action;
        ASSERT_TRUE(button->isEnabled()) << action;
        QTest::mouseClick(button, Qt::LeftButton);
    }
    QDialog* dialog(const char* name) {
        QDialog* found = nullptr;
        waitFor([&] { return (found = window->findChild<QDialog*>(name)) != nullptr && found->isVisible(); });
        return found;
    }
    static void type(QLineEdit* line, const QString& text) {
        line->setFocus();
        line->selectAll();
        QTest::keyClicks(line, text);
    }
    static void type(QSpinBox* box, int value) {
        box->setFocus();
        box->selectAll();
        QTest::keyClicks(box, QString::number(value));
    }

    /// Fills the New run form with a model that trains in no time, by keys and clicks.
    void startTinyRun(const QString& name, int steps) {
        ASSERT_NO_FATAL_FAILURE(clickTool("newRun"));
        QDialog* form = dialog("newRunDialog");
        ASSERT_NE(form, nullptr);
        type(form->findChild<QLineEdit*>("jobName"), name);
        type(form->findChild<QSpinBox*>("field_layers"), 1);
        type(form->findChild<QSpinBox*>("field_d-model"), 32);
        type(form->findChild<QSpinBox*>("field_heads"), 2);
        type(form->findChild<QSpinBox*>("field_seq-len"), 16);
        type(form->findChild<QSpinBox*>("field_batch"), 2);
        type(form->findChild<QSpinBox*>("field_steps"), steps);
        type(form->findChild<QSpinBox*>("field_validate-every"), 0);
        auto* precision = form->findChild<QComboBox*>("field_precision");
        precision->setFocus();
        QTest::keyClicks(precision, "fp8");
        ASSERT_EQ(precision->currentText(), "fp8");
        auto* start = form->findChild<QPushButton*>("startButton");
        ASSERT_TRUE(start->isEnabled()) << form->findChild<QLabel*>("startReason")->text().toStdString();
        QTest::mouseClick(start, Qt::LeftButton);
        ASSERT_TRUE(window->controller()->busy());
    }

    void finishJob() {
        ASSERT_TRUE(waitFor([&] { return !window->controller()->busy(); }));
        ASSERT_TRUE(waitFor([&] {
            const auto& runs = window->runsModel()->runs();
            return !runs.empty() && runs.front().status != profiling::RunStatus::Running;
        }));
    }

    QTemporaryDir folder;
    std::unique_ptr<MainWindow> window;
};

constexpr int kEndless = 100000000;

TEST_F(MainWindowTest, aRunIsStartedWatchedPausedStoppedAndReportedByMouseAndKeyboard) {
    ASSERT_NO_FATAL_FAILURE(openFresh());
    ASSERT_NO_FATAL_FAILURE(startTinyRun("clicked", kEndless));
    EXPECT_TRUE(waitFor([&] { return window->findChild<QDialog*>("newRunDialog") == nullptr; }));

    // The views draw what arrives in the database, and go on growing while the job runs.
    auto* stability = window->findChild<gui::StabilityView*>();
    auto* throughput = window->findChild<gui::ThroughputView*>();
    ASSERT_TRUE(stability && throughput);
    ASSERT_TRUE(waitFor([&] { return stability->pointCount() > 20; }));
    const auto before = stability->pointCount();
    ASSERT_TRUE(waitFor([&] { return stability->pointCount() > before; }));
    ASSERT_TRUE(waitFor([&] { return throughput->seriesCount() == 1; }));
    EXPECT_GT(stability->seriesCount(), 0);
    const auto* status = window->findChild<QLabel*>("statusJob");
    EXPECT_TRUE(waitFor([&] { return status->text().contains("clicked") && status->text().contains("tok/s"); }))
        << status->text().toStdString();

    ASSERT_NO_FATAL_FAILURE(clickTool("pause"));
    EXPECT_EQ(window->controller()->state(), State::Paused);
    EXPECT_TRUE(status->text().contains("paused"));
    ASSERT_NO_FATAL_FAILURE(clickTool("pause"));
    EXPECT_EQ(window->controller()->state(), State::Running);
    ASSERT_NO_FATAL_FAILURE(clickTool("stop"));
    ASSERT_NO_FATAL_FAILURE(finishJob());
    EXPECT_EQ(window->runsModel()->runs().front().status, profiling::RunStatus::Interrupted);

    ASSERT_NO_FATAL_FAILURE(clickTool("exportReport"));
    QDialog* exporting = dialog("exportDialog");
    ASSERT_NE(exporting, nullptr);
    const QString report = folder.filePath("report.html");
    type(exporting->findChild<QLineEdit*>("exportPath"), report);
    QTest::mouseClick(exporting->findChild<QPushButton*>("exportButton"), Qt::LeftButton);
    ASSERT_TRUE(waitFor([&] { return window->messageBar()->text().contains(report); }))
        << window->messageBar()->text().toStdString();
    QFile file(report);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QByteArray html = file.readAll();
    EXPECT_TRUE(html.trimmed().endsWith("</html>"));
    EXPECT_TRUE(html.contains("clicked"));
    EXPECT_TRUE(html.contains("<svg"));
}

TEST_F(MainWindowTest, withoutAFileTheUsersOwnDatabaseIsMadeAndOpened) {
    window->openDatabase({});
    ASSERT_TRUE(waitFor([&] { return window->worker()->database().endsWith("runs.amax"); }));
    EXPECT_TRUE(QFileInfo::exists(window->worker()->database()));
}

TEST_F(MainWindowTest, aFileThatIsNotOursIsNamedInTheMessageBar) {
    QFile file(database());
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(5000, 'x'));
    file.close();
    window->openDatabase(database());
    EXPECT_TRUE(waitFor([&] { return window->messageBar()->text().contains("a.amax"); }));
    EXPECT_TRUE(window->isVisible());
}

TEST_F(MainWindowTest, aDeletedRunComesBackWithUndo) {
    ASSERT_NO_FATAL_FAILURE(openFresh());
    ASSERT_NO_FATAL_FAILURE(startTinyRun("short", 3));
    ASSERT_NO_FATAL_FAILURE(finishJob());
    auto* list = window->findChild<QListView*>("runsList");
    ASSERT_TRUE(waitFor([&] { return list->currentIndex().isValid(); }));
    window->activateWindow();
    list->setFocus();
    ASSERT_TRUE(waitFor([&] { return list->hasFocus(); }));
    QTest::keyClick(list, Qt::Key_Delete);
    ASSERT_TRUE(waitFor([&] { return window->runsModel()->rowCount() == 0; }))
        << window->messageBar()->text().toStdString();
    auto* undo = window->findChild<QPushButton*>("messageAction");
    ASSERT_TRUE(undo->isVisible()) << window->messageBar()->text().toStdString();
    QTest::mouseClick(undo, Qt::LeftButton);
    EXPECT_TRUE(waitFor([&] { return window->runsModel()->rowCount() == 1; }))
        << window->messageBar()->text().toStdString();
}

TEST_F(MainWindowTest, aRunIsRenamedInTheList) {
    ASSERT_NO_FATAL_FAILURE(openFresh());
    ASSERT_NO_FATAL_FAILURE(startTinyRun("old", 3));
    ASSERT_NO_FATAL_FAILURE(finishJob());
    auto* list = window->findChild<QListView*>("runsList");
    ASSERT_TRUE(waitFor([&] { return list->currentIndex().isValid(); }));
    window->findChild<QAction*>("renameRun")->trigger();
    auto* editor = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    if (editor == nullptr) editor = list->findChild<QLineEdit*>();
    ASSERT_NE(editor, nullptr);
    type(editor, "new name");
    QTest::keyClick(editor, Qt::Key_Return);
    EXPECT_TRUE(waitFor([&] { return window->runsModel()->runs().front().name == "new name"; }));
}

TEST_F(MainWindowTest, spaceInTheListTakesARunOutOfTheComparingViews) {
    ASSERT_NO_FATAL_FAILURE(openFresh());
    ASSERT_NO_FATAL_FAILURE(startTinyRun("short", 3));
    ASSERT_NO_FATAL_FAILURE(finishJob());
    auto* list = window->findChild<QListView*>("runsList");
    ASSERT_TRUE(waitFor([&] { return list->currentIndex().isValid(); }));
    EXPECT_EQ(window->selection()->visibleRuns().size(), 1U);
    list->setFocus();
    QTest::keyClick(list, Qt::Key_Space);
    EXPECT_TRUE(window->selection()->visibleRuns().empty());
}

TEST_F(MainWindowTest, aSecondRunWaitsInTheQueueUntilTheFirstEnds) {
    ASSERT_NO_FATAL_FAILURE(openFresh());
    ASSERT_NO_FATAL_FAILURE(startTinyRun("first", kEndless));
    ASSERT_NO_FATAL_FAILURE(startTinyRun("second", 3));
    EXPECT_EQ(window->controller()->queue(), QStringList{"second"});
    EXPECT_TRUE(window->findChild<QLabel*>("statusJob")->text().contains("1 queued"));
    ASSERT_NO_FATAL_FAILURE(clickTool("stop"));
    ASSERT_TRUE(waitFor([&] { return window->runsModel()->rowCount() == 2; }));
    ASSERT_NO_FATAL_FAILURE(finishJob());
    EXPECT_EQ(window->runsModel()->runs().front().name, "second");
}

TEST_F(MainWindowTest, closingStopsTheJobFirstAndSaysSo) {
    ASSERT_NO_FATAL_FAILURE(openFresh());
    ASSERT_NO_FATAL_FAILURE(startTinyRun("endless", kEndless));
    ASSERT_TRUE(waitFor([&] { return window->controller()->progress().step > 0; }));
    window->close();
    EXPECT_TRUE(window->isVisible());
    EXPECT_TRUE(window->messageBar()->text().contains("Stopping"));
    ASSERT_TRUE(waitFor([&] { return !window->isVisible(); }));
    const auto runs = profiling::Store::open(database().toStdString())->runs();
    EXPECT_EQ(runs.at(0).status, profiling::RunStatus::Interrupted);
}

TEST_F(MainWindowTest, remembersFilesThemeAndPanels) {
    ASSERT_NO_FATAL_FAILURE(openFresh());
    window->findChild<QAction*>("theme_dark")->trigger();
    window->findChild<QAction*>("runsPanel")->trigger();
    window->close();
    const MainWindow again;
    EXPECT_TRUE(again.findChild<QAction*>("theme_dark")->isChecked());
    EXPECT_FALSE(again.findChild<QAction*>("runsPanel")->isChecked());
    EXPECT_TRUE(QSettings().value("recentFiles").toStringList().contains(database()));
    again.findChild<QAction*>("theme_system")->trigger();
}

TEST_F(MainWindowTest, aRunThatAnotherProgramDeletedIsLeftWithoutAnError) {
    ASSERT_NO_FATAL_FAILURE(openFresh());
    ASSERT_NO_FATAL_FAILURE(startTinyRun("stays", 3));
    ASSERT_NO_FATAL_FAILURE(finishJob());
    ASSERT_NO_FATAL_FAILURE(startTinyRun("goes", 3));
    ASSERT_NO_FATAL_FAILURE(finishJob());
    ASSERT_TRUE(waitFor([&] { return window->runsModel()->rowCount() == 2 && window->worker()->idle(); }));
    const auto goes = window->runsModel()->runs().front().id;
    window->selection()->setCurrentRun(goes);
    window->messageBar()->hide();
    profiling::Session::open(database().toStdString())->setRunsDeleted({goes}, true);
    EXPECT_TRUE(waitFor([&] { return window->runsModel()->rowCount() == 1; }));
    EXPECT_TRUE(waitFor([&] { return window->worker()->idle(); }));
    EXPECT_EQ(window->selection()->currentRun(), window->runsModel()->runs().front().id);
    EXPECT_EQ(window->messageBar()->text(), QString());
}

TEST_F(MainWindowTest, theUserGuideIsBuiltInAndItsLinksWork) {
    window->findChild<QAction*>("userGuide")->trigger();
    auto* help = window->findChild<gui::HelpDialog*>("helpDialog");
    ASSERT_NE(help, nullptr);
    EXPECT_TRUE(help->browser()->toPlainText().contains("amaxscope-cli train"));
    help->browser()->setSource(QUrl("numbers.md"));  // as a click on the link does
    EXPECT_TRUE(help->browser()->toPlainText().contains("headroom"));
    EXPECT_TRUE(help->findChild<QPushButton*>("helpBack")->isEnabled());
}

TEST_F(MainWindowTest, everyCommandOfTheRunMenuIsEnabledWhenItCanDoSomething) {
    ASSERT_NO_FATAL_FAILURE(openFresh());
    const auto enabled = [this](const char* name) { return window->findChild<QAction*>(name)->isEnabled(); };
    EXPECT_TRUE(enabled("newRun") && enabled("newBenchmark"));
    EXPECT_FALSE(enabled("pause") || enabled("stop"));
    ASSERT_NO_FATAL_FAILURE(startTinyRun("endless", kEndless));
    EXPECT_TRUE(enabled("pause") && enabled("stop"));
    window->controller()->stop();
    ASSERT_NO_FATAL_FAILURE(finishJob());
    EXPECT_FALSE(enabled("pause") || enabled("stop"));
}

/// The pictures of the README: a benchmark of real training, recorded here. AMAXSCOPE_SCREENSHOTS names the folder.
TEST_F(MainWindowTest, writesThePicturesOfTheReadmeWhenAskedTo) {
    const QString target = qEnvironmentVariable("AMAXSCOPE_SCREENSHOTS");
    if (target.isEmpty()) GTEST_SKIP() << "AMAXSCOPE_SCREENSHOTS names no folder";
    ASSERT_NO_FATAL_FAILURE(openFresh());
    engine::RunConfig config = engine::presetConfig("tutorial");
    config.train.data = "text:" AMAXSCOPE_SOURCE_DIR "/LICENSE";
    jobs::BenchJob bench;
    bench.variants = jobs::parseVariants("fp32,bf16,fp8:delayed:hybrid,fp8:delayed:e4m3", config);
    bench.database = database().toStdString();
    bench.name = "precisions";
    bench.repeats = 10;
    bench.stepsPerRepeat = 12;
    window->resize(1400, 860);
    window->findChild<QAction*>("bottomPanel")->setChecked(false);
    window->findChild<QAction*>("bottomPanel")->trigger();
    window->controller()->enqueue(bench);
    ASSERT_TRUE(waitFor([&] { return !window->controller()->busy(); }, 240000));
    window->messageBar()->hide();
    ASSERT_TRUE(waitFor([&] { return window->worker()->idle() && window->runsModel()->rowCount() == 4; }));
    for (const auto& run : window->runsModel()->runs()) {
        if (run.name.find("hybrid") != std::string::npos) window->selection()->setCurrentRun(run.id);
    }
    QTest::qWait(2500);  // the heat map is read once a second
    window->selection()->setCursorStep(84);
    for (const char* theme : {"light", "dark"}) {
        window->overrideTheme(gui::themeFromName(theme));
        QTest::qWait(500);
        const QString path = QStringLiteral("%1/screenshot-%2.png").arg(target, theme);
        ASSERT_TRUE(window->grab().save(path)) << path.toStdString();
        EXPECT_LT(QFileInfo(path).size(), 400000);
    }
    window->overrideTheme(gui::Theme::System);
}

/// The same on a small screen, with everything observed and each thing the stability view can show, for reviews.
TEST_F(MainWindowTest, writesPicturesOfASmallScreenWhenAskedTo) {
    const QString target = qEnvironmentVariable("AMAXSCOPE_SMALL_SCREENSHOTS");
    if (target.isEmpty()) GTEST_SKIP() << "AMAXSCOPE_SMALL_SCREENSHOTS names no folder";
    ASSERT_NO_FATAL_FAILURE(openFresh());
    engine::RunConfig config = engine::presetConfig("tutorial");
    config.train.data = "text:" AMAXSCOPE_SOURCE_DIR "/LICENSE";
    config.train.observe = "input,weight,grad_output,output,dgrad,wgrad";
    config.train.exponentsEvery = 10;
    config.train.keepBf16 = "layer.0.attn.qkv,lm_head";
    jobs::BenchJob bench;
    bench.variants = jobs::parseVariants("fp32,bf16,fp8:delayed:hybrid,fp8:current,fp8:block,fp8:nvfp4", config);
    bench.database = database().toStdString();
    bench.name = "recipes";
    bench.repeats = 6;
    bench.stepsPerRepeat = 5;
    window->controller()->enqueue(bench);
    ASSERT_TRUE(waitFor([&] { return !window->controller()->busy(); }, 240000));
    window->messageBar()->hide();
    ASSERT_TRUE(waitFor([&] { return window->worker()->idle() && window->runsModel()->rowCount() == 6; }));
    auto* lower = window->findChild<QTabBar*>("stabilityLower");
    auto* mode = window->findChild<QComboBox*>("stabilityMode");
    for (const char* part : {"delayed", "block", "nvfp4", "bf16"}) {
        for (const auto& run : window->runsModel()->runs()) {
            if (run.name.find(part) != std::string::npos) window->selection()->setCurrentRun(run.id);
        }
        QTest::qWait(2000);
        window->selection()->setCursorStep(25);
        for (const char* theme : {"light", "dark"}) {
            window->overrideTheme(gui::themeFromName(theme));
            for (const int tab : {0, 1}) {
                lower->setCurrentIndex(tab);
                mode->setCurrentIndex(tab);
                QTest::qWait(400);
                const QString path = QStringLiteral("%1/small-%2-%3-%4.png").arg(target, part, theme).arg(tab);
                ASSERT_TRUE(window->grab().save(path)) << path.toStdString();
            }
        }
    }
    window->overrideTheme(gui::Theme::System);
}

TEST_F(MainWindowTest, fitsA1280By720Screen) {
    ASSERT_NO_FATAL_FAILURE(openFresh());
    EXPECT_LE(window->minimumSizeHint().width(), 1280);
    EXPECT_LE(window->minimumSizeHint().height(), 720);
}

}  // namespace
