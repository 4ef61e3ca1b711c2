// The left panel: search field, list of runs, and what the selected run is.
#pragma once

#include "models/config_text.h"
#include "models/runs_model.h"
#include "selection.h"

#include <QWidget>

#include <vector>

class QLabel;
class QLineEdit;
class QListView;
class QStackedWidget;

namespace gui {

class RunDetailsPanel;

class RunsPanel : public QWidget {
    Q_OBJECT
public:
    RunsPanel(Selection* selection, RunsModel* model, QWidget* parent = nullptr);

    /// Runs highlighted in the list (what Delete means), the current one first.
    std::vector<profiling::RunId> selectedRuns() const;
    /// What is known of this run beyond its row; dropped when another is shown.
    void setFallbacks(profiling::RunId run, const FallbackText& fallbacks);
    void editName(profiling::RunId run);
    void setListActions(const QList<QAction*>& actions);  // the list's context menu
    void focusSearch();
    void focusList();
    QListView* list() const { return m_list; }
    RunDetailsPanel* details() const { return m_details; }

signals:
    void newRunWanted();

private:
    void createWidgets();
    QWidget* createEmptyPage();
    void showCurrent();  // selection → list
    void showDetails();
    void showEmptyOrList();

    Selection* m_selection;
    RunsModel* m_model;
    RunsFilterModel* m_filter;
    QLineEdit* m_search = nullptr;
    QLabel* m_problem = nullptr;
    QLabel* m_emptyText = nullptr;
    QWidget* m_emptyButton = nullptr;
    QStackedWidget* m_stack = nullptr;
    QListView* m_list = nullptr;
    RunDetailsPanel* m_details = nullptr;
    profiling::RunId m_fallbacksOf;
    FallbackText m_fallbacks;
};

}  // namespace gui
