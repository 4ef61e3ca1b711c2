// Asks for what report_writer needs and calls it on a pool thread.
#include "views/export_dialog.h"

#include "profiling/exchange.h"
#include "report/report_writer.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMetaObject>
#include <QPointer>
#include <QPushButton>
#include <QSettings>
#include <QStandardPaths>
#include <QThreadPool>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace gui {

ExportDialog::ExportDialog(ExportSource source, QWidget* parent)
    : QDialog(parent),
      m_source(std::move(source)),
      m_runs(new QComboBox),
      m_format(new QComboBox),
      m_table(new QComboBox),
      m_tableLabel(new QLabel(tr("Table"))),
      m_path(new QLineEdit),
      m_replace(new QCheckBox(tr("Replace the file that is there"))),
      m_problem(new QLabel),
      m_export(new QPushButton(tr("Export"))) {
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName("exportDialog");
    setWindowTitle(tr("Export report"));
    createWidgets();
    QString folder = QSettings()
                         .value("exportFolder", QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation))
                         .toString();
    if (!QDir(folder).exists()) folder = QDir::homePath();  // not every home has a Documents
    m_path->setText(QDir(folder).filePath(QFileInfo(m_source.database).completeBaseName() + ".html"));
    connect(m_format, &QComboBox::currentIndexChanged, this, &ExportDialog::formatChanged);
    connect(m_path, &QLineEdit::textChanged, this, &ExportDialog::pathChanged);
    connect(m_replace, &QCheckBox::toggled, this, &ExportDialog::pathChanged);
    connect(m_export, &QPushButton::clicked, this, &ExportDialog::write);
    formatChanged();
    pathChanged();
}

void ExportDialog::createWidgets() {
    m_runs->setObjectName("exportRuns");
    if (!m_source.visible.empty()) m_runs->addItem(tr("checked runs (%1)").arg(m_source.visible.size()), 0);
    if (!m_source.selected.empty()) m_runs->addItem(tr("selected runs (%1)").arg(m_source.selected.size()), 1);
    m_runs->addItem(tr("all runs of the file"), 2);
    m_format->setObjectName("exportFormat");
    const QHash<QString, QString> titles = {{"html", tr("HTML page with plots, one file, no network needed")},
                                            {"pdf", tr("PDF")},
                                            {"csv", tr("CSV table")},
                                            {"json", tr("JSON with every number")},
                                            {"md", tr("Markdown")}};
    for (const QString& extension : reportExtensions()) {
        m_format->addItem(titles.value(extension, extension), extension);
    }
    m_table->setObjectName("exportTable");
    for (const std::string& table : profiling::exportTables()) m_table->addItem(QString::fromStdString(table));
    m_path->setObjectName("exportPath");
    m_path->setMinimumWidth(m_path->fontMetrics().averageCharWidth() * 60);
    m_replace->setObjectName("exportReplace");
    m_problem->setProperty("role", "problem");
    m_problem->setObjectName("exportProblem");
    m_problem->setWordWrap(true);
    m_export->setObjectName("exportButton");
    m_export->setDefault(true);
    auto* browse = new QPushButton(tr("Browse…"));
    browse->setAutoDefault(false);
    connect(browse, &QPushButton::clicked, this, &ExportDialog::chooseFile);
    auto* pathRow = new QHBoxLayout;
    pathRow->addWidget(m_path, 1);
    pathRow->addWidget(browse);
    auto* form = new QFormLayout;
    form->addRow(tr("Runs"), m_runs);
    form->addRow(tr("Format"), m_format);
    form->addRow(m_tableLabel, m_table);
    form->addRow(tr("File"), pathRow);
    form->addRow(QString(), m_replace);
    auto* buttons = new QDialogButtonBox;
    buttons->addButton(m_export, QDialogButtonBox::AcceptRole);
    buttons->addButton(QDialogButtonBox::Cancel)->setAutoDefault(false);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->addLayout(form);
    layout->addWidget(m_problem);
    layout->addWidget(buttons);
}

void ExportDialog::formatChanged() {
    const QString extension = m_format->currentData().toString();
    m_table->setVisible(extension == "csv");
    m_tableLabel->setVisible(extension == "csv");
    const QFileInfo file(m_path->text());
    if (!file.fileName().isEmpty() && file.suffix() != extension) {
        m_path->setText(file.dir().filePath(file.completeBaseName() + "." + extension));
    }
}

void ExportDialog::pathChanged() {
    const QFileInfo file(m_path->text());
    const int format = m_format->findData(file.suffix().toLower());
    if (format >= 0 && format != m_format->currentIndex()) m_format->setCurrentIndex(format);
    QString problem;
    if (m_path->text().trimmed().isEmpty()) {
        problem = tr("Cannot export: no file is named: type a path");
    } else if (format < 0) {
        problem =
            tr("Cannot export: the name ends in none of .%1: choose a format").arg(reportExtensions().join(", ."));
    } else if (!file.absoluteDir().exists()) {
        problem = tr("Cannot export: there is no folder %1: choose another").arg(file.absolutePath());
    } else if (file.exists() && !m_replace->isChecked()) {
        problem = tr("Cannot export: the file exists: check the box, or choose another name");
    }
    m_replace->setVisible(file.exists());
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
    m_export->setEnabled(problem.isEmpty());
}

void ExportDialog::chooseFile() {
    const QString path = QFileDialog::getSaveFileName(this, tr("Export report"), m_path->text(), {}, nullptr,
                                                      QFileDialog::DontConfirmOverwrite);
    if (!path.isEmpty()) m_path->setText(path);
}

void ExportDialog::write() {
    ReportRequest request;
    request.database = m_source.database;
    const int which = m_runs->currentData().toInt();
    if (which == 0) request.runs = m_source.visible;
    if (which == 1) request.runs = m_source.selected;
    request.baseline = m_source.baseline;
    if (!request.runs.empty() &&
        std::find(request.runs.begin(), request.runs.end(), request.baseline) == request.runs.end()) {
        request.baseline = {};  // a baseline that is not in the report has no column to compare with
    }
    request.output = QFileInfo(m_path->text()).absoluteFilePath();
    request.csvTable = m_table->currentText();
    request.overwrite = m_replace->isChecked();
    QSettings().setValue("exportFolder", QFileInfo(request.output).absolutePath());
    m_export->setEnabled(false);
    m_export->setText(tr("Writing…"));
    QPointer<ExportDialog> self(this);
    QThreadPool::globalInstance()->start([self, request] {
        QString error;
        try {
            writeReport(request);
        } catch (const std::exception& thrown) {
            error = QString::fromStdString(thrown.what());
        }
        QMetaObject::invokeMethod(qApp, [self, request, error] {
            if (self.isNull()) return;
            if (error.isEmpty()) {
                emit self->written(request.output);
                self->accept();
            } else {
                self->m_export->setText(tr("Export"));
                self->pathChanged();
                self->m_problem->setText(error);
                self->m_problem->show();
                emit self->failed(error);
            }
        });
    });
}

}  // namespace gui
