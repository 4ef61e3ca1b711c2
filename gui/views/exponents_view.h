// The exponent histogram of the first picked tensor at the cursor's step, asked for as the cursor moves.
#pragma once

#include "views/exponent_plot.h"

#include <QWidget>

#include <optional>

class QToolButton;

namespace gui {

class QueryWorker;
class Selection;

class ExponentsView : public QWidget {
    Q_OBJECT
public:
    ExponentsView(Selection* selection, QueryWorker* worker, QWidget* parent);

    /// None: nothing is picked.
    void setTensor(std::optional<profiling::TensorRow> tensor, const QColor& color);
    void setStyle(const PlotStyle& style);
    ExponentPlot* plot() const { return m_plot; }
    QToolButton* logButton() const { return m_log; }

public slots:
    /// Asks again; while hidden, when it is shown.
    void refresh();

signals:
    void newRunRequested();
    void problem(const QString& text);

protected:
    void showEvent(QShowEvent* event) override;

private:
    struct Answer;
    void take(const Answer& answer);
    void showEmpty(const QString& text, const QString& button = {});

    Selection* m_selection;
    QueryWorker* m_worker;
    ExponentPlot* m_plot;
    QToolButton* m_log;
    std::optional<profiling::TensorRow> m_tensor;
    QColor m_color;
};

}  // namespace gui
