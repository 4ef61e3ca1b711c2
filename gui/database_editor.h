// The few writes that the window itself makes to a run database, on a thread of their own and in order: creating a
// file, renaming, deleting and bringing back runs, baselines, saving a copy.
#pragma once

#include "profiling/session.h"

#include <QObject>
#include <QString>
#include <QThreadPool>

#include <functional>
#include <vector>

namespace gui {

class DatabaseEditor : public QObject {
    Q_OBJECT
public:
    explicit DatabaseEditor(QObject* parent = nullptr);
    ~DatabaseEditor() override;  // waits for what was asked

    /// Creates the file where there is none; emits ready(path) then.
    void create(const QString& path);
    void renameRun(const QString& path, profiling::RunId run, const QString& name);
    void setRunsDeleted(const QString& path, const std::vector<profiling::RunId>& runs, bool deleted);
    void setBenchBaseline(const QString& path, profiling::BenchId bench, profiling::RunId run);
    /// Replaces `target`; the file dialog has asked. Emits copied(target).
    void saveCopy(const QString& path, const QString& target);

signals:
    void ready(const QString& path);
    void copied(const QString& target);
    void failed(const QString& text);

private:
    void enqueue(std::function<void()> work, std::function<void()> done);

    QThreadPool m_pool;  // one thread: edits keep their order
};

}  // namespace gui
