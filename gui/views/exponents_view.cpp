// Asks for one histogram at a time; see exponents_view.h.
#include "views/exponents_view.h"

#include "models/formatting.h"
#include "query_worker.h"
#include "selection.h"

#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace gui {

struct ExponentsView::Answer {
    profiling::TensorId tensor;
    std::optional<std::int64_t> step;  // that was asked about; none: the newest
    std::optional<profiling::ExponentRow> exponents;
    std::optional<profiling::SnapshotRow> snapshot;
    std::int64_t firstRecorded = -1;  // −1: the tensor has no histogram at all
};

ExponentsView::ExponentsView(Selection* selection, QueryWorker* worker, QWidget* parent)
    : QWidget(parent),
      m_selection(selection),
      m_worker(worker),
      m_plot(new ExponentPlot(this)),
      m_log(new QToolButton(this)) {
    setObjectName(QStringLiteral("exponentsView"));
    m_plot->setObjectName(QStringLiteral("stabilityExponents"));
    m_plot->xAxis->setLabel(tr("|x|"));
    m_log->setObjectName(QStringLiteral("exponentsLog"));
    m_log->setText(tr("log"));
    m_log->setToolTip(tr("Number of elements on a logarithmic axis"));
    m_log->setCheckable(true);
    m_log->setAutoRaise(true);
    connect(m_log, &QToolButton::toggled, m_plot, &ExponentPlot::setLogarithmic);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_plot);
    connect(m_selection, &Selection::cursorChanged, this, &ExponentsView::refresh);
    connect(m_worker, &QueryWorker::databaseChanged, this, &ExponentsView::refresh);
    connect(m_plot, &PlotWidget::emptyButtonClicked, this, &ExponentsView::newRunRequested);
    connect(m_plot, &PlotWidget::problem, this, &ExponentsView::problem);
    setTensor({}, {});
}

void ExponentsView::setTensor(std::optional<profiling::TensorRow> tensor, const QColor& color) {
    m_tensor = std::move(tensor);
    m_color = color;
    if (!m_tensor) {
        showEmpty(
            tr("How the elements of one tensor spread over powers of two.\n"
               "No tensor is drawn: pick one in the list of tensors."));
        return;
    }
    refresh();
}

void ExponentsView::setStyle(const PlotStyle& style) {
    m_plot->setStyle(style);
    m_log->setFont(style.captionFont());
}

void ExponentsView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    refresh();
}

void ExponentsView::refresh() {
    const profiling::RunId run = m_selection->currentRun();
    if (!isVisible() || !m_tensor || !run) return;
    Answer question;
    question.tensor = m_tensor->id;
    question.step = m_selection->cursorStep();
    m_worker->ask<Answer>(
        this, "exponents",
        [run, question](profiling::Store& store) {
            Answer answer = question;
            const std::int64_t step = answer.step.value_or(std::numeric_limits<std::int64_t>::max());
            answer.exponents = store.exponentsAt(run, answer.tensor, step);
            if (answer.exponents) {
                answer.snapshot = store.snapshotAt(run, answer.tensor, answer.exponents->step);
                if (answer.snapshot && answer.snapshot->step != answer.exponents->step) answer.snapshot.reset();
                return answer;
            }
            const std::vector<std::int64_t> steps = store.exponentSteps(run, answer.tensor);
            if (!steps.empty()) answer.firstRecorded = steps.front();
            return answer;
        },
        [this](const std::shared_ptr<const Answer>& answer) { take(*answer); });
}

void ExponentsView::take(const Answer& answer) {
    if (!m_tensor || answer.tensor != m_tensor->id) return;
    if (answer.exponents) {
        m_plot->setEmptyState({});
        m_plot->setHistogram(ExponentData{*m_tensor, *answer.exponents, answer.snapshot}, m_color);
    } else if (answer.firstRecorded >= 0) {
        showEmpty(
            tr("Exponents are recorded from step %1 on: move the cursor there.").arg(grouped(answer.firstRecorded)));
    } else {
        showEmpty(tr("How the elements of one tensor spread over powers of two.\nThis run recorded no exponents: set "
                     "“Exponents every” on the page “Guard and observation” of a new run, or --exponents-every."),
                  tr("New run…"));
    }
}

void ExponentsView::showEmpty(const QString& text, const QString& button) {
    m_plot->setHistogram({}, m_color);
    m_plot->setEmptyState(text, button);
}

}  // namespace gui
