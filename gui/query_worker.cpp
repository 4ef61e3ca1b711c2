// The reading thread: owns the Store, answers questions in the order they came, and looks five times a second whether
// any program wrote to the file. Everything that leaves this thread is delivered on the GUI thread.
#include "query_worker.h"

#include "profiling/error.h"

#include <QMetaObject>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace gui {

namespace {

constexpr auto kPollInterval = std::chrono::milliseconds(200);

struct QuestionName {
    const QObject* context;
    std::string key;
    auto operator<=>(const QuestionName&) const = default;
};

std::string textOfCurrentException() {
    try {
        throw;
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "reading the database: an unknown error happened: open the file again";
    }
}

/// The run was deleted, here or by another program, after it was asked about. Nobody waits for this answer: the list
/// of runs that is on its way makes the window leave the run.
bool isAboutGoneRun(const profiling::Error& error) {
    return error.kind() == profiling::ErrorKind::Usage && error.subject().starts_with("run ");
}

}  // namespace

struct QueryWorker::State {
    struct Request {
        QPointer<QObject> context;
        QuestionName name;
        std::uint64_t token = 0;
        std::uint64_t generation = 0;
        Query query;
        Done done;
        bool opens = false;  // a change of file instead of a query
        QString path;
    };

    explicit State(QueryWorker* worker) : owner(worker) {}

    // GUI thread only.
    QueryWorker* owner;
    QString path;
    std::uint64_t generation = 0;  // of the file whose answers are wanted
    std::uint64_t nextGeneration = 0;
    std::uint64_t nextToken = 0;
    std::map<QuestionName, std::uint64_t> newest;
    int pending = 0;

    // Shared.
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<Request> requests;
    bool quit = false;
    std::atomic<bool> changeAnnounced{false};

    // Worker thread only.
    std::unique_ptr<profiling::Store> store;
    std::uint64_t storeGeneration = 0;
    std::int64_t version = 0;
    bool pollFailed = false;

    std::thread thread;

    void loop();
    void poll();
    void openFile(const Request& request);
    void answer(Request& request);
    template <typename Function>
    void onGuiThread(Function function) {
        QMetaObject::invokeMethod(owner, std::move(function), Qt::QueuedConnection);
    }
};

void QueryWorker::State::loop() {
    auto lastPoll = std::chrono::steady_clock::now();
    for (;;) {
        Request request;
        bool have = false;
        {
            std::unique_lock lock(mutex);
            wake.wait_for(lock, kPollInterval, [this] { return quit || !requests.empty(); });
            if (quit) break;
            if (!requests.empty()) {
                request = std::move(requests.front());
                requests.pop_front();
                have = true;
            }
        }
        if (have && request.opens) {
            openFile(request);
        } else if (have) {
            answer(request);
        }
        // By the clock, so that a stream of questions cannot keep the file from being looked at.
        if (std::chrono::steady_clock::now() - lastPoll >= kPollInterval) {
            poll();
            lastPoll = std::chrono::steady_clock::now();
        }
    }
    store.reset();
}

void QueryWorker::State::poll() {
    if (!store || pollFailed || changeAnnounced.load()) return;
    try {
        const std::int64_t now = store->dataVersion();
        if (now == version) return;
        version = now;
        changeAnnounced.store(true);
        onGuiThread([this] {
            changeAnnounced.store(false);
            emit owner->databaseChanged();
        });
    } catch (...) {
        pollFailed = true;  // said once; opening the file again starts afresh
        const QString text = QString::fromStdString(textOfCurrentException());
        onGuiThread([this, text] { emit owner->failed(text); });
    }
}

void QueryWorker::State::openFile(const Request& request) {
    QString error;
    try {
        std::unique_ptr<profiling::Store> opened;
        std::int64_t first = 0;
        if (!request.path.isEmpty()) {
            opened = profiling::Store::open(request.path.toStdString());
            first = opened->dataVersion();
        }
        store = std::move(opened);
        storeGeneration = request.generation;
        version = first;
        pollFailed = false;
    } catch (...) {
        error = QString::fromStdString(textOfCurrentException());
    }
    onGuiThread([this, error, newPath = request.path, newGeneration = request.generation] {
        --pending;
        if (!error.isEmpty()) {
            emit owner->failed(error);  // the file that was open stays open
            return;
        }
        path = newPath;
        generation = newGeneration;
        newest.clear();
        emit owner->databaseOpened(newPath);
    });
}

void QueryWorker::State::answer(Request& request) {
    std::shared_ptr<const void> result;
    QString error;
    const bool current = store && storeGeneration == request.generation;
    if (current) {
        try {
            result = request.query(*store);
        } catch (const profiling::Error& thrown) {
            if (!isAboutGoneRun(thrown)) error = QString::fromUtf8(thrown.what());
        } catch (...) {
            error = QString::fromStdString(textOfCurrentException());
        }
    }
    onGuiThread([this, request = std::move(request), result = std::move(result), error]() mutable {
        const auto found = newest.find(request.name);
        const bool wanted = generation == request.generation && found != newest.end() && found->second == request.token;
        if (wanted && request.context) {
            newest.erase(found);
            if (!error.isEmpty()) {
                emit owner->failed(error);
            } else if (result) {
                request.done(std::move(result));
            }
        }
        --pending;
    });
}

QueryWorker::QueryWorker(QObject* parent) : QObject(parent), m_state(std::make_unique<State>(this)) {
    m_state->thread = std::thread([state = m_state.get()] { state->loop(); });
}

QueryWorker::~QueryWorker() {
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->quit = true;
    }
    m_state->wake.notify_all();
    m_state->thread.join();
}

void QueryWorker::setDatabase(const QString& path) {
    State::Request request;
    request.opens = true;
    request.path = path;
    request.generation = ++m_state->nextGeneration;
    ++m_state->pending;
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->requests.push_back(std::move(request));
    }
    m_state->wake.notify_all();
}

QString QueryWorker::database() const {
    return m_state->path;
}

bool QueryWorker::idle() const {
    return m_state->pending == 0;
}

void QueryWorker::post(QObject* context, const char* key, Query query, Done done) {
    State::Request request;
    request.context = context;
    request.name = {context, key};
    request.token = ++m_state->nextToken;
    request.generation = m_state->generation;
    request.query = std::move(query);
    request.done = std::move(done);
    m_state->newest[request.name] = request.token;
    {
        const std::lock_guard lock(m_state->mutex);
        // The same question still waiting is replaced where it stands, so that asking often never delays the answer.
        for (State::Request& waiting : m_state->requests) {
            if (!waiting.opens && waiting.name == request.name) {
                waiting = std::move(request);
                return;
            }
        }
        m_state->requests.push_back(std::move(request));
        ++m_state->pending;
    }
    m_state->wake.notify_all();
}

}  // namespace gui
