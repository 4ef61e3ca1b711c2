// Actions of a plot's context menu: zoom, copy, save as picture or table.
#include "views/plot_widget.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QSaveFile>
#include <QSvgGenerator>

#include <set>

namespace gui {
namespace {

QString quoted(QString text) {
    if (!text.contains(',') && !text.contains('"') && !text.contains('\n')) return text;
    return '"' + text.replace('"', QStringLiteral("\"\"")) + '"';
}

QString exact(double value) {
    return std::isnan(value) || value == kNotRecorded ? QString()
                                                      : QString::number(value, 'g', QLocale::FloatingPointShortest);
}

}  // namespace

void PlotWidget::createActions() {
    setContextMenuPolicy(Qt::ActionsContextMenu);
    // Keys are handled in keyPressEvent, so that a shortcut of the window with the same key does not get in the way;
    // the text behind the tab shows them in the menu.
    addPlotAction(tr("Fit\tF"), "plotFit", [this] { m_group->fit(); });
    addPlotAction(tr("Back\tBackspace"), "plotBack", [this] { m_group->back(); });
    addPlotAction(tr("Zoom in\t+"), "plotZoomIn", [this] { zoomByKey(0.8); });
    addPlotAction(tr("Zoom out\t−"), "plotZoomOut", [this] { zoomByKey(1.25); });
    auto* separator = new QAction(this);
    separator->setSeparator(true);
    addAction(separator);
    addPlotAction(tr("Copy picture\tCtrl+C"), "plotCopy", [this] { copyPicture(); });
    addPlotAction(tr("Copy data\tCtrl+Shift+C"), "plotCopyData", [this] { copyData(); });
    addPlotAction(tr("Save as PNG…"), "plotSavePng", [this] { saveAs(tr("PNG picture (*.png)"), "png"); });
    addPlotAction(tr("Save as SVG…"), "plotSaveSvg", [this] { saveAs(tr("SVG drawing (*.svg)"), "svg"); });
    addPlotAction(tr("Save as PDF…"), "plotSavePdf", [this] { saveAs(tr("PDF document (*.pdf)"), "pdf"); });
    addPlotAction(tr("Save data as CSV…"), "plotSaveCsv", [this] { saveAs(tr("CSV table (*.csv)"), "csv"); });
}

void PlotWidget::addPlotAction(const QString& text, const char* name, std::function<void()> run) {
    auto* action = new QAction(text, this);
    action->setObjectName(QString::fromLatin1(name));
    connect(action, &QAction::triggered, this, std::move(run));
    addAction(action);
}

void PlotWidget::copyPicture() {
    QApplication::clipboard()->setPixmap(toPixmap());
}

void PlotWidget::copyData() {
    QApplication::clipboard()->setText(csv());
}

void PlotWidget::saveAs(const QString& filter, const QString& suffix) {
    QString path = QFileDialog::getSaveFileName(this, tr("Save plot"), QString(), filter);
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += '.' + suffix;
    const QString error = saveTo(path);
    if (!error.isEmpty()) emit problem(error);
}

QString PlotWidget::csv() const {
    if (m_csv) return m_csv();
    // Lines have steps of their own: one row per x that any of them has.
    std::set<double> all;
    QStringList header{hasStepAxis() ? QStringLiteral("step") : QStringLiteral("x")};
    for (const Line& line : m_lines) {
        all.insert(line.raw.x.begin(), line.raw.x.end());
        header += quoted(line.look.name);
    }
    QStringList rows{header.join(',')};
    std::vector<std::size_t> next(m_lines.size(), 0);
    for (const double x : all) {
        QStringList cells{exact(x)};
        for (std::size_t i = 0; i < m_lines.size(); ++i) {
            const Series& series = m_lines[i].raw;
            const bool has = next[i] < series.size() && series.x[next[i]] == x;
            cells += has ? exact(series.y[next[i]]) : QString();
            if (has) ++next[i];
        }
        rows += cells.join(',');
    }
    return rows.join(QStringLiteral("\r\n")) + QStringLiteral("\r\n");
}

QString PlotWidget::saveTo(const QString& path) {
    const QString suffix = QFileInfo(path).suffix().toLower();
    const QString failed = tr("%1: not saved: the file cannot be written: choose another folder").arg(path);
    if (suffix == QLatin1String("png")) return savePng(path, width(), height(), 2.0) ? QString() : failed;
    if (suffix == QLatin1String("pdf")) return savePdf(path, width(), height()) ? QString() : failed;
    if (suffix == QLatin1String("csv")) {
        QSaveFile file(path);
        if (!file.open(QIODevice::WriteOnly)) return failed;
        file.write(csv().toUtf8());
        return file.commit() ? QString() : failed;
    }
    if (suffix != QLatin1String("svg")) {
        return tr("%1: not saved: unknown kind of file: end the name in .png, .svg, .pdf or .csv").arg(path);
    }
    if (QFile probe(path); !probe.open(QIODevice::WriteOnly)) return failed;
    QSvgGenerator generator;
    generator.setFileName(path);
    generator.setSize(size());
    generator.setViewBox(rect());
    generator.setTitle(m_caption);
    QCPPainter painter;
    if (!painter.begin(&generator)) return failed;
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    painter.fillRect(rect(), m_style.card);
    toPainter(&painter, width(), height());
    painter.end();
    return {};
}

}  // namespace gui
