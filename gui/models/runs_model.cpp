// The runs list: merging of new answers row by row, so that selection and scroll position survive live updates.
#include "models/runs_model.h"

#include "models/formatting.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gui {

using profiling::RunId;
using profiling::RunRow;
using profiling::RunStatus;

namespace {

bool looksTheSame(const RunRow& a, const RunRow& b) {
    return a.name == b.name && a.status == b.status && a.stepsDone == b.stepsDone && a.lastStep == b.lastStep &&
           a.tokensPerSecond == b.tokensPerSecond && a.valLoss == b.valLoss && a.isBaseline == b.isBaseline &&
           (a.lastLoss == b.lastLoss || (std::isnan(a.lastLoss) && std::isnan(b.lastLoss)));
}

QString statusText(const RunRow& run) {
    if (run.status != RunStatus::Running) {
        const QString status = QString::fromUtf8(profiling::name(run.status));
        const bool early = run.status != RunStatus::Finished && run.lastStep >= 0;
        return early ? QStringLiteral("%1 after step %2").arg(status).arg(run.lastStep + 1) : status;
    }
    if (run.lastStep < 0) return QStringLiteral("starting");
    if (run.description.stepsPlanned <= 0) return QStringLiteral("step %1").arg(run.lastStep + 1);
    return QStringLiteral("step %1 / %2").arg(run.lastStep + 1).arg(run.description.stepsPlanned);
}

double progressOf(const RunRow& run) {
    if (run.status != RunStatus::Running || run.description.stepsPlanned <= 0) return -1;
    return std::clamp(static_cast<double>(run.lastStep + 1) / static_cast<double>(run.description.stepsPlanned), 0.0,
                      1.0);
}

}  // namespace

RunsModel::RunsModel(std::function<int(RunId)> colorOf, QObject* parent)
    : QAbstractListModel(parent), m_colorOf(std::move(colorOf)) {}

const RunRow* RunsModel::find(RunId run) const {
    const auto found = std::find_if(m_runs.begin(), m_runs.end(), [run](const RunRow& row) { return row.id == run; });
    return found == m_runs.end() ? nullptr : &*found;
}

void RunsModel::removeMissing(const std::vector<RunRow>& runs) {
    for (int row = static_cast<int>(m_runs.size()) - 1; row >= 0; --row) {
        const RunId id = m_runs[static_cast<std::size_t>(row)].id;
        if (std::any_of(runs.begin(), runs.end(), [id](const RunRow& run) { return run.id == id; })) continue;
        beginRemoveRows({}, row, row);
        m_runs.erase(m_runs.begin() + row);
        endRemoveRows();
    }
}

bool RunsModel::insertOrUpdate(const std::vector<RunRow>& runs) {
    bool inserted = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const int row = static_cast<int>(i);
        if (i < m_runs.size() && m_runs[i].id == runs[i].id) {
            const bool same = looksTheSame(m_runs[i], runs[i]);
            m_runs[i] = runs[i];
            if (!same) emit dataChanged(index(row), index(row));
            continue;
        }
        beginInsertRows({}, row, row);
        m_runs.insert(m_runs.begin() + row, runs[i]);
        endInsertRows();
        inserted = true;
    }
    return inserted;
}

void RunsModel::setRuns(const std::vector<RunRow>& runs) {
    const std::vector<RunId> before = checkedRuns();
    // Colours are given out in the order of creation, so that they stay the same when the file is opened again.
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) m_colorOf(run->id);
    if (m_runs.empty()) {
        for (std::size_t i = kCheckedAtOpen; i < runs.size(); ++i) m_unchecked.insert(runs[i].id);
    }
    removeMissing(runs);
    bool ordered = true;  // what is left must appear in the same order in the new list; else start over
    std::size_t at = 0;
    for (const RunRow& run : runs) {
        if (at < m_runs.size() && m_runs[at].id == run.id) ++at;
    }
    ordered = at == m_runs.size();
    if (ordered) {
        insertOrUpdate(runs);
    } else {
        beginResetModel();
        m_runs = runs;
        endResetModel();
    }
    if (checkedRuns() != before) emit checkedRunsChanged();
}

void RunsModel::clear() {
    const bool had = !checkedRuns().empty();
    beginResetModel();
    m_runs.clear();
    m_unchecked.clear();
    m_baseline = {};
    endResetModel();
    if (had) emit checkedRunsChanged();
}

void RunsModel::setBaseline(RunId run) {
    if (run == m_baseline) return;
    m_baseline = run;
    if (!m_runs.empty()) emit dataChanged(index(0), index(rowCount() - 1));
}

std::vector<RunId> RunsModel::checkedRuns() const {
    std::vector<RunId> checked;
    for (const RunRow& run : m_runs) {
        if (m_unchecked.count(run.id) == 0) checked.push_back(run.id);
    }
    return checked;
}

void RunsModel::setAllChecked(bool checked) {
    m_unchecked.clear();
    if (!checked) {
        for (const RunRow& run : m_runs) m_unchecked.insert(run.id);
    }
    if (m_runs.empty()) return;
    emit dataChanged(index(0), index(rowCount() - 1), {Qt::CheckStateRole});
    emit checkedRunsChanged();
}

int RunsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_runs.size());
}

QString RunsModel::differenceText(const RunRow& run) const {
    const RunRow* baseline = find(m_baseline);
    if (baseline == nullptr || baseline->id == run.id || baseline->tokensPerSecond <= 0 || run.tokensPerSecond <= 0) {
        return {};
    }
    return difference(run.tokensPerSecond, baseline->tokensPerSecond);
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const RunRow& run = m_runs[static_cast<std::size_t>(index.row())];
    const QString throughput =
        run.tokensPerSecond > 0 ? siNumber(run.tokensPerSecond) + QStringLiteral(" tok/s") : QString();
    switch (role) {
        case Qt::DisplayRole:
        case Qt::EditRole:
            return QString::fromStdString(run.name);
        case Qt::CheckStateRole:
            return m_unchecked.count(run.id) == 0 ? Qt::Checked : Qt::Unchecked;
        case Qt::AccessibleTextRole:
            return QStringList{QString::fromStdString(run.name), statusText(run), throughput}.join(", ");
        case Qt::ToolTipRole:
            return QStringLiteral("Run %1: %2\n%3\n%4 tokens/s")
                .arg(run.id.value)
                .arg(QString::fromStdString(run.name), statusText(run))
                .arg(run.tokensPerSecond, 0, 'f', 1);
        case RunIdRole:
            return QVariant::fromValue<qlonglong>(run.id.value);
        case StatusRole:
            return static_cast<int>(run.status);
        case StatusTextRole:
            return statusText(run);
        case ProgressRole:
            return progressOf(run);
        case ColorIndexRole:
            return m_colorOf(run.id);
        case ThroughputRole:
            return throughput;
        case DifferenceRole:
            return differenceText(run);
        case BaselineRole:
            return run.id == m_baseline;
        default:
            return {};
    }
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!index.isValid() || index.row() >= rowCount()) return false;
    const RunRow& run = m_runs[static_cast<std::size_t>(index.row())];
    if (role == Qt::CheckStateRole) {
        if (value.toInt() == Qt::Checked) {
            m_unchecked.erase(run.id);
        } else {
            m_unchecked.insert(run.id);
        }
        emit dataChanged(index, index, {Qt::CheckStateRole});
        emit checkedRunsChanged();
        return true;
    }
    if (role == Qt::EditRole) {
        const QString name = value.toString().trimmed();
        if (name.isEmpty() || name == QString::fromStdString(run.name)) return false;
        emit renameRequested(run.id, name);  // the list changes when the database says so
        return true;
    }
    return false;
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const {
    if (!index.isValid()) return Qt::NoItemFlags;
    return Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable | Qt::ItemIsEditable |
           Qt::ItemNeverHasChildren;
}

void RunsFilterModel::setFilter(const QString& text) {
    m_filter = RunFilter::parse(text);
    invalidateFilter();
}

bool RunsFilterModel::filterAcceptsRow(int row, const QModelIndex&) const {
    const auto* model = qobject_cast<const RunsModel*>(sourceModel());
    return model != nullptr && m_filter.matches(model->runs()[static_cast<std::size_t>(row)]);
}

}  // namespace gui
