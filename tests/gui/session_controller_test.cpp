// Jobs on their thread: they finish, pause, stop, fail and queue, and what they did is in the database.
#include "session_controller.h"
#include "profiling/queries.h"
#include "qt_wait.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>

namespace {

using gui::SessionController;
using State = gui::SessionController::State;

class SessionControllerTest : public testing::Test {
protected:
    jobs::TrainJob tinyJob(int steps, const char* name = "tiny") const {
        jobs::TrainJob job;
        job.config.model = {1, 16, 1, 16, 0};
        job.config.train.precision = engine::Precision::Fp32;
        job.config.train.batch = 1;
        job.config.train.steps = steps;
        job.config.train.validateEvery = 0;
        job.database = database();
        job.name = name;
        return job;
    }
    std::string database() const { return m_folder.filePath("a.amax").toStdString(); }
    profiling::RunRow newestRun() const { return profiling::Store::open(database())->runs().at(0); }

    QTemporaryDir m_folder;
    SessionController controller;
    QSignalSpy finished{&controller, &SessionController::finished};
    QSignalSpy failed{&controller, &SessionController::failed};
    QSignalSpy started{&controller, &SessionController::runStarted};
};

constexpr int kEndless = 100000000;

TEST_F(SessionControllerTest, aJobRunsToItsLastStepAndSaysWhatCameOut) {
    controller.enqueue(tinyJob(5));
    EXPECT_EQ(controller.state(), State::Running);
    ASSERT_TRUE(waitFor([&] { return finished.size() + failed.size() > 0; }));
    ASSERT_EQ(failed.size(), 0) << failed[0][0].toString().toStdString();
    EXPECT_TRUE(finished[0][0].toString().contains("tiny: finished, 5 steps"))
        << finished[0][0].toString().toStdString();
    EXPECT_EQ(controller.state(), State::Idle);
    EXPECT_EQ(started.size(), 1);
    EXPECT_EQ(newestRun().status, profiling::RunStatus::Finished);
    EXPECT_EQ(newestRun().stepsDone, 5);
}

TEST_F(SessionControllerTest, aPausedJobMakesNoStepsUntilItIsResumed) {
    controller.enqueue(tinyJob(kEndless));
    ASSERT_TRUE(waitFor([&] { return controller.progress().step > 3; }));
    controller.pause();
    EXPECT_EQ(controller.state(), State::Paused);
    std::int64_t before = -1;
    ASSERT_TRUE(waitFor([&] {  // the step it was in may still end
        const bool still = controller.progress().step == before;
        before = controller.progress().step;
        QTest::qWait(300);
        return still;
    }));
    controller.resume();
    EXPECT_TRUE(waitFor([&] { return controller.progress().step > before; }));
    controller.stop();
    ASSERT_TRUE(waitFor([&] { return !controller.busy(); }));
}

TEST_F(SessionControllerTest, aStoppedJobIsClosedAsInterrupted) {
    controller.enqueue(tinyJob(kEndless));
    ASSERT_TRUE(waitFor([&] { return controller.progress().step > 0; }));
    controller.stop();
    EXPECT_EQ(controller.state(), State::Stopping);
    ASSERT_TRUE(waitFor([&] { return !controller.busy(); }));
    EXPECT_EQ(failed.size(), 0);
    EXPECT_EQ(newestRun().status, profiling::RunStatus::Interrupted);
    EXPECT_GT(newestRun().stepsDone, 0);
}

TEST_F(SessionControllerTest, aPausedJobCanBeStopped) {
    controller.enqueue(tinyJob(kEndless));
    ASSERT_TRUE(waitFor([&] { return controller.progress().step > 0; }));
    controller.pause();
    controller.stop();
    EXPECT_TRUE(waitFor([&] { return !controller.busy(); }));
}

TEST_F(SessionControllerTest, aJobThatCannotRunFailsWithItsReasonAndTheNextOneRuns) {
    jobs::TrainJob bad = tinyJob(5, "bad");
    bad.config.train.data = "text:" + m_folder.filePath("missing.txt").toStdString();
    controller.enqueue(bad);
    controller.enqueue(tinyJob(3, "good"));
    EXPECT_EQ(controller.queue(), QStringList{"good"});
    ASSERT_TRUE(waitFor([&] { return finished.size() > 0; }));
    ASSERT_EQ(failed.size(), 1);
    EXPECT_TRUE(failed[0][0].toString().contains("missing.txt")) << failed[0][0].toString().toStdString();
    EXPECT_TRUE(finished[0][0].toString().startsWith("good"));
    EXPECT_TRUE(controller.queue().isEmpty());
}

TEST_F(SessionControllerTest, aQueuedJobCanBeRemovedBeforeItStarts) {
    controller.enqueue(tinyJob(kEndless));
    controller.enqueue(tinyJob(1, "second"));
    controller.enqueue(tinyJob(1, "third"));
    controller.removeQueued(0);
    EXPECT_EQ(controller.queue(), QStringList{"third"});
    controller.clearQueue();
    controller.stop();
    ASSERT_TRUE(waitFor([&] { return !controller.busy(); }));
    EXPECT_EQ(profiling::Store::open(database())->runs().size(), 1U);
}

TEST_F(SessionControllerTest, aBenchmarkStoresEverySample) {
    jobs::BenchJob bench;
    bench.variants = jobs::parseVariants("fp32,bf16", tinyJob(1).config);
    bench.database = database();
    bench.name = "pair";
    bench.warmupSteps = 1;
    bench.repeats = 3;
    bench.stepsPerRepeat = 2;
    controller.enqueue(bench);
    ASSERT_TRUE(waitFor([&] { return finished.size() + failed.size() > 0; }));
    ASSERT_EQ(failed.size(), 0) << failed[0][0].toString().toStdString();
    const auto store = profiling::Store::open(database());
    ASSERT_EQ(store->runs().size(), 2U);
    for (const profiling::RunRow& run : store->runs()) {
        int samples = 0;
        for (const profiling::SampleRow& sample : store->samples(run.id))
            samples += sample.metric == "tokens_per_second";
        EXPECT_EQ(samples, 3);
    }
}

TEST(SessionController, goingAwayClosesTheRunThatIsInProgress) {
    const QTemporaryDir folder;
    jobs::TrainJob job;
    job.config.model = {1, 16, 1, 16, 0};
    job.config.train.precision = engine::Precision::Fp32;
    job.config.train.batch = 1;
    job.config.train.steps = kEndless;
    job.database = folder.filePath("a.amax").toStdString();
    {
        SessionController controller;
        controller.enqueue(job);
        ASSERT_TRUE(waitFor([&] { return controller.progress().step > 0; }));
    }
    EXPECT_EQ(profiling::Store::open(job.database)->runs().at(0).status, profiling::RunStatus::Interrupted);
}

}  // namespace
