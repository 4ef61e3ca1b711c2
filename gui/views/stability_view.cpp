// Asks for what is new in the current run and hands it to the three plots; see stability_view.h.
#include "views/stability_view.h"

#include "query_worker.h"
#include "selection.h"
#include "views/exponents_view.h"
#include "views/tensor_picker.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace gui {

using profiling::HeatMetric;

namespace {

constexpr int kHeatColumns = 400;
constexpr int kHeatIntervalMs = 1000;  // the heat map reads all tensors: a live run gets a new one every second
constexpr std::size_t kDefaultTensors = 3;
constexpr std::int64_t kSettled = 32;  // steps after which the worst tensors are worth naming for good

constexpr HeatMetric kMetrics[] = {HeatMetric::Headroom, HeatMetric::Saturated, HeatMetric::Underflowed,
                                   HeatMetric::Sqnr};

QComboBox* smallBox(QWidget* parent, const char* name, const QString& accessible, const QStringList& items) {
    auto* box = new QComboBox(parent);
    box->setObjectName(QString::fromLatin1(name));
    box->setAccessibleName(accessible);
    box->setToolTip(accessible);
    box->addItems(items);
    return box;
}

}  // namespace

struct StabilityView::RunAnswer {
    struct Part {
        LossPlot::Run run;
        std::int64_t after;
        std::vector<profiling::StepRow> steps;
    };
    profiling::RunId current;
    std::vector<Part> parts;
    std::vector<profiling::EventRow> events;
    std::vector<profiling::TensorRow> tensors;
    QString precision;
};

struct StabilityView::HeatAnswer {
    profiling::RunId run;
    HeatMetric metric;
    profiling::HeatMap map;
    profiling::HeatMap operands;  // the rows that are drawn
};

struct StabilityView::SnapshotsAnswer {
    struct Part {
        profiling::TensorId tensor;
        std::int64_t after;
        std::vector<profiling::SnapshotRow> rows;
    };
    std::vector<Part> parts;
};

StabilityView::StabilityView(Selection* selection, QueryWorker* worker, QWidget* parent)
    : QWidget(parent), m_selection(selection), m_worker(worker), m_style(PlotStyle::light()) {
    setObjectName(QStringLiteral("stabilityView"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 8, 12, 6);
    layout->setSpacing(2);
    createHeader();
    createPlots();
    connectSources();
    setTheme(m_style);
    updateEmptyState();
}

void StabilityView::createHeader() {
    m_title = new QLabel(tr("Numerical stability"), this);
    m_title->setObjectName(QStringLiteral("stabilityTitle"));
    m_modeBox = smallBox(this, "stabilityMode", tr("What is drawn of each tensor"),
                         {tr("amax"), tr("scale"), tr("amax × scale")});
    m_metricBox = smallBox(this, "heatMetric", tr("What the heat map shows"),
                           {tr("headroom"), tr("saturation"), tr("underflow"), tr("SQNR")});
    m_picker = new TensorPicker(this);
    connect(m_modeBox, &QComboBox::currentIndexChanged, this, [this](int index) {
        m_amax->setMode(static_cast<TensorPlot::Mode>(index));
        m_group->dataChanged(m_amax);
    });
    connect(m_metricBox, &QComboBox::currentIndexChanged, this, [this](int index) { setHeatMetric(kMetrics[index]); });
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(m_title);
    row->addStretch();
    row->addWidget(m_modeBox);
    row->addWidget(m_metricBox);
    row->addWidget(m_picker);
    static_cast<QVBoxLayout*>(layout())->addLayout(row);
}

void StabilityView::createPlots() {
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->setObjectName(QStringLiteral("stabilitySplitter"));
    splitter->setChildrenCollapsible(false);
    splitter->setHandleWidth(4);
    m_amax = new TensorPlot(m_selection, splitter);
    m_amax->setObjectName(QStringLiteral("stabilityAmax"));
    m_heat = new HeatMapPlot(m_selection, splitter);
    m_heat->setObjectName(QStringLiteral("stabilityHeat"));
    splitter->addWidget(createLower());
    m_group = new PlotGroup(true, this);
    for (PlotWidget* plot : std::initializer_list<PlotWidget*>{m_amax, m_heat, m_loss}) {
        m_group->add(plot);
        connect(plot, &PlotWidget::problem, this, &StabilityView::problem);
        connect(plot, &PlotWidget::emptyButtonClicked, this, &StabilityView::newRunRequested);
    }
    // The lowest plot names the steps for all three.
    m_amax->xAxis->setTickLabels(false);
    m_heat->xAxis->setTickLabels(false);
    m_loss->xAxis->setLabel(tr("step"));
    splitter->setStretchFactor(0, 5);
    splitter->setStretchFactor(1, 5);
    splitter->setStretchFactor(2, 5);
    static_cast<QVBoxLayout*>(layout())->addWidget(splitter, 1);
}

QWidget* StabilityView::createLower() {
    auto* lower = new QWidget(this);
    m_loss = new LossPlot(m_selection, lower);
    m_loss->setObjectName(QStringLiteral("stabilityLoss"));
    m_exponents = new ExponentsView(m_selection, m_worker, lower);
    m_lowerTabs = new QTabBar(lower);
    m_lowerTabs->setObjectName(QStringLiteral("stabilityLower"));
    m_lowerTabs->setAccessibleName(tr("What the lowest plot shows"));
    m_lowerTabs->setDrawBase(false);
    m_lowerTabs->setExpanding(false);
    m_lowerTabs->setStyleSheet(QStringLiteral("QTabBar::tab { padding: 1px 8px; }"));
    m_lowerTabs->addTab(tr("Loss"));
    m_lowerTabs->addTab(tr("Exponents"));
    m_lower = new QStackedWidget(lower);
    m_lower->addWidget(m_loss);
    m_lower->addWidget(m_exponents);
    m_exponents->logButton()->hide();
    connect(m_lowerTabs, &QTabBar::currentChanged, this, [this](int index) {
        m_lower->setCurrentIndex(index);
        m_exponents->logButton()->setVisible(index == 1);
    });
    connect(m_exponents, &ExponentsView::newRunRequested, this, &StabilityView::newRunRequested);
    connect(m_exponents, &ExponentsView::problem, this, &StabilityView::problem);
    auto* row = new QHBoxLayout;
    row->addWidget(m_lowerTabs);
    row->addStretch();
    row->addWidget(m_exponents->logButton());
    auto* layout = new QVBoxLayout(lower);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(row);
    layout->addWidget(m_lower, 1);
    return lower;
}

void StabilityView::connectSources() {
    connect(m_selection, &Selection::currentRunChanged, this, &StabilityView::currentRunChanged);
    connect(m_selection, &Selection::visibleRunsChanged, this, &StabilityView::askSteps);
    connect(m_selection, &Selection::tensorsChanged, this, &StabilityView::showTensors);
    connect(m_worker, &QueryWorker::databaseChanged, this, &StabilityView::refresh);
    connect(m_worker, &QueryWorker::databaseOpened, this, [this] {
        m_loss->forget();  // ids mean other runs now
        currentRunChanged();
    });
    connect(m_picker->model(), &TensorListModel::tickedByUser, this,
            [this] { userPicked(m_picker->model()->ticked()); });
    connect(m_heat, &HeatMapPlot::tensorClicked, this, &StabilityView::toggleTensor);
    m_heatTimer.setSingleShot(true);
    connect(&m_heatTimer, &QTimer::timeout, this, &StabilityView::askHeat);
}

void StabilityView::currentRunChanged() {
    m_tensors.clear();
    m_tensorsKnown = false;
    m_anyCast = false;
    m_amax->forget();
    m_exponents->setTensor({}, {});
    m_heat->setMap(nullptr, m_metric);
    m_loss->setEvents({});
    m_picker->model()->setItems({}, m_metric);
    m_group->reset();
    m_heatAge.invalidate();
    updateEmptyState();
    refresh();
}

void StabilityView::refresh() {
    askSteps();
    askSnapshots();
    askHeat();
}

void StabilityView::askSteps() {
    const profiling::RunId current = m_selection->currentRun();
    std::vector<profiling::RunId> runs = m_selection->visibleRuns();
    if (current && std::find(runs.begin(), runs.end(), current) == runs.end()) runs.push_back(current);
    std::vector<RunAnswer::Part> wanted;
    for (const profiling::RunId run : runs) {
        wanted.push_back({{run, QString(), m_selection->colorIndex(run)}, m_loss->readFrom(run), {}});
    }
    if (wanted.empty()) {
        m_loss->setRuns({});
        updateEmptyState();
        return;
    }
    m_worker->ask<RunAnswer>(
        this, "steps",
        [current, wanted](profiling::Store& store) {
            RunAnswer answer;
            answer.current = current;
            answer.parts = wanted;
            for (RunAnswer::Part& part : answer.parts) {
                const profiling::RunRow row = store.run(part.run.id);
                part.run.name = QString::fromStdString(row.name.empty() ? row.description.name : row.name);
                part.steps = store.steps(part.run.id, part.after);
                if (part.run.id == current) answer.precision = QString::fromStdString(row.description.precision);
            }
            if (!current) return answer;
            answer.events = store.events(current);
            answer.tensors = store.tensors(current);
            return answer;
        },
        [this](std::shared_ptr<const RunAnswer> answer) { takeSteps(*answer); });
}

void StabilityView::takeSteps(const RunAnswer& answer) {
    std::vector<LossPlot::Run> runs;
    for (const RunAnswer::Part& part : answer.parts) {
        m_loss->addSteps(part.run.id, part.after, part.steps);
        runs.push_back(part.run);
    }
    m_loss->setRuns(std::move(runs));
    if (answer.current == m_selection->currentRun()) {
        m_loss->setEvents(answer.events);
        m_tensors = answer.tensors;
        m_tensorsKnown = true;
        m_anyCast = std::any_of(m_tensors.begin(), m_tensors.end(), [](const profiling::TensorRow& tensor) {
            return !std::isnan(profiling::formatMax(tensor.format));
        });
        m_precision = answer.precision;
        showTensors();
    }
    updateEmptyState();
}

void StabilityView::askHeat() {
    const profiling::RunId run = m_selection->currentRun();
    if (!run) return;
    if (m_heatAge.isValid() && m_heatAge.elapsed() < kHeatIntervalMs) {
        if (!m_heatTimer.isActive()) m_heatTimer.start(kHeatIntervalMs - static_cast<int>(m_heatAge.elapsed()));
        return;
    }
    m_heatAge.start();
    m_worker->ask<HeatAnswer>(
        this, "heat",
        [run, metric = m_metric](profiling::Store& store) {
            HeatAnswer answer{run, metric, store.heatMap(run, metric, {}, kHeatColumns), {}};
            answer.operands = operandsOf(answer.map);
            return answer;
        },
        [this](std::shared_ptr<const HeatAnswer> answer) { takeHeat(std::move(answer)); });
}

void StabilityView::takeHeat(std::shared_ptr<const HeatAnswer> answer) {
    if (answer->run != m_selection->currentRun() || answer->metric != m_metric) return;
    m_heat->setMap({answer, &answer->operands}, answer->metric);
    m_picker->model()->setItems(worstFirst(answer->map, answer->metric), answer->metric);
    chooseTensors();
    m_group->dataChanged(m_heat);
}

/// The tensors named by hand in an earlier run, else the worst ones.
void StabilityView::chooseTensors() {
    const auto& items = m_picker->model()->items();
    std::vector<profiling::TensorId> chosen;
    for (const TensorItem& item : items) {
        if (m_userNames.contains(QString::fromStdString(item.tensor.fullName()))) chosen.push_back(item.tensor.id);
    }
    const bool byHand = !chosen.empty();
    for (std::size_t i = 0; !byHand && i < std::min(kDefaultTensors, items.size()); ++i) {
        chosen.push_back(items[i].tensor.id);
    }
    const auto& now = m_selection->tensors();
    const bool stillHere = !now.empty() && std::all_of(now.begin(), now.end(), [&](profiling::TensorId id) {
        return std::any_of(items.begin(), items.end(), [id](const TensorItem& item) { return item.tensor.id == id; });
    });
    const profiling::HeatMap* map = m_heat->map();
    const bool settled = map != nullptr && map->columns * map->stepsPerColumn >= kSettled;
    if (stillHere && (settled || byHand)) return;
    m_selection->setTensors(std::move(chosen));
}

void StabilityView::showTensors() {
    std::vector<profiling::TensorRow> rows;
    for (const profiling::TensorId id : m_selection->tensors()) {
        const auto found = std::find_if(m_tensors.begin(), m_tensors.end(),
                                        [id](const profiling::TensorRow& row) { return row.id == id; });
        if (found != m_tensors.end()) rows.push_back(*found);
    }
    const auto sameIds = [](const profiling::TensorRow& a, const profiling::TensorRow& b) { return a.id == b.id; };
    const auto& shown = m_amax->tensors();
    m_picker->model()->setTicked(m_selection->tensors());
    if (std::equal(rows.begin(), rows.end(), shown.begin(), shown.end(), sameIds)) return;
    m_amax->setTensors(std::move(rows));
    showExponentsOf(shown);
    std::vector<std::pair<profiling::TensorId, QColor>> picked;
    for (std::size_t i = 0; i < m_amax->tensors().size(); ++i) {
        picked.push_back({m_amax->tensors()[i].id, m_amax->tensorColor(static_cast<int>(i))});
    }
    m_heat->setPicked(std::move(picked));
    askSnapshots();
}

void StabilityView::showExponentsOf(const std::vector<profiling::TensorRow>& tensors) {
    if (tensors.empty()) {
        m_exponents->setTensor({}, {});
    } else {
        m_exponents->setTensor(tensors.front(), m_amax->tensorColor(0));
    }
}

void StabilityView::askSnapshots() {
    std::vector<SnapshotsAnswer::Part> wanted;
    for (const profiling::TensorRow& tensor : m_amax->tensors()) {
        wanted.push_back({tensor.id, m_amax->lastStep(tensor.id), {}});
    }
    const profiling::RunId run = m_selection->currentRun();
    if (wanted.empty() || !run) return;
    m_worker->ask<SnapshotsAnswer>(
        this, "snapshots",
        [run, wanted](profiling::Store& store) {
            SnapshotsAnswer answer{wanted};
            for (auto& part : answer.parts) part.rows = store.snapshots(run, part.tensor, part.after);
            return answer;
        },
        [this](std::shared_ptr<const SnapshotsAnswer> answer) { takeSnapshots(*answer); });
}

void StabilityView::takeSnapshots(const SnapshotsAnswer& answer) {
    for (const auto& part : answer.parts) m_amax->addSnapshots(part.tensor, part.after, part.rows);
    m_amax->redraw();
}

void StabilityView::toggleTensor(profiling::TensorId tensor) {
    std::vector<profiling::TensorId> tensors = m_selection->tensors();
    const auto found = std::find(tensors.begin(), tensors.end(), tensor);
    if (found != tensors.end() && tensors.size() > 1) {
        tensors.erase(found);
    } else if (found == tensors.end()) {
        tensors.insert(tensors.begin(), tensor);  // first: its bands are shown
        if (tensors.size() > TensorListModel::kMaxTicked) tensors.pop_back();
    }
    userPicked(tensors);
}

void StabilityView::userPicked(const std::vector<profiling::TensorId>& tensors) {
    m_userNames.clear();
    for (const profiling::TensorId id : tensors) {
        const auto found = std::find_if(m_tensors.begin(), m_tensors.end(),
                                        [id](const profiling::TensorRow& row) { return row.id == id; });
        if (found != m_tensors.end()) m_userNames += QString::fromStdString(found->fullName());
    }
    m_selection->setTensors(tensors);
}

void StabilityView::setHeatMetric(HeatMetric metric) {
    if (metric == m_metric) return;
    m_metric = metric;
    const auto at = std::find(std::begin(kMetrics), std::end(kMetrics), metric);
    m_metricBox->setCurrentIndex(static_cast<int>(at - std::begin(kMetrics)));
    m_heatAge.invalidate();
    askHeat();
}

void StabilityView::updateEmptyState() {
    const bool noRun = !m_selection->currentRun();
    const bool noTensors = !noRun && m_tensorsKnown && m_tensors.empty();
    QString text;
    if (noRun) {
        text = tr("amax, scale and loss, step by step.\nNo run is selected: choose one in the list, or start one.");
    } else if (noTensors) {
        text = tr("amax and scale of FP8 tensors.\nThis run trained in %1 and has no scales: an fp8 run shows them.")
                   .arg(m_precision);
    }
    m_amax->setEmptyState(text, tr("New run…"));
    m_heat->setVisible(text.isEmpty());
    m_heat->setEmptyState(m_tensorsKnown && !m_tensors.empty() && !m_anyCast
                              ? tr("Headroom, saturation, underflow and SQNR of every tensor.\nNone of this run's "
                                   "tensors was cast: an fp8 run shows them.")
                              : QString());
    m_lower->parentWidget()->setVisible(!noRun || !m_selection->visibleRuns().empty());
    m_modeBox->setEnabled(text.isEmpty());
    m_metricBox->setEnabled(text.isEmpty());
}

void StabilityView::setTheme(const PlotStyle& style) {
    m_style = style;
    m_title->setFont(style.titleFont());
    for (QWidget* control : std::initializer_list<QWidget*>{m_modeBox, m_metricBox, m_picker}) {
        control->setFont(style.captionFont());
    }
    const int left = QFontMetrics(style.captionFont()).horizontalAdvance(QStringLiteral("layer.00")) + 16;
    for (PlotWidget* plot : std::initializer_list<PlotWidget*>{m_amax, m_heat, m_loss}) {
        plot->setStyle(style);
        plot->setLeftMargin(left);  // the same, so that the steps stand below each other
    }
    std::vector<std::pair<profiling::TensorId, QColor>> picked;
    for (std::size_t i = 0; i < m_amax->tensors().size(); ++i) {
        picked.push_back({m_amax->tensors()[i].id, m_amax->tensorColor(static_cast<int>(i))});
    }
    m_heat->setPicked(std::move(picked));
    m_exponents->setStyle(style);
    m_lowerTabs->setFont(style.captionFont());
    showExponentsOf(m_amax->tensors());
}

void StabilityView::fit() {
    m_group->fit();
    m_exponents->plot()->group()->fit();
}

bool StabilityView::zoomBack() {
    if (m_exponents->plot()->hasFocus()) return m_exponents->plot()->group()->back();
    return m_group->back();
}

}  // namespace gui
