// Shared part of the dialogs that start jobs.
#include "views/job_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScreen>
#include <QSettings>
#include <QVBoxLayout>

namespace gui {

namespace {
constexpr int kPresetLength = 40;  // characters
constexpr int kWidth = 126;        // of the dialog, so that explanations stand on one line
}  // namespace

JobDialog::JobDialog(const QString& database, SessionController* controller, const QStringList& leftOut,
                     QWidget* parent)
    : QDialog(parent),
      m_database(database),
      m_controller(controller),
      m_form(new ConfigForm(leftOut)),
      m_name(new QLineEdit),
      m_preset(new QComboBox),
      m_estimate(new QLabel),
      m_reason(new QLabel),
      m_start(new QPushButton) {
    setAttribute(Qt::WA_DeleteOnClose);
    m_name->setObjectName("jobName");
    m_name->setPlaceholderText(tr("made from precision and data when left empty"));
    m_preset->setObjectName("preset");
    m_preset->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);  // summaries are long
    m_preset->setMinimumContentsLength(kPresetLength);
    m_preset->addItem(tr("own values"));
    for (const std::string& preset : engine::presetNames()) {
        const QString name = QString::fromStdString(preset);
        const QString summary = QString::fromStdString(engine::presetSummary(preset));
        m_preset->addItem(QStringLiteral("%1: %2").arg(name, summary), name);
        m_preset->setItemData(m_preset->count() - 1, summary, Qt::ToolTipRole);
    }
    m_preset->setToolTip(
        tr("Sets the model and the training values, and precision and recipe where the preset is about "
           "them. Data, seed, machine, guard and observation stay."));
    m_estimate->setObjectName("estimate");
    m_estimate->setWordWrap(true);
    m_estimate->setProperty("role", "caption");
    m_reason->setObjectName("startReason");
    m_reason->setWordWrap(true);
    m_reason->setProperty("role", "problem");
    m_start->setObjectName("startButton");
    m_start->setDefault(true);
}

void JobDialog::build(const QString& settingsGroup) {
    m_settingsGroup = settingsGroup;
    auto* head = new QFormLayout;
    head->addRow(tr("Name"), m_name);
    head->addRow(tr("Preset"), m_preset);
    head->setContentsMargins(0, 0, 0, 0);
    alignLabels({head, m_form->dataForm()});
    auto* buttons = new QDialogButtonBox;
    buttons->addButton(m_start, QDialogButtonBox::AcceptRole);
    auto* cancel = buttons->addButton(QDialogButtonBox::Cancel);
    cancel->setAutoDefault(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->addLayout(head);
    layout->addWidget(m_form, 1);
    layout->addWidget(m_estimate);
    layout->addWidget(m_reason);
    layout->addWidget(buttons);

    restoreSettings();
    connect(m_form, &ConfigForm::changed, this, &JobDialog::revalidate);
    connect(m_preset, &QComboBox::activated, this, [this] { usePreset(m_preset->currentData().toString()); });
    connect(m_controller, &SessionController::stateChanged, this, &JobDialog::updateStartText);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_start, &QPushButton::clicked, this, &JobDialog::start);
    updateStartText();
    revalidate();
    const QSize room = screen()->availableSize() - QSize(40, 80);
    const QSize wanted(fontMetrics().averageCharWidth() * kWidth, 0);
    resize(sizeHint().expandedTo(wanted).boundedTo(room));
}

QString JobDialog::jobName() const {
    return m_name->text().trimmed();
}

void JobDialog::setNamePlaceholder(const QString& text) {
    m_name->setPlaceholderText(text);
}

void JobDialog::usePreset(const QString& preset) {
    if (preset.isEmpty()) return;
    m_preset->setCurrentIndex(m_preset->findData(preset));
    m_form->setConfig(withPreset(m_form->config(), preset.toStdString()));
}

void JobDialog::showPreset() {
    const std::string shown = m_preset->currentData().toString().toStdString();
    const std::string held = presetHeld(m_form->config(), shown);
    m_preset->setCurrentIndex(held.empty() ? 0 : m_preset->findData(QString::fromStdString(held)));
}

void JobDialog::restoreSettings() {
    QSettings settings;
    settings.beginGroup(m_settingsGroup);
    engine::RunConfig config = engine::presetConfig(engine::presetNames().front());
    if (settings.contains("train")) {
        try {
            config = engine::runConfigFromJson(settings.value("model").toString().toStdString(),
                                               settings.value("recipe").toString().toStdString(),
                                               settings.value("train").toString().toStdString());
        } catch (const std::exception&) {
            settings.remove("");  // written by another version: the preset will do
        }
    }
    m_form->setConfig(config);
}

void JobDialog::saveSettings() const {
    const engine::RunConfig config = m_form->config();
    QSettings settings;
    settings.beginGroup(m_settingsGroup);
    settings.setValue("model", QString::fromStdString(engine::toJson(config.model)));
    settings.setValue("recipe", QString::fromStdString(engine::toJson(config.recipe)));
    settings.setValue("train", QString::fromStdString(engine::toJson(config.train)));
}

void JobDialog::updateStartText() {
    m_start->setText(m_controller->busy() ? tr("Add to queue") : tr("Start"));
}

QString JobDialog::reasonOf(const std::vector<engine::ConfigIssue>& issues) const {
    const engine::ConfigIssue& first = issues.front();
    const QString option = QString::fromStdString(first.field);
    QString reason = tr("Cannot start: --%1: %2: %3")
                         .arg(option, QString::fromStdString(first.why), QString::fromStdString(first.fix));
    const QString page = m_form->pageTitle(option);
    if (!page.isEmpty()) reason += tr(" (page %1)").arg(page);
    if (issues.size() > 1) reason += tr(", and %1 more").arg(issues.size() - 1);
    return reason;
}

void JobDialog::revalidate() {
    showPreset();
    const std::vector<engine::ConfigIssue> issues = m_form->check();
    QString reason = extraProblem();
    if (!issues.empty()) {
        reason = reasonOf(issues);
        m_estimate->clear();
    } else {
        const EstimateText estimate = estimateText(m_form->config());
        m_estimate->setText(estimate.assumed.isEmpty()
                                ? estimate.text
                                : QStringLiteral("%1 (%2)").arg(estimate.text, estimate.assumed));
    }
    m_reason->setText(reason);
    m_reason->setVisible(!reason.isEmpty());
    m_start->setEnabled(reason.isEmpty());
}

void JobDialog::start() {
    revalidate();
    if (!m_start->isEnabled()) return;
    try {
        const Job job = makeJob();
        saveSettings();
        emit jobWanted(job);
    } catch (const std::exception& error) {
        m_reason->setText(QString::fromStdString(error.what()));
        m_reason->show();
        return;
    }
    accept();
}

}  // namespace gui
