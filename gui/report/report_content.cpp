// Turns collected runs into sections. Every number goes through models/formatting.h; every definition is the one of
// resources/docs/numbers.md.
#include "report/report_content.h"

#include "models/formatting.h"

#include <QDateTime>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QMap>
#include <QSet>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace gui {

namespace {

constexpr std::size_t kRunsPerTable = 5;  // side by side, the baseline included: fits a page without scrolling
constexpr std::size_t kKernelRows = 15;
constexpr std::size_t kEventRows = 60;
constexpr std::size_t kGenerationRows = 8;
constexpr std::size_t kDots = 200;
constexpr std::size_t kSmoothFrom = 100;  // steps; shorter curves are drawn as they are
constexpr double kHeadroomShown = 8;      // bits; more headroom than this looks the same

QString text(const std::string& value) {
    return QString::fromStdString(value);
}

QString runName(const ReportRun& run) {
    const QString name = text(run.row.name);
    return name.isEmpty() ? QStringLiteral("run %1").arg(run.row.id.value) : name;
}

QString runTitle(const ReportRun& run) {
    return QStringLiteral("#%1 %2").arg(QString::number(run.row.id.value), runName(run));
}

ReportBlock paragraph(const QString& words) {
    ReportBlock block;
    block.text = words;
    return block;
}

ReportBlock subHeading(const QString& words) {
    ReportBlock block = paragraph(words);
    block.kind = ReportBlock::Kind::SubHeading;
    return block;
}

ReportBlock tableBlock(ReportTable table) {
    ReportBlock block;
    block.kind = ReportBlock::Kind::Table;
    block.table = std::move(table);
    return block;
}

ReportBlock figure(Plot plot) {
    ReportBlock block;
    block.kind = ReportBlock::Kind::Figure;
    block.text = plotTitle(plot);
    block.plot = std::move(plot);
    return block;
}

/// The runs in groups that fit side by side; the baseline leads each group.
std::vector<std::vector<const ReportRun*>> groupsOfRuns(const ReportData& data) {
    std::vector<std::vector<const ReportRun*>> groups;
    for (std::size_t i = 0; i < data.runs.size(); ++i) {
        if (i == data.baseline) continue;
        if (groups.empty() || groups.back().size() == kRunsPerTable) groups.push_back({&data.baselineRun()});
        groups.back().push_back(&data.runs[i]);
    }
    if (groups.empty()) groups.push_back({&data.baselineRun()});
    return groups;
}

ReportTable sideBySide(const std::vector<const ReportRun*>& runs, const QString& corner) {
    ReportTable table;
    table.header << corner;
    table.headerColors.push_back(-1);
    for (const ReportRun* run : runs) {
        table.header << runTitle(*run);
        table.headerColors.push_back(run->colorIndex);
    }
    return table;
}

struct Metric {
    QString title;
    std::function<double(const ReportRun&)> value;
    std::function<QString(double)> show;
    std::function<QString(double)> showDelta;
};

/// Zero stands for "not known" in the database; a report must not show it as a measurement.
double known(double value) {
    return value > 0 ? value : std::numeric_limits<double>::quiet_NaN();
}

QString timeOrMissing(double ns) {
    return std::isfinite(ns) ? duration(std::llround(ns)) : missingText();
}

QString bytesOrMissing(double size) {
    return std::isfinite(size) ? bytes(size) : missingText();
}

std::vector<Metric> metrics() {
    const auto si = [](double value) { return siNumber(value); };
    const auto loss = [](double value) { return significant(value, 5); };
    return {
        {QStringLiteral("Throughput, tokens/s (median)"), [](const ReportRun& r) { return known(r.throughput.median); },
         si, si},
        {QStringLiteral("Step time (median)"), [](const ReportRun& r) { return known(r.stepNs); }, timeOrMissing,
         timeOrMissing},
        {QStringLiteral("Matrix work, FLOP/s (median)"), [](const ReportRun& r) { return known(r.flopsPerSecond); }, si,
         si},
        {QStringLiteral("Training loss, last step (nats)"), [](const ReportRun& r) { return r.lastLoss; }, loss, si},
        {QStringLiteral("Validation loss, newest (nats)"),
         [](const ReportRun& r) { return r.valLoss.value_or(std::numeric_limits<double>::quiet_NaN()); }, loss, si},
        {QStringLiteral("Memory, peak"), [](const ReportRun& r) { return known(r.peakMemoryBytes); }, bytesOrMissing,
         bytesOrMissing},
    };
}

QString withDelta(const Metric& metric, const ReportRun& run, const ReportRun& base) {
    const double value = metric.value(run);
    const double reference = metric.value(base);
    QString shown = metric.show(value);
    if (&run == &base || !std::isfinite(value) || !std::isfinite(reference)) return shown;
    const double delta = value - reference;
    const QString sign = delta < 0 ? QStringLiteral("−") : QStringLiteral("+");
    return QStringLiteral("%1  (Δ %2%3, %4)")
        .arg(shown, delta == 0 ? QStringLiteral("±") : sign, metric.showDelta(std::abs(delta)),
             difference(value, reference));
}

QString statusText(const ReportRun& run) {
    return QString::fromLatin1(profiling::name(run.row.status));
}

QString precisionText(const profiling::RunDescription& about) {
    QString words = text(about.precision);
    if (about.emulated) words += QStringLiteral(" (emulated bit for bit in software)");
    if (about.precisionAsked != about.precision) {
        words += QStringLiteral("; asked for: ") + text(about.precisionAsked);
    }
    if (!about.precisionReason.empty()) words += QStringLiteral("; ") + text(about.precisionReason);
    return words;
}

void addRows(ReportTable& table, const std::vector<const ReportRun*>& runs, const QString& title,
             const std::function<QString(const ReportRun&)>& show) {
    QStringList row{title};
    for (const ReportRun* run : runs) row << show(*run);
    table.rows.push_back(row);
}

ReportSection summarySection(const ReportData& data) {
    ReportSection section{QStringLiteral("summary"), QStringLiteral("Summary"), {}};
    const ReportRun& base = data.baselineRun();
    if (data.runs.size() > 1) {
        section.blocks.push_back(paragraph(QStringLiteral("Δ and % are measured against the baseline ") +
                                           runTitle(base) + QLatin1Char('.')));
    }
    for (const auto& group : groupsOfRuns(data)) {
        ReportTable table = sideBySide(group, QStringLiteral("Measure"));
        for (const Metric& metric : metrics()) {
            addRows(table, group, metric.title, [&](const ReportRun& run) { return withDelta(metric, run, base); });
        }
        addRows(table, group, QStringLiteral("Steps stored, skipped among them"), [](const ReportRun& run) {
            return QStringLiteral("%1, %2").arg(grouped(run.row.stepsDone), grouped(run.skippedSteps));
        });
        addRows(table, group, QStringLiteral("Throughput, quartiles"), [](const ReportRun& run) {
            return QStringLiteral("%1 … %2 (%3 %4)")
                .arg(siNumber(run.throughput.q1), siNumber(run.throughput.q3),
                     grouped(static_cast<std::int64_t>(run.throughput.count)),
                     run.fromRepeats ? QStringLiteral("repeats") : QStringLiteral("steps"));
        });
        addRows(table, group, QStringLiteral("Status"), statusText);
        section.blocks.push_back(tableBlock(std::move(table)));
    }
    return section;
}

ReportSection throughputSection(const ReportData& data) {
    BarPlot plot;
    plot.title = QStringLiteral("Throughput");
    plot.xTitle = QStringLiteral("tokens/s");
    for (const ReportRun& run : data.runs) {
        PlotBar bar{runTitle(run),
                    siNumber(run.throughput.median),
                    run.colorIndex,
                    run.throughput.median,
                    run.throughput.q1,
                    run.throughput.q3,
                    {}};
        const std::size_t every = std::max<std::size_t>(1, run.tokensPerSecond.size() / kDots);
        for (std::size_t i = 0; i < run.tokensPerSecond.size(); i += run.fromRepeats ? 1 : every) {
            bar.dots.push_back(run.tokensPerSecond[i]);
        }
        plot.bars.push_back(std::move(bar));
    }
    ReportSection section{QStringLiteral("throughput"), QStringLiteral("Precision vs throughput"), {}};
    section.blocks.push_back(paragraph(
        QStringLiteral("Bars end at the median, the line across spans the quartiles, and each dot is one repeat of a "
                       "benchmark (or one step of a run without repeats).")));
    section.blocks.push_back(figure(std::move(plot)));
    return section;
}

/// Exponential moving average with a time constant of a thirtieth of the curve; gaps stay gaps.
std::vector<double> smoothed(const std::vector<double>& values) {
    const double keep = 1 - 1 / std::max(1.0, static_cast<double>(values.size()) / 30);
    std::vector<double> result;
    double mean = 0, weight = 0;
    for (double value : values) {
        if (!std::isfinite(value)) {
            result.push_back(value);
            continue;
        }
        mean = keep * mean + (1 - keep) * value;
        weight = keep * weight + (1 - keep);
        result.push_back(mean / weight);
    }
    return result;
}

LinePlot lossPlot(const ReportData& data) {
    LinePlot plot;
    plot.title = QStringLiteral("Training loss");
    plot.xTitle = QStringLiteral("step");
    plot.yTitle = QStringLiteral("loss (nats)");
    for (const ReportRun& run : data.runs) {
        PlotSeries raw{
            runTitle(run), run.colorIndex, run.colorIndex >= 6 ? QStringLiteral("6 3") : QString(), 1, {}, {}};
        for (const profiling::StepRow& step : run.steps) {
            raw.x.push_back(static_cast<double>(step.step));
            raw.y.push_back(step.loss);
        }
        if (raw.x.size() >= kSmoothFrom) {
            PlotSeries smooth = raw;
            smooth.y = smoothed(raw.y);
            raw.label.clear();
            raw.opacity = 0.3;
            plot.series.push_back(std::move(raw));
            plot.series.push_back(std::move(smooth));
        } else {
            plot.series.push_back(std::move(raw));
        }
        for (const profiling::EventRow& event : run.events) {
            if (event.severity == engine::Severity::Info || event.step < 0) continue;
            plot.marks.push_back(
                {static_cast<double>(event.step),
                 QStringLiteral("%1, step %2: %3").arg(runTitle(run), QString::number(event.step), text(event.text)),
                 event.severity == engine::Severity::Error});
        }
    }
    return plot;
}

LinePlot validationPlot(const ReportData& data) {
    LinePlot plot;
    plot.title = QStringLiteral("Validation loss");
    plot.xTitle = QStringLiteral("step");
    plot.yTitle = QStringLiteral("loss (nats)");
    for (const ReportRun& run : data.runs) {
        PlotSeries series{
            runTitle(run), run.colorIndex, run.colorIndex >= 6 ? QStringLiteral("6 3") : QString(), 1, {}, {}};
        for (const profiling::StepRow& step : run.steps) {
            if (!step.valLoss) continue;
            series.x.push_back(static_cast<double>(step.step));
            series.y.push_back(*step.valLoss);
        }
        if (series.x.size() > 1) plot.series.push_back(std::move(series));
    }
    return plot;
}

LinePlot tensorPlot(const ReportRun& run, const ReportTensor& worst) {
    const double max = profiling::formatMax(worst.tensor.format);
    LinePlot plot;
    plot.title = QStringLiteral("%1 (%2), least headroom %3 bits")
                     .arg(text(worst.tensor.fullName()), text(worst.tensor.format), significant(worst.leastHeadroom));
    plot.xTitle = QStringLiteral("step");
    plot.yTitle = QStringLiteral("log2");
    plot.log2Y = true;
    PlotSeries amax{QStringLiteral("amax"), run.colorIndex, {}, 1, {}, {}};
    PlotSeries limit{QStringLiteral("saturates above %1 / scale").arg(significant(max)),
                     run.colorIndex,
                     QStringLiteral("6 3"),
                     1,
                     {},
                     {}};
    PlotSeries scale{QStringLiteral("scale"), run.colorIndex, QStringLiteral("2 3"), 1, {}, {}};
    if (max >= 1000) limit.label = QStringLiteral("saturates above %1 / scale").arg(max, 0, 'f', 0);
    for (const profiling::SnapshotRow& snapshot : worst.snapshots) {
        const auto step = static_cast<double>(snapshot.step);
        for (PlotSeries* series : {&amax, &limit, &scale}) series->x.push_back(step);
        amax.y.push_back(snapshot.amax);
        limit.y.push_back(snapshot.scale > 0 ? max / snapshot.scale : 0);
        scale.y.push_back(snapshot.scale);
    }
    plot.series = {std::move(amax), std::move(limit), std::move(scale)};
    return plot;
}

/// A delayed scale lags by one step, so being short of a fraction of a bit is normal and no trouble.
constexpr double kHeadroomMissed = -1;

HeatPlot headroomPlot(const ReportRun& run) {
    HeatPlot plot;
    plot.title = QStringLiteral("Headroom of every tensor, %1").arg(runTitle(run));
    plot.xTitle = QStringLiteral("step");
    plot.scaleTitle = QStringLiteral("bits and more · red: saturated by more than a bit · hatched: none");
    plot.low = kHeadroomMissed;
    plot.columns = run.headroom.columns;
    plot.firstX = static_cast<double>(run.headroom.firstStep);
    plot.xPerColumn = static_cast<double>(run.headroom.stepsPerColumn);
    plot.high = kHeadroomShown;
    plot.values = run.headroom.values;
    for (const profiling::TensorRow& tensor : run.headroom.tensors) plot.rows << text(tensor.fullName());
    return plot;
}

ReportSection stabilitySection(const ReportData& data) {
    ReportSection section{QStringLiteral("stability"), QStringLiteral("Numerical stability"), {}};
    section.blocks.push_back(figure(lossPlot(data)));
    LinePlot validation = validationPlot(data);
    if (!validation.series.empty()) section.blocks.push_back(figure(std::move(validation)));
    bool any = false;
    for (const ReportRun& run : data.runs) {
        if (run.headroom.tensors.empty() || run.headroom.columns <= 0) continue;
        any = true;
        section.blocks.push_back(subHeading(runTitle(run)));
        section.blocks.push_back(figure(headroomPlot(run)));
        for (const ReportTensor& worst : run.worstTensors) {
            if (!worst.snapshots.empty()) section.blocks.push_back(figure(tensorPlot(run, worst)));
        }
    }
    if (!any) {
        section.blocks.push_back(paragraph(
            QStringLiteral("No run of this report holds FP8 snapshots, so there is no amax, scale or headroom "
                           "to show.")));
    }
    return section;
}

ReportSection kernelSection(const ReportData& data) {
    ReportSection section{QStringLiteral("kernels"), QStringLiteral("Kernels"), {}};
    for (const ReportRun& run : data.runs) {
        if (run.kernels.empty()) continue;
        section.blocks.push_back(subHeading(runTitle(run)));
        ReportTable table;
        table.header << QStringLiteral("Kernel") << QStringLiteral("Calls") << QStringLiteral("Total (ms)")
                     << QStringLiteral("Mean (ms)") << QStringLiteral("Median (ms)") << QStringLiteral("Share of steps")
                     << QStringLiteral("FLOP/s") << QStringLiteral("Bytes/s");
        for (std::size_t i = 0; i < std::min(run.kernels.size(), kKernelRows); ++i) {
            const profiling::SummaryRow& row = run.kernels[i];
            const double seconds = static_cast<double>(row.totalNs) * 1e-9;
            const auto rate = [&](double work) {
                return work > 0 && seconds > 0 ? siNumber(work / seconds) : missingText();
            };
            table.rows.push_back({text(row.name), grouped(row.calls), milliseconds(static_cast<double>(row.totalNs)),
                                  milliseconds(row.meanNs), milliseconds(static_cast<double>(row.medianNs)),
                                  percent(row.share), rate(row.flops), rate(row.bytes)});
        }
        section.blocks.push_back(tableBlock(std::move(table)));
        if (run.kernels.size() > kKernelRows) {
            section.blocks.push_back(paragraph(
                QStringLiteral("The %1 that took most time, of %2.").arg(kKernelRows).arg(run.kernels.size())));
        }
    }
    if (section.blocks.empty()) {
        section.blocks.push_back(paragraph(QStringLiteral("No kernel times: the runs were recorded without ranges.")));
    }
    return section;
}

QString severityText(engine::Severity severity) {
    switch (severity) {
        case engine::Severity::Info:
            return QStringLiteral("info");
        case engine::Severity::Warning:
            return QStringLiteral("warning");
        case engine::Severity::Error:
            return QStringLiteral("error");
    }
    return missingText();
}

ReportSection eventSection(const ReportData& data) {
    ReportSection section{QStringLiteral("events"), QStringLiteral("Events"), {}};
    ReportTable table;
    table.header << QStringLiteral("Run") << QStringLiteral("Step") << QStringLiteral("Severity")
                 << QStringLiteral("Code") << QStringLiteral("What happened");
    table.textColumns = 5;
    std::size_t left = 0;
    for (const ReportRun& run : data.runs) {
        std::size_t shown = 0;
        for (const profiling::EventRow& event : run.events) {
            if (shown++ >= kEventRows) {
                ++left;
                continue;
            }
            table.rows.push_back({runTitle(run), event.step < 0 ? missingText() : QString::number(event.step),
                                  severityText(event.severity), text(event.code), text(event.text)});
        }
    }
    if (table.rows.empty()) {
        section.blocks.push_back(paragraph(QStringLiteral("Nothing was reported.")));
    } else {
        section.blocks.push_back(tableBlock(std::move(table)));
    }
    if (left > 0) {
        section.blocks.push_back(paragraph(
            QStringLiteral("The first %1 events of each run; %2 more are in the file.").arg(kEventRows).arg(left)));
    }
    return section;
}

ReportSection generationSection(const ReportData& data) {
    ReportSection section{QStringLiteral("generation"), QStringLiteral("Generated text"), {}};
    ReportTable table;
    table.header << QStringLiteral("Run") << QStringLiteral("After step") << QStringLiteral("Prompt")
                 << QStringLiteral("Continuation") << QStringLiteral("Correct");
    table.textColumns = 4;
    for (const ReportRun& run : data.runs) {
        const std::size_t count = run.generations.size();
        for (std::size_t i = count - std::min(count, kGenerationRows); i < count; ++i) {
            const profiling::GenerationRow& row = run.generations[i];
            table.rows.push_back(
                {runTitle(run), QString::number(row.step), text(row.prompt), text(row.output),
                 row.total > 0 ? QStringLiteral("%1 of %2").arg(row.correct).arg(row.total) : missingText()});
        }
    }
    if (table.rows.empty()) {
        section.blocks.push_back(paragraph(QStringLiteral("No text was generated in these runs.")));
    } else {
        section.blocks.push_back(tableBlock(std::move(table)));
    }
    return section;
}

/// Leaves of a JSON text as "group.key" → value; a text that is no JSON object is kept whole.
void flatten(const QString& prefix, const QJsonValue& value, QMap<QString, QString>& into) {
    if (value.isObject()) {
        const QJsonObject object = value.toObject();
        for (auto item = object.begin(); item != object.end(); ++item) {
            flatten(prefix + QLatin1Char('.') + item.key(), item.value(), into);
        }
    } else if (value.isArray()) {
        const QJsonArray array = value.toArray();
        for (qsizetype i = 0; i < array.size(); ++i) {
            flatten(QStringLiteral("%1.%2").arg(prefix, QString::number(i)), array[i], into);
        }
    } else if (value.isString()) {
        into[prefix] = value.toString();
    } else if (value.isDouble()) {
        into[prefix] = QString::number(value.toDouble(), 'g', QLocale::FloatingPointShortest);
    } else {
        into[prefix] = value.isBool() ? (value.toBool() ? QStringLiteral("yes") : QStringLiteral("no")) : missingText();
    }
}

void flattenText(const QString& prefix, const std::string& json, QMap<QString, QString>& into) {
    if (json.empty()) return;
    const QJsonDocument document = QJsonDocument::fromJson(QByteArray::fromStdString(json));
    if (document.isObject()) {
        flatten(prefix, document.object(), into);
    } else {
        into[prefix] = text(json);
    }
}

QMap<QString, QString> settings(const ReportRun& run) {
    const profiling::RunDescription& about = run.row.description;
    QMap<QString, QString> all;
    flattenText(QStringLiteral("model"), about.modelJson, all);
    flattenText(QStringLiteral("recipe"), about.recipeJson, all);
    flattenText(QStringLiteral("train"), about.trainJson, all);
    flattenText(QStringLiteral("machine"), about.hostJson, all);
    return all;
}

void addDescriptionRows(ReportTable& table, const std::vector<const ReportRun*>& runs) {
    const auto add = [&](const char* title, const std::function<QString(const profiling::RunDescription&)>& show) {
        addRows(table, runs, QString::fromUtf8(title), [&](const ReportRun& run) { return show(run.row.description); });
    };
    using About = const profiling::RunDescription&;
    add("precision", precisionText);
    add("device", [](About about) { return text(about.device) + QLatin1Char(' ') + text(about.deviceName); });
    add("backend", [](About about) { return text(about.backend); });
    add("kernels", [](About about) { return text(about.kernels); });
    add("data", [](About about) { return text(about.data); });
    add("seed", [](About about) { return QString::number(about.seed); });
    add("parameters", [](About about) { return grouped(about.parameters); });
    add("tokens per step", [](About about) { return grouped(about.tokensPerStep); });
    add("steps planned", [](About about) { return grouped(about.stepsPlanned); });
    addRows(table, runs, QStringLiteral("started"), [](const ReportRun& run) { return dateTime(run.row.startedAtNs); });
    addRows(table, runs, QStringLiteral("program"), [](const ReportRun& run) { return text(run.row.programVersion); });
    addRows(table, runs, QStringLiteral("run id in the file, uuid"), [](const ReportRun& run) {
        return QStringLiteral("%1, %2").arg(QString::number(run.row.id.value), text(run.row.uuid));
    });
}

ReportSection configurationSection(const ReportData& data) {
    ReportSection section{QStringLiteral("configuration"), QStringLiteral("Configuration and machine"), {}};
    for (const auto& group : groupsOfRuns(data)) {
        ReportTable table = sideBySide(group, QStringLiteral("Setting"));
        table.textColumns = static_cast<int>(table.header.size());
        addDescriptionRows(table, group);
        std::vector<QMap<QString, QString>> all;
        QMap<QString, int> keys;  // a sorted set
        for (const ReportRun* run : group) {
            all.push_back(settings(*run));
            for (auto item = all.back().begin(); item != all.back().end(); ++item) keys[item.key()] = 1;
        }
        for (auto key = keys.begin(); key != keys.end(); ++key) {
            QStringList row{key.key()};
            for (const auto& one : all) row << one.value(key.key(), missingText());
            const QStringList values = row.mid(1);
            if (QSet<QString>(values.begin(), values.end()).size() > 1) row[0] += QStringLiteral(" ≠");
            table.rows.push_back(row);
        }
        section.blocks.push_back(tableBlock(std::move(table)));
    }
    if (data.runs.size() > 1) {
        section.blocks.push_back(paragraph(QStringLiteral("≠ marks settings in which these runs differ.")));
    }
    return section;
}

ReportSection definitionSection() {
    ReportTable table;
    table.header << QStringLiteral("Number") << QStringLiteral("Definition");
    table.textColumns = 2;
    const auto add = [&](const char* word, const char* meaning) {
        table.rows.push_back({QString::fromUtf8(word), QString::fromUtf8(meaning)});
    };
    add("tokens/s", "tokens of a step ÷ its wall time, optimizer included, validation excluded");
    add("step time", "wall time of a step; the median leaves out the first two steps, which warm up caches");
    add("FLOP/s", "floating-point operations of the matrix products, forward and backward, ÷ step time");
    add("loss", "mean negative log likelihood per token, in nats");
    add("amax", "largest magnitude in the unscaled tensor at this step");
    add("scale", "factor that the tensor was multiplied by before this step's cast to FP8");
    add("headroom", "log2(largest finite value of the format ÷ (amax × scale)) in bits; negative means saturation");
    add("saturated", "|x·scale| was above the format's largest finite value before the cast");
    add("underflowed", "non-zero before the cast, zero after it");
    add("SQNR", "10·log10(Σx² ÷ Σ(x−q)²) in dB, q being what the cast kept");
    add("stale factor", "scale used ÷ scale that this step's own amax would give");
    add("Δ, %", "value − baseline, and value ÷ baseline − 1");
    add("quartiles", "linear interpolation between order statistics; NaN is left out");
    ReportSection section{QStringLiteral("definitions"), QStringLiteral("What the numbers mean"), {}};
    section.blocks.push_back(tableBlock(std::move(table)));
    return section;
}

}  // namespace

ReportContent buildReportContent(const ReportData& data) {
    ReportContent content;
    content.title = data.runs.size() == 1 ? QStringLiteral("Amaxscope report: %1").arg(runName(data.runs.front()))
                                          : QStringLiteral("Amaxscope report: %1 runs").arg(data.runs.size());
    content.subtitle =
        QStringLiteral("From %1, written %2 by Amaxscope")
            .arg(text(data.file.path), QDateTime::currentDateTime().toString(QStringLiteral("yyyy-MM-dd HH:mm")));
    content.sections = {summarySection(data), throughputSection(data), stabilitySection(data),     kernelSection(data),
                        eventSection(data),   generationSection(data), configurationSection(data), definitionSection()};
    return content;
}

}  // namespace gui
