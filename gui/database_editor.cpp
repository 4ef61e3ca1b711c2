// Edits of the run database, away from the event loop: another program may hold the file for a moment.
#include "database_editor.h"

#include "profiling/queries.h"

#include <QDir>
#include <QFileInfo>
#include <QMetaObject>

#include <exception>
#include <utility>

namespace gui {

DatabaseEditor::DatabaseEditor(QObject* parent) : QObject(parent) {
    m_pool.setMaxThreadCount(1);
}

DatabaseEditor::~DatabaseEditor() {
    m_pool.waitForDone();
}

void DatabaseEditor::enqueue(std::function<void()> work, std::function<void()> done) {
    m_pool.start([this, work = std::move(work), done = std::move(done)] {
        QString error;
        try {
            work();
        } catch (const std::exception& thrown) {
            error = QString::fromStdString(thrown.what());
        }
        QMetaObject::invokeMethod(
            this,
            [this, done, error] {
                if (!error.isEmpty()) {
                    emit failed(error);
                } else if (done) {
                    done();
                }
            },
            Qt::QueuedConnection);
    });
}

void DatabaseEditor::create(const QString& path) {
    enqueue(
        [path] {
            QDir().mkpath(QFileInfo(path).absolutePath());
            profiling::Session::open(path.toStdString());
        },
        [this, path] { emit ready(path); });
}

void DatabaseEditor::renameRun(const QString& path, profiling::RunId run, const QString& name) {
    enqueue([path, run, name] { profiling::Session::open(path.toStdString())->renameRun(run, name.toStdString()); },
            {});
}

void DatabaseEditor::setRunsDeleted(const QString& path, const std::vector<profiling::RunId>& runs, bool deleted) {
    enqueue([path, runs, deleted] { profiling::Session::open(path.toStdString())->setRunsDeleted(runs, deleted); }, {});
}

void DatabaseEditor::setBenchBaseline(const QString& path, profiling::BenchId bench, profiling::RunId run) {
    enqueue([path, bench, run] { profiling::Session::open(path.toStdString())->setBenchBaseline(bench, run); }, {});
}

void DatabaseEditor::saveCopy(const QString& path, const QString& target) {
    enqueue([path, target] { profiling::Store::open(path.toStdString())->saveCopy(target.toStdString(), true); },
            [this, target] { emit copied(target); });
}

}  // namespace gui
