// Questions and answers across threads: order, obsolete answers, files that change, files that cannot be opened.
#include "query_worker.h"
#include "profiling/error.h"
#include "profiling/session.h"
#include "qt_wait.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QThread>

#include <memory>

namespace {

using gui::QueryWorker;
using profiling::Session;
using profiling::Store;

class QueryWorkerTest : public testing::Test {
protected:
    QString path(const char* name) const { return m_folder.filePath(name); }
    void open(const QString& file) {
        Session::open(file.toStdString());
        worker.setDatabase(file);
        ASSERT_TRUE(waitFor([&] { return worker.database() == file; }));
    }

    QTemporaryDir m_folder;
    QueryWorker worker;
};

TEST_F(QueryWorkerTest, answersOnTheGuiThreadWhatItAskedOnAnother) {
    open(path("a.amax"));
    QThread* asked = nullptr;
    QThread* answered = nullptr;
    worker.ask<int>(
        &worker, "n",
        [&asked](Store& store) {
            asked = QThread::currentThread();
            return static_cast<int>(store.runs().size()) + 41;
        },
        [&](const std::shared_ptr<const int>& n) {
            answered = QThread::currentThread();
            EXPECT_EQ(*n, 41);
        });
    EXPECT_FALSE(worker.idle());
    ASSERT_TRUE(waitFor([&] { return worker.idle(); }));
    EXPECT_EQ(answered, QThread::currentThread());
    EXPECT_NE(asked, answered);
}

TEST_F(QueryWorkerTest, aLaterAskMakesTheEarlierAnswerObsolete) {
    open(path("a.amax"));
    std::vector<int> answers;
    const auto done = [&answers](const std::shared_ptr<const int>& n) { answers.push_back(*n); };
    for (int i = 0; i < 50; ++i)
        worker.ask<int>(
            &worker, "same", [i](Store&) { return i; }, done);
    worker.ask<int>(
        &worker, "other", [](Store&) { return 1000; }, done);
    ASSERT_TRUE(waitFor([&] { return worker.idle(); }));
    EXPECT_EQ(answers, (std::vector<int>{49, 1000}));
}

TEST_F(QueryWorkerTest, aViewThatIsGoneGetsNoAnswer) {
    open(path("a.amax"));
    auto context = std::make_unique<QObject>();
    bool answered = false;
    worker.ask<int>(
        context.get(), "n", [](Store&) { return 1; },
        [&answered](const std::shared_ptr<const int>&) { answered = true; });
    context.reset();
    ASSERT_TRUE(waitFor([&] { return worker.idle(); }));
    EXPECT_FALSE(answered);
}

TEST_F(QueryWorkerTest, answersOfAFileThatIsNoLongerOpenAreDropped) {
    open(path("a.amax"));
    Session::open(path("b.amax").toStdString());
    worker.setDatabase(path("b.amax"));
    bool answered = false;
    worker.ask<int>(
        &worker, "n", [](Store&) { return 1; }, [&answered](const std::shared_ptr<const int>&) { answered = true; });
    ASSERT_TRUE(waitFor([&] { return worker.idle(); }));
    EXPECT_EQ(worker.database(), path("b.amax"));
    EXPECT_FALSE(answered);
}

TEST_F(QueryWorkerTest, aCommitOfAnotherConnectionIsAnnounced) {
    open(path("a.amax"));
    QSignalSpy changed(&worker, &QueryWorker::databaseChanged);
    Session::open(path("a.amax").toStdString())->createBench("new");
    EXPECT_TRUE(waitFor([&] { return changed.size() > 0; }));
}

TEST_F(QueryWorkerTest, aFileThatCannotBeOpenedIsSaidAndTheOldOneStays) {
    open(path("a.amax"));
    QFile file(path("text.amax"));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("this is not a database, only a text that is long enough to have a header to look at.............");
    file.close();
    QSignalSpy failed(&worker, &QueryWorker::failed);
    worker.setDatabase(path("text.amax"));
    ASSERT_TRUE(waitFor([&] { return failed.size() > 0; }));
    EXPECT_TRUE(failed[0][0].toString().contains("text.amax")) << failed[0][0].toString().toStdString();
    EXPECT_EQ(worker.database(), path("a.amax"));
    worker.setDatabase(path("missing.amax"));
    ASSERT_TRUE(waitFor([&] { return failed.size() > 1; }));
    EXPECT_EQ(worker.database(), path("a.amax"));
}

TEST_F(QueryWorkerTest, aQuestionThatFailsIsReportedAndTheNextIsAnswered) {
    open(path("a.amax"));
    QSignalSpy failed(&worker, &QueryWorker::failed);
    worker.ask<int>(
        &worker, "bad",
        [](Store&) -> int { throw profiling::Error(profiling::ErrorKind::Failure, "a.amax", "damaged", "copy it"); },
        [](const std::shared_ptr<const int>&) { ADD_FAILURE() << "it was not answered"; });
    bool answered = false;
    worker.ask<int>(
        &worker, "good", [](Store&) { return 1; }, [&answered](const std::shared_ptr<const int>&) { answered = true; });
    ASSERT_TRUE(waitFor([&] { return worker.idle(); }));
    EXPECT_EQ(failed.size(), 1);
    EXPECT_TRUE(answered);
}

TEST_F(QueryWorkerTest, aQuestionAboutARunThatIsGoneIsDroppedInSilence) {
    open(path("a.amax"));
    QSignalSpy failed(&worker, &QueryWorker::failed);
    worker.ask<int>(
        &worker, "gone", [](Store& store) { return static_cast<int>(store.run({77}).lastStep); },
        [](const std::shared_ptr<const int>&) { ADD_FAILURE() << "there is no run 77"; });
    ASSERT_TRUE(waitFor([&] { return worker.idle(); }));
    EXPECT_TRUE(failed.isEmpty());
}

TEST_F(QueryWorkerTest, theJournalModeIsReadOffTheFile) {
    open(path("a.amax"));
    std::shared_ptr<const profiling::FileInfo> status;
    const auto askStatus = [&] {
        status.reset();
        worker.ask<profiling::FileInfo>(
            &worker, "file", [](Store& store) { return store.fileInfo(); },
            [&status](const std::shared_ptr<const profiling::FileInfo>& s) { status = s; });
        return waitFor([&] { return status != nullptr; });
    };
    ASSERT_TRUE(askStatus());
    EXPECT_TRUE(status->wal);
    profiling::Store::open(path("a.amax").toStdString())->saveCopy(path("copy.amax").toStdString(), false);
    worker.setDatabase(path("copy.amax"));  // a Session would turn the copy into a log of its own
    ASSERT_TRUE(waitFor([&] { return worker.database() == path("copy.amax"); }));
    ASSERT_TRUE(askStatus());
    EXPECT_FALSE(status->wal);
}

}  // namespace
