// State shared by all views; each setter tells the views only when something really changed.
#include "selection.h"

#include <algorithm>
#include <utility>

namespace gui {

Selection::Selection(QObject* parent) : QObject(parent) {}

void Selection::setVisibleRuns(std::vector<profiling::RunId> runs) {
    if (runs == m_visible) return;
    m_visible = std::move(runs);
    emit visibleRunsChanged();
}

void Selection::setCurrentRun(profiling::RunId run) {
    if (run == m_current) return;
    m_current = run;
    // Tensor ids belong to one run; the stability view picks new ones.
    const bool hadTensors = !m_tensors.empty();
    m_tensors.clear();
    emit currentRunChanged();
    if (hadTensors && m_tensors.empty()) emit tensorsChanged();
}

void Selection::setBaseline(profiling::RunId run) {
    if (run == m_baseline) return;
    m_baseline = run;
    emit baselineChanged();
}

void Selection::setTensors(std::vector<profiling::TensorId> tensors) {
    if (tensors == m_tensors) return;
    m_tensors = std::move(tensors);
    emit tensorsChanged();
}

void Selection::setCursorStep(std::optional<std::int64_t> step) {
    if (m_pinned || step == m_cursor) return;
    m_cursor = step;
    emit cursorChanged();
}

void Selection::pinCursor(std::int64_t step) {
    if (m_pinned && m_cursor == step) return;
    m_pinned = true;
    m_cursor = step;
    emit cursorChanged();
}

void Selection::freeCursor() {
    if (!m_pinned) return;
    m_pinned = false;
    m_cursor.reset();
    emit cursorChanged();
}

int Selection::colorIndex(profiling::RunId run) {
    const auto found = std::find(m_colors.begin(), m_colors.end(), run);
    if (found != m_colors.end()) return static_cast<int>(found - m_colors.begin());
    m_colors.push_back(run);
    return static_cast<int>(m_colors.size()) - 1;
}

void Selection::clear() {
    m_colors.clear();
    freeCursor();
    setCursorStep(std::nullopt);
    setCurrentRun({});
    setBaseline({});
    setVisibleRuns({});
}

}  // namespace gui
