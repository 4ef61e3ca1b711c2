// Mouse, wheel and keyboard of a plot: everything the mouse does is on the keyboard too.
#include "selection.h"
#include "views/plot_widget.h"

#include <QApplication>
#include <QHelpEvent>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace gui {
namespace {

constexpr double kZoomStep = 0.8;
constexpr double kPanStep = 0.1;
constexpr qint64 kOneGestureMs = 500;  // wheel clicks closer than this are undone together

}  // namespace

void PlotWidget::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::RightButton) return;  // the context menu's
    if (event->button() == Qt::LeftButton) {
        m_press = event->position();
        m_beforePress = m_group->ranges();
        setSelectionRectMode(event->modifiers().testFlag(Qt::ShiftModifier) ? QCP::srmZoom : QCP::srmNone);
    }
    QCustomPlot::mousePressEvent(event);
}

void PlotWidget::mouseMoveEvent(QMouseEvent* event) {
    QCustomPlot::mouseMoveEvent(event);
    const bool inside = axisRect()->rect().contains(event->position().toPoint());
    m_hover = inside ? std::optional(event->position()) : std::nullopt;
    if (m_selection != nullptr && xLimits().valid) {
        m_selection->setCursorStep(inside ? std::optional(stepAt(event->position().x())) : std::nullopt);
    }
    redrawOverlay();
}

void PlotWidget::mouseReleaseEvent(QMouseEvent* event) {
    QCustomPlot::mouseReleaseEvent(event);
    if (event->button() != Qt::LeftButton || !m_press) return;
    const QPointF press = *m_press;
    m_press.reset();
    setSelectionRectMode(QCP::srmNone);
    const bool moved = (event->position() - press).manhattanLength() >= QApplication::startDragDistance();
    if (moved) {
        m_group->remember(m_beforePress);
        return;
    }
    if (event->modifiers().testFlag(Qt::ShiftModifier) || !axisRect()->rect().contains(press.toPoint())) return;
    if (m_selection != nullptr && xLimits().valid) {
        m_cursorBeforeClick = m_selection->cursorStep();
        m_pinnedBeforeClick = m_selection->cursorPinned();
        togglePin(stepAt(press.x()));
    }
    emit clickedAt(xAxis->pixelToCoord(press.x()), yAxis->pixelToCoord(press.y()));
}

void PlotWidget::mouseDoubleClickEvent(QMouseEvent* event) {
    QCustomPlot::mouseDoubleClickEvent(event);
    if (event->button() != Qt::LeftButton) return;
    m_press.reset();
    // The first click of the two pinned or freed the cursor: that was not meant.
    if (m_selection != nullptr) {
        m_selection->freeCursor();
        if (m_pinnedBeforeClick && m_cursorBeforeClick) m_selection->pinCursor(*m_cursorBeforeClick);
    }
    m_group->fit();
}

void PlotWidget::wheelEvent(QWheelEvent* event) {
    const double clicks = event->angleDelta().y() / 120.0;
    if (clicks == 0) return;
    const PlotGroup::Ranges before = m_group->ranges();
    const QPointF at = event->position();
    const QRect axes = axisRect()->rect();
    Qt::Orientations zoomed = m_wheelAxes;
    if (event->modifiers().testFlag(Qt::ControlModifier) || at.x() < axes.left()) zoomed = Qt::Vertical;
    zoomAround(std::pow(kZoomStep, clicks), at, zoomed);
    const bool sameGesture = m_lastWheel.isValid() && m_lastWheel.elapsed() < kOneGestureMs && m_group->isZoomed();
    if (!sameGesture) m_group->remember(before);
    m_lastWheel.start();
    event->accept();
}

void PlotWidget::leaveEvent(QEvent* event) {
    QCustomPlot::leaveEvent(event);
    m_hover.reset();
    if (m_selection != nullptr) m_selection->setCursorStep(std::nullopt);
    redrawOverlay();
}

void PlotWidget::focusInEvent(QFocusEvent* event) {
    QCustomPlot::focusInEvent(event);
    redrawOverlay();
}

void PlotWidget::focusOutEvent(QFocusEvent* event) {
    QCustomPlot::focusOutEvent(event);
    redrawOverlay();
}

/// What a key does. `really` false only asks whether it does anything.
bool PlotWidget::runKey(const QKeyEvent& event, bool really) {
    const auto modifiers = event.modifiers() & ~Qt::KeypadModifier;
    const bool shift = modifiers == Qt::ShiftModifier;
    const bool plain = modifiers == Qt::NoModifier;
    std::function<void()> run;
    switch (event.key()) {
        case Qt::Key_Left:
            if (plain) run = [this] { pan(-kPanStep, 0); };
            if (shift && m_selection != nullptr) run = [this] { stepCursor(-1); };
            if (modifiers == Qt::AltModifier) run = [this] { m_group->back(); };
            break;
        case Qt::Key_Right:
            if (plain) run = [this] { pan(kPanStep, 0); };
            if (shift && m_selection != nullptr) run = [this] { stepCursor(1); };
            break;
        case Qt::Key_Up:
            if (plain) run = [this] { pan(0, kPanStep); };
            break;
        case Qt::Key_Down:
            if (plain) run = [this] { pan(0, -kPanStep); };
            break;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            if (plain || shift) run = [this] { zoomByKey(kZoomStep); };
            break;
        case Qt::Key_Minus:
            if (plain) run = [this] { zoomByKey(1 / kZoomStep); };
            break;
        case Qt::Key_F:
        case Qt::Key_Home:
            if (plain) run = [this] { m_group->fit(); };
            break;
        case Qt::Key_Backspace:
            if (plain) run = [this] { m_group->back(); };
            break;
        case Qt::Key_C:
            if (modifiers == Qt::ControlModifier) run = [this] { copyPicture(); };
            if (modifiers == (Qt::ControlModifier | Qt::ShiftModifier)) run = [this] { copyData(); };
            break;
        default:
            run = cursorKey(event.key(), plain);
            break;
    }
    if (run && really) run();
    return static_cast<bool>(run);
}

std::function<void()> PlotWidget::cursorKey(int key, bool plain) {
    if (!plain || m_selection == nullptr) return {};
    if (key == Qt::Key_Space && m_selection->cursorStep()) return [this] { togglePin(*m_selection->cursorStep()); };
    if (key == Qt::Key_Escape && m_selection->cursorPinned()) return [this] { m_selection->freeCursor(); };
    return {};
}

void PlotWidget::keyPressEvent(QKeyEvent* event) {
    if (!runKey(*event, true)) QCustomPlot::keyPressEvent(event);
}

void PlotWidget::zoomByKey(double factor) {
    const PlotGroup::Ranges before = m_group->ranges();
    zoomAround(factor, axisRect()->rect().center(), m_wheelAxes);
    m_group->remember(before);
}

bool PlotWidget::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride && runKey(*static_cast<QKeyEvent*>(event), false)) {
        event->accept();  // the focused plot goes before the window's shortcuts
        return true;
    }
    if (event->type() == QEvent::ToolTip && m_legendVisible) {
        // Names in the header strip may be shortened: the whole names are one hover away.
        auto* help = static_cast<QHelpEvent*>(event);
        QStringList names;
        for (const Line& line : m_lines) {
            if (line.look.inLegend && !line.look.name.isEmpty()) names += line.look.name;
        }
        if (help->pos().y() < axisRect()->top() && !names.isEmpty()) {
            QToolTip::showText(help->globalPos(), names.join('\n'), this);
            return true;
        }
        QToolTip::hideText();
    }
    return QCustomPlot::event(event);
}

void PlotWidget::pan(double shareX, double shareY) {
    const PlotGroup::Ranges before = m_group->ranges();
    xAxis->moveRange(xAxis->range().size() * shareX);
    yAxis->moveRange(yAxis->range().size() * shareY);
    m_group->remember(before);
    replot(rpQueuedReplot);
}

void PlotWidget::stepCursor(int direction) {
    if (m_selection == nullptr || !xLimits().valid) return;
    const double middle = xAxis->range().center();
    const std::int64_t from = m_selection->cursorStep().value_or(std::llround(middle));
    const Limits limits = xLimits();
    const auto step = std::clamp<std::int64_t>(from + direction, std::llround(limits.low), std::llround(limits.high));
    if (m_selection->cursorPinned()) {
        m_selection->pinCursor(step);
    } else {
        m_selection->setCursorStep(step);
    }
}

void PlotWidget::togglePin(std::int64_t step) {
    if (m_selection->cursorPinned() && m_selection->cursorStep() == step) {
        m_selection->freeCursor();
    } else {
        m_selection->pinCursor(step);
    }
}

std::int64_t PlotWidget::stepAt(double pixelX) const {
    const Limits limits = xLimits();
    return std::llround(std::clamp(xAxis->pixelToCoord(pixelX), limits.low, limits.high));
}

bool PlotWidget::showsReadout() const {
    return m_hover.has_value() || hasFocus();
}

}  // namespace gui
