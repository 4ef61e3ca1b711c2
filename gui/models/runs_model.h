// The runs of the open file as a list: check box (drawn in the comparing views or not), colour, name, status,
// throughput and its difference from the baseline. Colours are numbers here; the delegate knows the palette.
#pragma once

#include "models/run_filter.h"
#include "profiling/queries.h"

#include <QAbstractListModel>
#include <QSortFilterProxyModel>

#include <functional>
#include <set>
#include <vector>

namespace gui {

class RunsModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role : int {
        RunIdRole = Qt::UserRole + 1,
        StatusRole,      // int of profiling::RunStatus
        StatusTextRole,  // "finished", "step 812 / 1200"
        ProgressRole,    // 0 … 1 while running, else −1
        ColorIndexRole,
        ThroughputRole,  // "42.6 k tok/s", "" when unknown
        DifferenceRole,  // "+99 %" against the baseline, "" for the baseline itself or when unknown
        BaselineRole     // bool
    };

    /// `colorOf` gives each run its lasting colour.
    explicit RunsModel(std::function<int(profiling::RunId)> colorOf, QObject* parent = nullptr);

    /// Takes the newest answer of the database; rows that did not change are left alone. When the list was empty,
    /// only the newest kCheckedAtOpen runs are checked; runs that appear later are.
    void setRuns(const std::vector<profiling::RunRow>& runs);
    void clear();
    void setBaseline(profiling::RunId run);

    const std::vector<profiling::RunRow>& runs() const { return m_runs; }
    const profiling::RunRow* find(profiling::RunId run) const;
    std::vector<profiling::RunId> checkedRuns() const;
    void setAllChecked(bool checked);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

    static constexpr int kCheckedAtOpen = 12;

signals:
    void checkedRunsChanged();
    void renameRequested(profiling::RunId run, const QString& name);

private:
    QString differenceText(const profiling::RunRow& run) const;
    void removeMissing(const std::vector<profiling::RunRow>& runs);
    bool insertOrUpdate(const std::vector<profiling::RunRow>& runs);

    std::function<int(profiling::RunId)> m_colorOf;
    std::vector<profiling::RunRow> m_runs;
    std::set<profiling::RunId> m_unchecked;
    profiling::RunId m_baseline;
};

/// The rows that pass the search text.
class RunsFilterModel : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setFilter(const QString& text);
    const RunFilter& filter() const { return m_filter; }

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    RunFilter m_filter;
};

}  // namespace gui
