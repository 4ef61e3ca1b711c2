// Runs jobs (training runs and benchmarks) one after the other on a thread of its own and reports to the GUI thread.
// What a job measures does not pass through here: the views read it from the database like any other run.
#pragma once

#include "jobs/job.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>

#include <memory>
#include <variant>

namespace gui {

using Job = std::variant<jobs::TrainJob, jobs::BenchJob>;
QString label(const Job& job);

struct JobProgress {
    QString label;  // of the run that is being trained
    std::int64_t step = 0;
    std::int64_t steps = 0;
    double loss = 0;
    double tokensPerSecond = 0;
    double secondsLeft = -1;  // negative while unknown
};

class SessionController : public QObject {
    Q_OBJECT
public:
    enum class State : std::uint8_t { Idle = 1, Running = 2, Paused = 3, Stopping = 4 };

    explicit SessionController(QObject* parent = nullptr);
    /// Stops the running job and waits until it is closed in the database.
    ~SessionController() override;

    State state() const { return m_state; }
    bool busy() const { return m_state != State::Idle; }
    const JobProgress& progress() const { return m_progress; }
    QStringList queue() const;

    /// Starts now, or after the jobs that were asked for before.
    void enqueue(Job job);
    void removeQueued(int position);
    void clearQueue();

    void pause();
    void resume();
    /// The job ends after the step it is in; its runs are closed as interrupted.
    void stop();

signals:
    void stateChanged();
    void queueChanged();
    void progressed();  // at most ten times a second; read progress()
    void runStarted(profiling::RunId run, const QString& name);
    void finished(const QString& text);  // what came out, one line
    void failed(const QString& text);    // "what: why: what to do"

private:
    void startNext();
    void setState(State state);
    void jobEnded(const QString& text, bool failure);

    struct Worker;
    std::unique_ptr<Worker> m_worker;
    std::vector<Job> m_queue;
    State m_state = State::Idle;
    JobProgress m_progress;
    QTimer m_progressTimer;
};

}  // namespace gui
