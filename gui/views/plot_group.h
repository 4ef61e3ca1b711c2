// Plots that are zoomed together: one history of ranges for all, and one x axis when they show the same steps.
#pragma once

#include <QObject>
#include <QVector>

#include <utility>

namespace gui {

class PlotWidget;

class PlotGroup : public QObject {
    Q_OBJECT
public:
    /// sharedX: the x axes of all members move together.
    explicit PlotGroup(bool sharedX, QObject* parent);

    void add(PlotWidget* plot);

    /// Shows all data; can be undone by back().
    void fit();
    /// Undoes the newest zoom, pan or fit; false when there is none.
    bool back();
    int historySize() const { return static_cast<int>(m_history.size()); }
    /// False while the plots follow new data.
    bool isZoomed() const { return m_zoomed; }

    /// Data of a member changed: follows it unless the user has zoomed.
    void dataChanged(PlotWidget* plot);
    /// Forgets zoom and history: the plots show something else now.
    void reset();

    using Ranges = QVector<std::pair<double, double>>;  // x and y of each member in turn
    Ranges ranges() const;
    /// The user changed ranges that were `before`: back() returns there.
    void remember(const Ranges& before);

private:
    void fitAll();
    void restore(const Ranges& ranges);
    void follow(PlotWidget* moved);

    bool m_sharedX;
    bool m_zoomed = false;
    bool m_moving = false;
    QVector<PlotWidget*> m_plots;
    QVector<Ranges> m_history;
};

}  // namespace gui
