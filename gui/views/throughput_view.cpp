// Asks for the figures of the visible runs and draws them; see throughput_view.h.
#include "views/throughput_view.h"

#include "models/formatting.h"
#include "query_worker.h"
#include "selection.h"
#include "views/axis_tickers.h"
#include "views/plot_overlay.h"
#include "views/plot_text.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace gui {
namespace {

constexpr double kBarWidth = 0.56;
constexpr double kCaptionGap = 5;  // pixels between a caption and the names below it
constexpr double kDotSpan = 0.4;   // dots of one run spread over this much of its slot

struct Answer {
    std::vector<RunFigures> runs;
    std::vector<RunFigures> base;
};

}  // namespace

ThroughputView::ThroughputView(Selection* selection, QueryWorker* worker, QWidget* parent)
    : QWidget(parent),
      m_selection(selection),
      m_worker(worker),
      m_style(PlotStyle::light()),
      m_cache(std::make_shared<RunFiguresCache>()) {
    setObjectName(QStringLiteral("throughputView"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 8, 12, 6);
    layout->setSpacing(2);
    createHeader();
    createPlots();
    connectSources();
    setTheme(m_style);
    redraw();
}

void ThroughputView::createHeader() {
    m_title = new QLabel(tr("Precision vs throughput"), this);
    m_title->setObjectName(QStringLiteral("throughputTitle"));
    m_against = new QLabel(this);
    m_against->setObjectName(QStringLiteral("throughputBaseline"));
    m_metricBox = new QComboBox(this);
    m_metricBox->setObjectName(QStringLiteral("throughputMetric"));
    m_metricBox->setAccessibleName(tr("Metric of the bars"));
    m_metricBox->addItems({tr("tokens/s"), tr("ms/step"), tr("memory")});
    connect(m_metricBox, &QComboBox::currentIndexChanged, this,
            [this](int index) { setMetric(static_cast<Metric>(index)); });
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(m_title);
    row->addStretch();
    row->addWidget(m_against);
    row->addWidget(m_metricBox);
    static_cast<QVBoxLayout*>(layout())->addLayout(row);
}

void ThroughputView::createPlots() {
    m_bars = new PlotWidget(nullptr, this);
    m_bars->setObjectName(QStringLiteral("throughputBars"));
    m_bars->setIncludeZero(true);
    m_bars->setLegendVisible(false);
    m_bars->setExtraLimits(
        [this] {
            Limits limits;
            if (m_figures.empty()) return limits;
            limits.include(-0.45);
            limits.include(static_cast<double>(m_figures.size()) - 0.55);
            return limits;
        },
        [this] {
            Limits limits;
            for (const RunFigures& run : m_figures) {
                const Figure& figure = figureOf(run);
                limits.include(figure.spread.median * 1.16);  // room for the label above
                for (const double repeat : figure.repeats) limits.include(repeat * 1.14);
            }
            return limits;
        });
    m_bars->setExtraReadout([this](double x, double) { return barReadout(x); });
    m_bars->setCsv([this] { return barCsv(); });
    new PlotPainter(m_bars, QStringLiteral("overlay"), PlotPainter::Area::WholePlot,
                    [this](QCPPainter* painter) { labelBars(painter); });

    m_scatter = new PlotWidget(nullptr, this);
    m_scatter->setObjectName(QStringLiteral("throughputScatter"));
    m_scatter->setLegendVisible(false);
    m_scatter->setExtraLimits({}, [this] {
        constexpr double kLeastGap = 0.0005;  // runs with equal losses: not an axis from −100 % to 100 %
        Limits limits;
        if (baseline() == nullptr || !m_scatter->xLimits().valid) return limits;
        limits.include(0.0);
        limits.include(kLeastGap);
        return limits;
    });
    m_scatter->setWheelAxes(Qt::Horizontal | Qt::Vertical);
    m_scatter->xAxis->ticker()->setTickCount(4);
    m_scatter->setExtraReadout([this](double x, double y) { return scatterReadout(x, y); });
    new PlotPainter(m_scatter, QStringLiteral("overlay"), PlotPainter::Area::Axes,
                    [this](QCPPainter* painter) { labelScatter(painter); });

    for (PlotWidget* plot : {m_bars, m_scatter}) {
        connect(plot, &PlotWidget::problem, this, &ThroughputView::problem);
        connect(plot, &PlotWidget::emptyButtonClicked, this, &ThroughputView::newBenchmarkRequested);
    }
    static_cast<QVBoxLayout*>(layout())->addWidget(m_bars, 5);
    static_cast<QVBoxLayout*>(layout())->addWidget(m_scatter, 4);
}

void ThroughputView::connectSources() {
    connect(m_selection, &Selection::visibleRunsChanged, this, &ThroughputView::refresh);
    connect(m_selection, &Selection::baselineChanged, this, &ThroughputView::refresh);
    connect(m_worker, &QueryWorker::databaseChanged, this, &ThroughputView::refresh);
    connect(m_worker, &QueryWorker::databaseOpened, this, [this] {
        m_cache = std::make_shared<RunFiguresCache>();  // ids mean other runs now
        m_figures.clear();
        m_base.clear();
        m_bars->group()->reset();
        m_scatter->group()->reset();
        redraw();
        refresh();
    });
}

void ThroughputView::refresh() {
    const std::vector<profiling::RunId> runs = m_selection->visibleRuns();
    const profiling::RunId base = m_selection->baseline();
    if (runs.empty()) {
        m_figures.clear();
        m_base.clear();
        redraw();
        return;
    }
    m_worker->ask<Answer>(
        this, "figures",
        [runs, base, cache = m_cache](profiling::Store& store) {
            Answer answer;
            answer.runs = cache->read(store, runs);
            if (base) answer.base = cache->read(store, {base});
            return answer;
        },
        [this](std::shared_ptr<const Answer> answer) {
            const bool sameRuns =
                std::equal(answer->runs.begin(), answer->runs.end(), m_figures.begin(), m_figures.end(),
                           [](const RunFigures& a, const RunFigures& b) { return a.id == b.id; });
            m_figures = answer->runs;
            m_base = answer->base;
            redraw();
            if (sameRuns) return;
            m_bars->group()->reset();
            m_scatter->group()->reset();
        });
}

void ThroughputView::setMetric(Metric metric) {
    if (metric == m_metric) return;
    m_metric = metric;
    m_metricBox->setCurrentIndex(static_cast<int>(metric));
    redraw();
    m_bars->group()->reset();
}

void ThroughputView::setTheme(const PlotStyle& style) {
    m_style = style;
    m_title->setFont(style.titleFont());
    m_against->setFont(style.captionFont());
    m_metricBox->setFont(style.captionFont());
    QPalette palette = m_against->palette();
    palette.setColor(QPalette::WindowText, style.secondary);
    m_against->setPalette(palette);
    m_bars->setStyle(style);
    m_scatter->setStyle(style);
    redraw();
}

void ThroughputView::fit() {
    m_bars->group()->fit();
    m_scatter->group()->fit();
}

bool ThroughputView::zoomBack() {
    PlotWidget* first = m_scatter->hasFocus() ? m_scatter : m_bars;
    PlotWidget* second = first == m_bars ? m_scatter : m_bars;
    return first->group()->back() || second->group()->back();
}

int ThroughputView::pointCount() const {
    std::size_t points = 0;
    for (const RunFigures& run : m_figures) points += figureOf(run).repeats.size();
    return static_cast<int>(points);
}

const Figure& ThroughputView::figureOf(const RunFigures& run) const {
    switch (m_metric) {
        case Metric::StepMs:
            return run.stepMs;
        case Metric::Memory:
            return run.memoryBytes;
        case Metric::TokensPerSecond:
            break;
    }
    return run.tokensPerSecond;
}

const RunFigures* ThroughputView::baseline() const {
    return m_base.empty() ? nullptr : &m_base.front();
}

QString ThroughputView::valueText(double value) const {
    switch (m_metric) {
        case Metric::StepMs:
            return tr("%1 ms").arg(significant(value));
        case Metric::Memory:
            return bytes(value);
        case Metric::TokensPerSecond:
            break;
    }
    return tr("%1 tokens/s").arg(siNumber(value));
}

QString ThroughputView::barLabel(int index) const {
    const RunFigures& run = m_figures[static_cast<std::size_t>(index)];
    const double value = figureOf(run).spread.median;
    if (figureOf(run).spread.count == 0) return missingText();
    const RunFigures* base = baseline();
    if (base == nullptr || base->id == run.id || figureOf(*base).spread.count == 0) {
        return m_metric == Metric::Memory ? bytes(value) : siNumber(value);
    }
    return difference(value, figureOf(*base).spread.median);
}

void ThroughputView::redraw() {
    const bool nothing = m_figures.empty();
    m_bars->setEmptyState(
        nothing ? tr("Speed of each precision, side by side.\nNo run is ticked: tick runs in the list, or compare "
                     "precisions with a benchmark.")
                : QString(),
        tr("New benchmark…"));
    m_scatter->setVisible(!nothing);
    const RunFigures* base = baseline();
    m_against->setText(base != nullptr ? tr("against ★ %1").arg(QString::fromStdString(base->name)) : QString());
    m_against->setMaximumWidth(200);
    drawBars();
    drawScatter();
    placeNames();
    m_bars->group()->dataChanged(m_bars);
    m_scatter->group()->dataChanged(m_scatter);
}

void ThroughputView::drawBars() {
    for (QCPBars* bars : m_barItems) m_bars->removePlottable(bars);
    m_barItems.clear();
    m_bars->clearLines();
    switch (m_metric) {
        case Metric::TokensPerSecond:
            m_bars->setCaption(tr("tokens/s, median · dots: repeats"));
            break;
        case Metric::StepMs:
            m_bars->setCaption(tr("ms per step, median · dots: repeats"));
            break;
        case Metric::Memory:
            m_bars->setCaption(tr("memory held by the engine"));
            break;
    }
    m_bars->yAxis->setTicker(QSharedPointer<QCPAxisTicker>(
        m_metric == Metric::Memory ? static_cast<QCPAxisTicker*>(new BytesTicker) : new SiTicker));
    m_bars->yAxis->ticker()->setTickCount(4);
    for (std::size_t i = 0; i < m_figures.size(); ++i) {
        const Figure& figure = figureOf(m_figures[i]);
        const int color = m_selection->colorIndex(m_figures[i].id);
        const double slot = static_cast<double>(i);
        auto* bar = new QCPBars(m_bars->xAxis, m_bars->yAxis);
        QColor area = m_style.runColor(color);
        area.setAlpha(80);
        bar->setWidth(kBarWidth);
        bar->setPen(QPen(m_style.runLineColor(color), 1));
        bar->setBrush(QBrush(area));
        bar->setSelectable(QCP::stNone);
        if (figure.spread.count > 0) bar->addData(slot, figure.spread.median);
        m_barItems.push_back(bar);

        LineLook look;
        look.inReadout = false;
        look.pen = m_style.runPen(color);
        look.joined = figure.repeats.empty();
        Series points;
        if (!figure.repeats.empty()) {  // every repeat is a dot
            look.scatter = m_style.runScatter(color, 5);
            const double count = static_cast<double>(figure.repeats.size());
            for (std::size_t r = 0; r < figure.repeats.size(); ++r) {
                const double share = count > 1 ? static_cast<double>(r) / (count - 1) - 0.5 : 0.0;
                points.add(slot + share * kDotSpan, figure.repeats[r]);
            }
        } else if (figure.spread.count > 1) {  // the middle half of the steps
            points.add(slot, figure.spread.q1);
            points.add(slot, figure.spread.q3);
        }
        m_bars->setData(m_bars->addLine(look), std::move(points));
    }
}

double ThroughputView::scatterY(const RunFigures& run) const {
    return baseline() != nullptr ? lossGap(run, *baseline()) : finalLoss(run);
}

void ThroughputView::drawScatter() {
    m_scatter->clearLines();
    m_scatter->setYPad(scatterPad());
    const bool isGap = baseline() != nullptr;
    m_scatter->setCaption(isGap ? tr("loss gap to ★ against tokens/s · dashed: Pareto front")
                                : tr("final loss against tokens/s · dashed: Pareto front"));
    m_scatter->yAxis->setTicker(
        QSharedPointer<QCPAxisTicker>(isGap ? static_cast<QCPAxisTicker*>(new PercentTicker) : new SiTicker));
    m_scatter->yAxis->ticker()->setTickCount(4);
    std::vector<double> x;
    std::vector<double> y;
    for (const RunFigures& run : m_figures) {
        const bool known = run.tokensPerSecond.spread.count > 0;
        x.push_back(known ? run.tokensPerSecond.spread.median : std::nan(""));
        y.push_back(known ? scatterY(run) : std::nan(""));
        LineLook look;
        look.name = QString::fromStdString(run.name);
        look.inReadout = false;
        look.joined = false;
        const int color = m_selection->colorIndex(run.id);
        look.pen = m_style.runPen(color);
        look.scatter = m_style.runScatter(color, 8);
        Series point;
        if (std::isfinite(x.back()) && std::isfinite(y.back())) point.add(x.back(), y.back());
        m_scatter->setData(m_scatter->addLine(look), std::move(point));
    }
    drawFront(x, y);
    const bool anyPoint = m_scatter->xLimits().valid;
    m_scatter->setEmptyState(
        anyPoint || m_figures.empty()
            ? QString()
            : tr("Loss against speed.\nNo ticked run has finished a step yet: dots appear with the "
                 "third step of a run."));
}

void ThroughputView::drawFront(const std::vector<double>& x, const std::vector<double>& y) {
    Series front;
    for (const std::size_t i : paretoFront(x, y)) front.add(x[i], y[i]);
    LineLook look;
    look.name = tr("Pareto front");
    look.pen = QPen(m_style.secondary, 1, Qt::DashLine);
    look.inReadout = false;
    m_scatter->setData(m_scatter->addLine(look), front.size() > 1 ? front : Series{});
}

void ThroughputView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    placeNames();
    m_scatter->setYPad(scatterPad());
    m_scatter->group()->dataChanged(m_scatter);
}

/// Share of the data's height that leaves room for a name above the topmost dot and below the lowest.
double ThroughputView::scatterPad() const {
    constexpr double kLeast = 0.16;
    constexpr double kMost = 0.32;  // of the plot: a very low one still shows differences
    const double name = QFontMetrics(m_style.captionFont()).height() / 2.0 + kCaptionGap + 2;
    constexpr int kAroundAxes = 45;
    const double share = std::min(kMost, name / std::max(1, m_scatter->height() - kAroundAxes));
    return std::max(kLeast, share / (1 - 2 * share));
}

void ThroughputView::placeNames() {
    auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    const QFontMetrics metrics(m_style.captionFont());
    const int room = std::max(0, m_bars->width() - 70);
    const int slot = m_figures.empty() ? 0 : room / static_cast<int>(m_figures.size()) - 6;
    for (std::size_t i = 0; i < m_figures.size(); ++i) {
        QString name = QString::fromStdString(m_figures[i].name);
        name = wrapped(name, metrics, slot);
        if (m_figures[i].emulated) name += '\n' + metrics.elidedText(tr("emulated"), Qt::ElideRight, slot);
        ticker->addTick(static_cast<double>(i), name);
    }
    m_bars->xAxis->setTicker(ticker);
}

void ThroughputView::labelBars(QCPPainter* painter) const {
    painter->setFont(m_style.captionFont());
    painter->setPen(m_style.text);
    const QFontMetrics metrics(painter->font());
    for (std::size_t i = 0; i < m_figures.size(); ++i) {
        const Figure& figure = figureOf(m_figures[i]);
        double top = figure.repeats.empty() ? figure.spread.q3 : figure.spread.max;
        top = std::max(top, figure.spread.median);
        const QString label = barLabel(static_cast<int>(i));
        const double slot = static_cast<double>(i);
        const double width = m_bars->xAxis->coordToPixel(slot + 0.5) - m_bars->xAxis->coordToPixel(slot - 0.5);
        if (metrics.horizontalAdvance(label) > width) continue;  // the read-out has it
        const QPointF middle(m_bars->xAxis->coordToPixel(slot), m_bars->yAxis->coordToPixel(top) - 5);
        const QRectF box(middle.x() - width / 2, middle.y() - metrics.height(), width, metrics.height());
        painter->drawText(box, Qt::AlignHCenter | Qt::AlignBottom, label);
    }
}

void ThroughputView::labelScatter(QCPPainter* painter) const {
    painter->setFont(m_style.captionFont());
    painter->setPen(m_style.text);
    const QFontMetrics metrics(painter->font());
    QVector<QPointF> dots;
    QVector<QSizeF> sizes;
    QStringList names;
    for (std::size_t i = 0; i < m_figures.size() && static_cast<int>(i) < m_scatter->lineCount(); ++i) {
        const Series& point = m_scatter->data(static_cast<int>(i));
        if (point.empty()) continue;
        dots.push_back({m_scatter->xAxis->coordToPixel(point.x[0]), m_scatter->yAxis->coordToPixel(point.y[0])});
        names += metrics.elidedText(m_scatter->look(static_cast<int>(i)).name, Qt::ElideMiddle, 130);
        sizes.push_back(QSizeF(metrics.horizontalAdvance(names.back()) + 2, metrics.height()));
    }
    const QRectF area = QRectF(m_scatter->axisRect()->rect()).adjusted(0, kCaptionGap, 0, 0);
    const QVector<QRectF> places = placeLabels(dots, sizes, area);
    for (qsizetype i = 0; i < places.size(); ++i) {
        if (places[i].isNull()) continue;
        painter->fillRect(places[i], m_style.card);  // no line goes through a name
        painter->drawText(places[i], Qt::AlignCenter, names[i]);
    }
}

std::vector<ReadoutRow> ThroughputView::barReadout(double x) const {
    const std::int64_t index = std::llround(x);
    if (index < 0 || index >= static_cast<std::int64_t>(m_figures.size())) return {};
    const RunFigures& run = m_figures[static_cast<std::size_t>(index)];
    const Figure& figure = figureOf(run);
    const QColor color = m_style.runLineColor(m_selection->colorIndex(run.id));
    std::vector<ReadoutRow> rows{{color, QString::fromStdString(run.name), QString()}};
    if (figure.spread.count == 0) {
        rows.push_back({{}, tr("nothing recorded yet"), QString()});
        return rows;
    }
    rows.push_back({{}, tr("median"), valueText(figure.spread.median)});
    if (figure.spread.count > 1) {
        rows.push_back({{}, tr("least"), valueText(figure.spread.min)});
        rows.push_back({{}, tr("greatest"), valueText(figure.spread.max)});
        rows.push_back({{},
                        figure.repeats.empty() ? tr("steps, line: middle half") : tr("repeats"),
                        grouped(static_cast<std::int64_t>(figure.spread.count))});
    }
    if (const RunFigures* base = baseline(); base != nullptr && base->id != run.id) {
        rows.push_back({{}, tr("against ★"), difference(figure.spread.median, figureOf(*base).spread.median)});
    }
    return rows;
}

std::vector<ReadoutRow> ThroughputView::scatterReadout(double x, double y) const {
    constexpr double kReach = 24;  // pixels
    const QPointF mouse(m_scatter->xAxis->coordToPixel(x), m_scatter->yAxis->coordToPixel(y));
    const RunFigures* nearest = nullptr;
    double least = kReach;
    for (const RunFigures& run : m_figures) {
        if (run.tokensPerSecond.spread.count == 0) continue;
        const QPointF dot(m_scatter->xAxis->coordToPixel(run.tokensPerSecond.spread.median),
                          m_scatter->yAxis->coordToPixel(scatterY(run)));
        const double distance = std::hypot(dot.x() - mouse.x(), dot.y() - mouse.y());
        if (!(distance < least)) continue;
        least = distance;
        nearest = &run;
    }
    if (nearest == nullptr) return {};
    const QColor color = m_style.runLineColor(m_selection->colorIndex(nearest->id));
    std::vector<ReadoutRow> rows{
        {color, QString::fromStdString(nearest->name), QString()},
        {{}, tr("speed"), tr("%1 tokens/s").arg(siNumber(nearest->tokensPerSecond.spread.median))},
        {{},
         std::isfinite(nearest->valLoss) ? tr("validation loss") : tr("training loss"),
         significant(finalLoss(*nearest), 4)}};
    if (baseline() != nullptr) rows.push_back({{}, tr("loss gap to ★"), signedPercent(scatterY(*nearest))});
    return rows;
}

QString ThroughputView::barCsv() const {
    QString text = QStringLiteral("run,name,tokens_per_second,step_ms,memory_bytes,train_loss,val_loss,repeats\r\n");
    const auto number = [](double value) {
        return std::isfinite(value) ? QString::number(value, 'g', QLocale::FloatingPointShortest) : QString();
    };
    for (const RunFigures& run : m_figures) {
        QString name = QString::fromStdString(run.name);
        name.replace('"', QStringLiteral("\"\""));
        QStringList cells{QString::number(run.id.value), '"' + name + '"'};
        for (const double value : {run.tokensPerSecond.spread.median, run.stepMs.spread.median,
                                   run.memoryBytes.spread.median, run.trainLoss, run.valLoss}) {
            cells += number(value);
        }
        cells += QString::number(run.tokensPerSecond.repeats.size());
        text += cells.join(',') + QStringLiteral("\r\n");
    }
    return text;
}

}  // namespace gui
