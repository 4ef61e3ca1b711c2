// The job thread. Every exception of a job ends in one place, Worker::runGuarded; the window lives on.
#include "session_controller.h"

#include "models/formatting.h"

#include <QMetaObject>

#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#ifdef __linux__
#include <sys/resource.h>
#endif

namespace gui {

namespace {

constexpr int kProgressInterval = 100;  // ms

/// The trainer's threads inherit this: the event loop and the reading thread get the cores first.
void lowerPriorityOfThisThread() {
#ifdef __linux__
    constexpr int kNice = 5;
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + kNice);
#endif
}

QString resultText(const jobs::RunResult& result) {
    QString text = QStringLiteral("%1: %2, %3 steps, %4 tokens/s")
                       .arg(QString::fromStdString(result.name), QString::fromUtf8(profiling::name(result.status)),
                            grouped(result.steps), siNumber(result.tokensPerSecond));
    if (result.steps > 0) text += QStringLiteral(", loss %1").arg(significant(result.loss, 4));
    if (!std::isnan(result.valLoss)) text += QStringLiteral(", validation loss %1").arg(significant(result.valLoss, 4));
    if (result.stride.total > 0) {
        text += QStringLiteral(", stride right in %1 of %2").arg(result.stride.correct).arg(result.stride.total);
    }
    return text;
}

QString benchText(const jobs::BenchJob& job, const std::vector<jobs::RunResult>& results) {
    QStringList parts;
    for (const jobs::RunResult& result : results) {
        parts << QStringLiteral("%1 %2 tokens/s")
                     .arg(QString::fromStdString(result.name), siNumber(result.tokensPerSecond));
    }
    return QStringLiteral("%1: %2").arg(QString::fromStdString(job.name), parts.join(QStringLiteral(", ")));
}

}  // namespace

QString label(const Job& job) {
    if (const auto* train = std::get_if<jobs::TrainJob>(&job)) {
        if (!train->name.empty()) return QString::fromStdString(train->name);
        return QString::fromStdString(engine::precisionLabel(train->config.train.precision, train->config.recipe));
    }
    const auto& bench = std::get<jobs::BenchJob>(job);
    return bench.name.empty() ? QStringLiteral("benchmark") : QString::fromStdString(bench.name);
}

struct SessionController::Worker {
    explicit Worker(SessionController* controller) : owner(controller) {
        thread = std::thread([this] { loop(); });
    }
    ~Worker() {
        {
            const std::lock_guard lock(mutex);
            quit = true;
        }
        control.stop.store(true);
        control.paused.store(false);
        wake.notify_all();
        thread.join();
    }

    void give(Job job) {
        control.stop.store(false);
        control.paused.store(false);
        {
            const std::lock_guard lock(mutex);
            next = std::move(job);
            progress.reset();
        }
        wake.notify_all();
    }

    std::optional<jobs::Progress> newestProgress() {
        const std::lock_guard lock(mutex);
        return progress;
    }

    void loop() {
        lowerPriorityOfThisThread();
        for (;;) {
            std::optional<Job> job;
            {
                std::unique_lock lock(mutex);
                wake.wait(lock, [this] { return quit || next; });
                if (quit) return;
                job = std::exchange(next, std::nullopt);
            }
            runGuarded(*job);
        }
    }

    jobs::JobListener listener() {
        jobs::JobListener result;
        result.runStarted = [this](profiling::RunId run, const std::string& name) {
            post([this, run, text = QString::fromStdString(name)] { emit owner->runStarted(run, text); });
        };
        result.stepped = [this](const jobs::Progress& now, const engine::StepStats&) {
            const std::lock_guard lock(mutex);  // the window looks ten times a second: steps may be much faster
            progress = now;
        };
        result.validated = [](std::int64_t, double) {};
        result.event = [](const engine::EngineEvent&) {};
        result.generated = [](const engine::GenerationSample&) {};
        return result;
    }

    void runGuarded(const Job& job) {
        QString text;
        bool failure = true;
        try {
            if (const auto* train = std::get_if<jobs::TrainJob>(&job)) {
                text = resultText(jobs::runTrainJob(*train, control, listener()));
            } else {
                const auto& bench = std::get<jobs::BenchJob>(job);
                text = benchText(bench, jobs::runBenchJob(bench, control, listener()));
            }
            failure = false;
        } catch (const std::bad_alloc&) {
            text = QStringLiteral("%1: out of memory: choose a smaller model or batch").arg(label(job));
        } catch (const std::exception& error) {
            text = QString::fromStdString(error.what());
        } catch (...) {
            text = QStringLiteral("%1: an unknown error ended it: see the events of the run").arg(label(job));
        }
        post([this, text, failure] { owner->jobEnded(text, failure); });
    }

    template <typename Function>
    void post(Function function) {
        QMetaObject::invokeMethod(owner, std::move(function), Qt::QueuedConnection);
    }

    SessionController* owner;
    jobs::JobControl control;
    std::mutex mutex;
    std::condition_variable wake;
    std::optional<Job> next;
    std::optional<jobs::Progress> progress;
    bool quit = false;
    std::thread thread;
};

SessionController::SessionController(QObject* parent) : QObject(parent), m_worker(std::make_unique<Worker>(this)) {
    m_progressTimer.setInterval(kProgressInterval);
    connect(&m_progressTimer, &QTimer::timeout, this, [this] {
        const auto now = m_worker->newestProgress();
        if (!now) return;
        m_progress = {QString::fromStdString(now->label),
                      now->step,
                      now->steps,
                      now->loss,
                      now->tokensPerSecond,
                      now->secondsLeft};
        emit progressed();
    });
}

SessionController::~SessionController() {
    m_worker.reset();
}

QStringList SessionController::queue() const {
    QStringList labels;
    for (const Job& job : m_queue) labels << label(job);
    return labels;
}

void SessionController::enqueue(Job job) {
    m_queue.push_back(std::move(job));
    if (m_state == State::Idle) {
        startNext();
    } else {
        emit queueChanged();
    }
}

void SessionController::removeQueued(int position) {
    if (position < 0 || position >= static_cast<int>(m_queue.size())) return;
    m_queue.erase(m_queue.begin() + position);
    emit queueChanged();
}

void SessionController::clearQueue() {
    m_queue.clear();
    emit queueChanged();
}

void SessionController::startNext() {
    Job job = std::move(m_queue.front());
    m_queue.erase(m_queue.begin());
    m_progress = {};
    m_progress.label = label(job);
    m_worker->give(std::move(job));
    m_progressTimer.start();
    setState(State::Running);
    emit queueChanged();
}

void SessionController::pause() {
    if (m_state != State::Running) return;
    m_worker->control.paused.store(true);
    setState(State::Paused);
}

void SessionController::resume() {
    if (m_state != State::Paused) return;
    m_worker->control.paused.store(false);
    setState(State::Running);
}

void SessionController::stop() {
    if (m_state != State::Running && m_state != State::Paused) return;
    m_worker->control.stop.store(true);
    m_worker->control.paused.store(false);
    setState(State::Stopping);
}

void SessionController::setState(State state) {
    if (state == m_state) return;
    m_state = state;
    emit stateChanged();
}

void SessionController::jobEnded(const QString& text, bool failure) {
    m_progressTimer.stop();
    setState(State::Idle);
    if (failure) {
        emit failed(text);
    } else {
        emit finished(text);
    }
    if (m_state == State::Idle && !m_queue.empty()) startNext();
}

}  // namespace gui
