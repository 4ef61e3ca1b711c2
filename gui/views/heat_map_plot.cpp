// Turns a HeatMap into a QCPColorMap and paints what QCustomPlot lacks; see heat_map_plot.h.
#include "views/heat_map_plot.h"

#include "models/formatting.h"
#include "models/tensor_list_model.h"
#include "profiling/metrics.h"
#include "views/plot_overlay.h"

#include <QAction>

#include <algorithm>
#include <cmath>

namespace gui {

using profiling::HeatMetric;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool isShare(HeatMetric metric) {
    return metric == HeatMetric::Saturated || metric == HeatMetric::Underflowed;
}

QString captionOf(HeatMetric metric) {
    switch (metric) {
        case HeatMetric::Headroom:
            return HeatMapPlot::tr("Headroom, tensor × step (bits below saturation)");
        case HeatMetric::Saturated:
            return HeatMapPlot::tr("Saturated elements, tensor × step");
        case HeatMetric::Underflowed:
            return HeatMapPlot::tr("Underflowed elements, tensor × step");
        case HeatMetric::Sqnr:
            return HeatMapPlot::tr("SQNR, tensor × step (dB)");
    }
    return {};
}

/// Least value and, so that a few outliers do not wash out the rest, the 98th percentile.
QCPRange robustRange(std::vector<float> values, HeatMetric metric, bool& clamped) {
    values.erase(std::remove_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); }), values.end());
    clamped = false;
    if (values.empty()) return {0, 1};
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    const double low = isShare(metric) ? 0.0 : static_cast<double>(*least);
    double high = static_cast<double>(*greatest);
    if (!isShare(metric)) {
        const auto at = values.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(values.size() - 1) * 0.98);
        std::nth_element(values.begin(), at, values.end());
        clamped = static_cast<double>(*at) < high;
        high = static_cast<double>(*at);
    }
    // Less than a bit or a dB is not stretched over all colours: with a scale per block it would be rounding.
    high = std::max(high, low + (isShare(metric) ? 1e-6 : 1.0));
    return {low, high};
}

}  // namespace

QString layerGroup(const std::string& layer) {
    const QStringList parts = QString::fromStdString(layer).split('.');
    return parts.size() > 1 && parts[0] == QLatin1String("layer") ? parts[0] + '.' + parts[1] : parts[0];
}

HeatMapPlot::HeatMapPlot(Selection* selection, QWidget* parent)
    : PlotWidget(selection, parent), m_colors(new QCPColorMap(xAxis, yAxis)) {
    m_colors->setInterpolate(false);
    m_colors->setTightBoundary(false);
    m_colors->setSelectable(QCP::stNone);
    yAxis->setRangeReversed(true);
    yAxis->setTickLabels(false);
    yAxis->grid()->setVisible(false);
    setLegendVisible(false);
    setYPad(0);
    setExtraLimits(
        [this] {
            Limits limits;
            if (!m_map || m_map->columns == 0) return limits;
            limits.include(static_cast<double>(m_map->firstStep) - 0.5);
            const auto last = m_map->firstStep + m_map->columns * m_map->stepsPerColumn;
            limits.include(static_cast<double>(last) - 0.5);
            return limits;
        },
        [this] {
            Limits limits;
            if (!m_map || m_map->tensors.empty()) return limits;
            limits.include(-0.5);
            limits.include(static_cast<double>(m_map->tensors.size()) - 0.5);
            return limits;
        });
    setExtraReadout([this](double x, double y) { return cellReadout(x, y); });
    setCsv([this] { return mapCsv(); });
    using Area = PlotPainter::Area;
    new PlotPainter(this, QStringLiteral("background"), Area::Axes, [this](QCPPainter* p) { paintHatching(p); });
    new PlotPainter(this, QStringLiteral("overlay"), Area::WholePlot, [this](QCPPainter* p) {
        paintScale(p);
        paintGroups(p);
        paintFrame(p);
    });
    connect(this, &PlotWidget::clickedAt, this, [this](double, double y) {
        if (const int row = rowAt(y); row >= 0) emit tensorClicked(m_map->tensors[static_cast<std::size_t>(row)].id);
    });
    connect(this, &PlotWidget::styleChanged, this, [this] {
        yAxis->grid()->setVisible(false);
        updateColors();
    });
    auto* cividis = new QAction(tr("Cividis colours"), this);
    cividis->setObjectName(QStringLiteral("heatCividis"));
    cividis->setCheckable(true);
    connect(cividis, &QAction::toggled, this, &HeatMapPlot::setCividis);
    addAction(cividis);
}

double HeatMapPlot::cell(int row, int column) const {
    const auto at =
        static_cast<std::size_t>(row) * static_cast<std::size_t>(m_map->columns) + static_cast<std::size_t>(column);
    return static_cast<double>(m_map->values[at]);
}

void HeatMapPlot::setMap(std::shared_ptr<const profiling::HeatMap> map, HeatMetric metric) {
    m_map = std::move(map);
    m_metric = metric;
    setCaption(captionOf(metric));
    const int rows = m_map ? static_cast<int>(m_map->tensors.size()) : 0;
    const int columns = m_map ? m_map->columns : 0;
    m_colors->setVisible(rows > 0 && columns > 0);
    if (rows == 0 || columns == 0) return;
    const QCPRange range = robustRange(m_map->values, metric, m_clampedHigh);

    // QCustomPlot needs two cells each way to know how large a cell is; the spare one stays outside the axes.
    const int keys = std::max(2, columns);
    const int values = std::max(2, rows);
    const double width = static_cast<double>(m_map->stepsPerColumn);
    const double first = static_cast<double>(m_map->firstStep) + (width - 1) / 2;
    QCPColorMapData* data = m_colors->data();
    data->setSize(keys, values);
    data->setRange(QCPRange(first, first + (keys - 1) * width), QCPRange(0, values - 1));
    for (int row = 0; row < values; ++row) {
        for (int column = 0; column < keys; ++column) {
            const bool inside = row < rows && column < columns;
            double value = inside ? cell(row, column) : kNone;
            if (std::isinf(value)) value = value > 0 ? range.upper : range.lower;
            data->setCell(column, row, value);
        }
    }
    m_colors->setDataRange(range);
    updateColors();
}

void HeatMapPlot::updateColors() {
    QCPColorGradient gradient = m_cividis ? style().cividis() : style().viridis();
    gradient.setNanHandling(QCPColorGradient::nhTransparent);  // the hatching shows through
    m_colors->setGradient(gradient);
    replot(rpQueuedReplot);
}

void HeatMapPlot::setCividis(bool on) {
    m_cividis = on;
    updateColors();
}

QColor HeatMapPlot::cellColor(int row, int column) const {
    double value = cell(row, column);
    if (std::isnan(value)) return {};
    if (std::isinf(value)) value = value > 0 ? colorRange().upper : colorRange().lower;
    QCPColorGradient gradient = m_colors->gradient();
    return QColor(gradient.color(value, colorRange()));
}

void HeatMapPlot::setPicked(std::vector<std::pair<profiling::TensorId, QColor>> picked) {
    m_picked = std::move(picked);
    replot(rpQueuedReplot);
}

int HeatMapPlot::rowAt(double y) const {
    const std::int64_t row = std::llround(y);
    const bool inside = m_map && row >= 0 && row < static_cast<std::int64_t>(m_map->tensors.size());
    return inside ? static_cast<int>(row) : -1;
}

int HeatMapPlot::columnAt(double x) const {
    if (!m_map || m_map->columns == 0) return -1;
    const double column =
        std::floor((x + 0.5 - static_cast<double>(m_map->firstStep)) / static_cast<double>(m_map->stepsPerColumn));
    return column >= 0 && column < m_map->columns ? static_cast<int>(column) : -1;
}

void HeatMapPlot::paintHatching(QCPPainter* painter) const {
    const Limits x = xLimits();
    const Limits y = yLimits();
    if (!x.valid || !y.valid) return;
    const QRectF area(QPointF(xAxis->coordToPixel(x.low), yAxis->coordToPixel(y.low)),
                      QPointF(xAxis->coordToPixel(x.high), yAxis->coordToPixel(y.high)));
    painter->fillRect(area, style().missing);
    painter->fillRect(area, QBrush(style().secondary, Qt::BDiagPattern));
}

/// Small ticks in the lines' colours beside the rows that are drawn above.
void HeatMapPlot::paintFrame(QCPPainter* painter) const {
    const QRect axes = axisRect()->rect();
    for (const auto& [tensor, color] : m_picked) {
        for (std::size_t row = 0; m_map && row < m_map->tensors.size(); ++row) {
            if (m_map->tensors[row].id != tensor) continue;
            const double top = yAxis->coordToPixel(static_cast<double>(row) - 0.5);
            const double bottom = yAxis->coordToPixel(static_cast<double>(row) + 0.5);
            const double middle = (top + bottom) / 2;
            if (middle < axes.top() || middle > axes.bottom()) continue;
            const double half = std::max(2.0, (bottom - top) / 2);
            painter->fillRect(QRectF(axes.left() - 5.0, middle - half, 4, 2 * half), color);
        }
    }
}

void HeatMapPlot::paintScale(QCPPainter* painter) const {
    if (!m_map || m_map->columns == 0) return;
    painter->setFont(style().captionFont());
    painter->setPen(style().secondary);
    const QFontMetrics metrics(painter->font());
    const QCPRange range = colorRange();
    const QString low = heatValueText(m_metric, range.lower);
    const QString high = (m_clampedHigh ? QStringLiteral("≥ ") : QString()) + heatValueText(m_metric, range.upper);
    constexpr int kBar = 72;
    const int height = metrics.height() + 2;
    int x = viewport().right() - 12 - metrics.horizontalAdvance(high) - 2;
    const int captionEnd = 4 + metrics.horizontalAdvance(caption()) + 12;
    const int whole = metrics.horizontalAdvance(low) + 6 + kBar + 6;
    if (x - whole < captionEnd) return;  // no room: the read-out has the values
    painter->drawText(QRect(x, 1, viewport().right() - x, height), Qt::AlignLeft | Qt::AlignVCenter, high);
    x -= kBar + 6;
    QCPColorGradient gradient = m_colors->gradient();
    for (int i = 0; i < kBar; ++i) {
        painter->fillRect(QRectF(x + i, 5, 1.5, height - 9), QColor(gradient.color(i, QCPRange(0, kBar - 1))));
    }
    x -= 6 + metrics.horizontalAdvance(low);
    painter->drawText(QRect(x, 1, metrics.horizontalAdvance(low) + 2, height), Qt::AlignLeft | Qt::AlignVCenter, low);
}

void HeatMapPlot::paintGroups(QCPPainter* painter) const {
    if (!m_map) return;
    const QRect axes = axisRect()->rect();
    painter->setFont(style().captionFont());
    painter->setPen(style().secondary);
    const QFontMetrics metrics(painter->font());
    const int width = axes.left() - 10;
    double lastBottom = -1e9;
    const std::size_t rows = m_map->tensors.size();
    for (std::size_t first = 0; first < rows;) {
        const QString group = layerGroup(m_map->tensors[first].layer);
        std::size_t end = first + 1;
        while (end < rows && layerGroup(m_map->tensors[end].layer) == group) ++end;
        // Of the part that is in sight.
        const double top = std::max<double>(axes.top(), yAxis->coordToPixel(static_cast<double>(first) - 0.5));
        const double bottom = std::min<double>(axes.bottom(), yAxis->coordToPixel(static_cast<double>(end) - 0.5));
        const double middle = (top + bottom) / 2;
        const double half = metrics.height() / 2.0;
        if (bottom > top && middle - half >= lastBottom - 2) {
            painter->drawText(QRectF(2, middle - half, width, metrics.height()), Qt::AlignRight | Qt::AlignVCenter,
                              metrics.elidedText(group, Qt::ElideMiddle, width));
            lastBottom = middle + half;
        }
        first = end;
    }
}

std::vector<ReadoutRow> HeatMapPlot::cellReadout(double x, double y) const {
    const int row = rowAt(y);
    const int column = columnAt(x);
    if (row < 0 || column < 0) return {};
    const double value = cell(row, column);
    const QString name = QString::fromStdString(m_map->tensors[static_cast<std::size_t>(row)].fullName());
    const std::string& format = m_map->tensors[static_cast<std::size_t>(row)].format;
    QString text = heatValueText(m_metric, value);
    if (std::isnan(value)) {
        const bool isCast = !std::isnan(profiling::formatMax(format));
        text = isCast ? tr("not recorded") : tr("%1, not cast").arg(QString::fromStdString(format));
    }
    if (m_map->stepsPerColumn > 1 && !std::isnan(value)) text += tr(", worst of %1 steps").arg(m_map->stepsPerColumn);
    return {{cellColor(row, column), name, text}};
}

QString HeatMapPlot::mapCsv() const {
    QString text = QStringLiteral("tensor,first_step,last_step,%1\r\n").arg(profiling::name(m_metric));
    for (std::size_t row = 0; m_map && row < m_map->tensors.size(); ++row) {
        for (int column = 0; column < m_map->columns; ++column) {
            const double value = cell(static_cast<int>(row), column);
            if (std::isnan(value)) continue;
            const std::int64_t first = m_map->firstStep + column * m_map->stepsPerColumn;
            text += QStringLiteral("%1,%2,%3,%4\r\n")
                        .arg(QString::fromStdString(m_map->tensors[row].fullName()))
                        .arg(first)
                        .arg(first + m_map->stepsPerColumn - 1)
                        .arg(value, 0, 'g', 9);
        }
    }
    return text;
}

}  // namespace gui
