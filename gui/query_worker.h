// Runs queries off the GUI thread. Views ask with a function on the Store; the answer arrives as an immutable result
// on the GUI thread, or not at all when the view asked again (same key) or is gone.
#pragma once

#include "profiling/queries.h"

#include <QObject>
#include <QPointer>
#include <QString>

#include <functional>
#include <memory>

namespace gui {

class QueryWorker : public QObject {
    Q_OBJECT
public:
    explicit QueryWorker(QObject* parent = nullptr);
    ~QueryWorker() override;

    /// Opens another file (or none: ""). Emits databaseOpened or failed later.
    void setDatabase(const QString& path);
    QString database() const;

    /// `query` runs on the worker's thread, `done` on the GUI thread. `key` names the question within `context`: a
    /// later ask with the same key makes an earlier answer obsolete. Answers of a file that is no longer open are
    /// dropped.
    template <typename T>
    void ask(QObject* context, const char* key, std::function<T(profiling::Store&)> query,
             std::function<void(std::shared_ptr<const T>)> done) {
        post(
            context, key,
            [query = std::move(query)](profiling::Store& store) -> std::shared_ptr<const void> {
                return std::make_shared<const T>(query(store));
            },
            [done = std::move(done)](std::shared_ptr<const void> result) {
                done(std::static_pointer_cast<const T>(std::move(result)));
            });
    }

    /// True when no question is waiting or running: for tests and for screenshots.
    bool idle() const;

signals:
    void databaseOpened(const QString& path);
    void databaseChanged();            // some program committed to the file; at most five times a second
    void failed(const QString& text);  // an Error's text, for the message bar

private:
    using Query = std::function<std::shared_ptr<const void>(profiling::Store&)>;
    using Done = std::function<void(std::shared_ptr<const void>)>;
    void post(QObject* context, const char* key, Query query, Done done);

    struct State;
    std::unique_ptr<State> m_state;
};

}  // namespace gui
