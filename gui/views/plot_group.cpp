// Shared ranges and zoom history; see plot_group.h.
#include "views/plot_group.h"

#include "models/plot_series.h"
#include "views/plot_widget.h"

namespace gui {
namespace {

constexpr int kHistoryLimit = 100;

}  // namespace

PlotGroup::PlotGroup(bool sharedX, QObject* parent) : QObject(parent), m_sharedX(sharedX) {}

void PlotGroup::add(PlotWidget* plot) {
    m_plots.push_back(plot);
    plot->setGroup(this);
    connect(plot, &QObject::destroyed, this, [this, plot] { m_plots.removeAll(plot); });
    if (m_sharedX) {
        connect(plot->xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this, [this, plot] { follow(plot); });
    }
}

void PlotGroup::follow(PlotWidget* moved) {
    if (m_moving) return;
    m_moving = true;
    for (PlotWidget* plot : m_plots) {
        if (plot == moved) continue;
        plot->xAxis->setRange(moved->xAxis->range());
        plot->replot(QCustomPlot::rpQueuedReplot);
    }
    m_moving = false;
}

void PlotGroup::fitAll() {
    m_moving = true;
    Limits x;
    for (const PlotWidget* plot : m_plots) x.include(plot->xLimits());
    for (PlotWidget* plot : m_plots) {
        plot->fitTo(m_sharedX ? x : plot->xLimits(), plot->yLimits());
        plot->replot(QCustomPlot::rpQueuedReplot);
    }
    m_moving = false;
}

void PlotGroup::fit() {
    const Ranges before = ranges();
    fitAll();
    remember(before);
    m_zoomed = false;
}

void PlotGroup::dataChanged(PlotWidget* plot) {
    if (!m_zoomed) fitAll();
    plot->replot(QCustomPlot::rpQueuedReplot);
}

void PlotGroup::reset() {
    m_zoomed = false;
    m_history.clear();
    fitAll();
}

PlotGroup::Ranges PlotGroup::ranges() const {
    Ranges all;
    for (const PlotWidget* plot : m_plots) {
        all.push_back({plot->xAxis->range().lower, plot->xAxis->range().upper});
        all.push_back({plot->yAxis->range().lower, plot->yAxis->range().upper});
    }
    return all;
}

void PlotGroup::remember(const Ranges& before) {
    if (before == ranges()) return;
    m_zoomed = true;
    m_history.push_back(before);
    if (m_history.size() > kHistoryLimit) m_history.removeFirst();
}

bool PlotGroup::back() {
    if (m_history.isEmpty()) return false;
    restore(m_history.takeLast());
    if (m_history.isEmpty()) m_zoomed = false;  // back at the picture that follows the data
    return true;
}

void PlotGroup::restore(const Ranges& all) {
    m_moving = true;
    for (qsizetype i = 0; i < m_plots.size() && 2 * i + 1 < all.size(); ++i) {
        m_plots[i]->xAxis->setRange(all[2 * i].first, all[2 * i].second);
        m_plots[i]->yAxis->setRange(all[2 * i + 1].first, all[2 * i + 1].second);
        m_plots[i]->replot(QCustomPlot::rpQueuedReplot);
    }
    m_moving = false;
}

}  // namespace gui
