// Boxes, items and suites; the grammar of an item and the size of a suite are jobs' business.
#include "views/variants_page.h"

#include "engine/suites.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSettings>
#include <QSpinBox>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <exception>

namespace gui {

namespace {

const QStringList kTickedAtFirst = {"fp32", "bf16", "fp8:delayed:hybrid", "fp8:delayed:e4m3"};

QSpinBox* spinBox(const char* name, int minimum, int value, const QString& toolTip) {
    auto* box = new QSpinBox;
    box->setObjectName(name);
    box->setRange(minimum, 100000);
    box->setValue(value);
    box->setToolTip(toolTip);
    box->setAccessibleDescription(toolTip);
    return box;
}

QLabel* captionLabel(const QString& text) {
    auto* label = new QLabel(text);
    label->setProperty("role", "caption");
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    return label;
}

void clear(QGridLayout* grid) {
    while (QLayoutItem* item = grid->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

}  // namespace

VariantsPage::VariantsPage(QWidget* parent)
    : QWidget(parent),
      m_suite(new QComboBox),
      m_stack(new QStackedWidget),
      m_more(new QLineEdit),
      m_suiteSummary(captionLabel({})),
      m_suiteRows(new QGridLayout),
      m_fullSize(new QCheckBox(tr("Full size"))),
      m_warmup(spinBox("warmupSteps", 0, 3, tr("Steps of each variant before anything is measured."))),
      m_repeats(spinBox("repeats", 1, 10, tr("Every repeat runs each variant in turn and stores one sample."))),
      m_steps(spinBox("stepsPerRepeat", 1, 3, tr("A sample is the median over these steps."))) {
    m_suite->setObjectName("suite");
    m_suite->addItem(tr("what is ticked here"));
    for (const std::string& name : jobs::suiteNames()) {
        const QString text = QString::fromStdString(name);
        m_suite->addItem(tr("suite %1").arg(text), text);
    }
    m_stack->addWidget(createChoices());
    m_stack->addWidget(createSuitePage());
    auto* head = new QFormLayout;
    head->addRow(tr("Compare"), m_suite);
    head->addRow(tr("Measure"), createMeasure());
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 8, 4, 8);
    layout->addLayout(head);
    layout->addSpacing(8);
    layout->addWidget(m_stack);
    layout->addStretch(1);
    connect(m_suite, &QComboBox::currentIndexChanged, this, [this] {
        m_stack->setCurrentIndex(suite().isEmpty() ? 0 : 1);
        if (!suite().isEmpty()) emit suiteChosen(suite());
        emit changed();
    });
}

QWidget* VariantsPage::createChoices() {
    auto* page = new QWidget;
    auto* grid = new QGridLayout(page);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(1, 1);
    int row = 0;
    for (const jobs::VariantChoice& choice : jobs::variantChoices()) {
        auto* box = new QCheckBox(QString::fromStdString(choice.item));
        box->setObjectName("variant_" + box->text());
        box->setChecked(kTickedAtFirst.contains(box->text()));
        box->setAccessibleDescription(QString::fromStdString(choice.summary));
        connect(box, &QCheckBox::toggled, this, &VariantsPage::changed);
        m_boxes.push_back(box);
        grid->addWidget(box, row, 0);
        grid->addWidget(captionLabel(QString::fromStdString(choice.summary)), row++, 1);
    }
    m_more->setObjectName("moreVariants");
    m_more->setAccessibleName(tr("More variants"));
    m_more->setPlaceholderText("fp8:current:e4m3, fp8:delayed:hybrid/history=1024");
    m_more->setToolTip(tr("More, separated by commas:\n%1").arg(QString::fromStdString(jobs::variantHelp())));
    connect(m_more, &QLineEdit::textChanged, this, &VariantsPage::changed);
    auto* label = new QLabel(tr("and also"));
    label->setBuddy(m_more);
    grid->addWidget(label, row, 0, Qt::AlignRight);
    grid->addWidget(m_more, row, 1);
    return page;
}

QWidget* VariantsPage::createSuitePage() {
    auto* page = new QWidget;
    m_suiteRows->setHorizontalSpacing(16);
    m_suiteRows->setVerticalSpacing(4);
    m_suiteRows->setColumnStretch(1, 1);
    m_fullSize->setObjectName("fullSize");
    m_fullSize->setToolTip(tr("Variants that are too large for this machine are scaled down unless this is ticked."));
    connect(m_fullSize, &QCheckBox::toggled, this, &VariantsPage::changed);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_suiteSummary);
    layout->addLayout(m_suiteRows);
    layout->addWidget(m_fullSize);
    layout->addStretch(1);
    return page;
}

QWidget* VariantsPage::createMeasure() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_repeats);
    layout->addWidget(new QLabel(tr("repeats of")));
    layout->addWidget(m_steps);
    layout->addWidget(new QLabel(tr("steps, after")));
    layout->addWidget(m_warmup);
    layout->addWidget(new QLabel(tr("steps of warm-up")));
    layout->addStretch(1);
    return row;
}

QString VariantsPage::suite() const {
    return m_suite->currentData().toString();
}

QStringList VariantsPage::items() const {
    QStringList items;
    if (!suite().isEmpty()) return items;
    for (const QCheckBox* box : m_boxes) {
        if (box->isChecked()) items << box->text();
    }
    for (const QString& item : m_more->text().split(',')) {
        if (!item.trimmed().isEmpty()) items << item.trimmed();
    }
    return items;
}

std::vector<jobs::BenchVariant> VariantsPage::variants(const engine::RunConfig& base) const {
    const std::string name = suite().toStdString();
    if (name.empty()) {
        const QStringList chosen = items();
        if (chosen.isEmpty()) return {};
        return jobs::parseVariants(chosen.join(',').toStdString(), base);
    }
    const bool fullSize = m_fullSize->isChecked();
    const bool known = m_made && m_made->suite == name && m_made->base == base && m_made->fullSize == fullSize;
    if (!known) m_made = Made{name, base, fullSize, jobs::makeSuite(name, base, fullSize).variants};
    return m_made->variants;
}

std::vector<engine::RunConfig> VariantsPage::configs(const engine::RunConfig& base) const {
    std::vector<engine::RunConfig> configs;
    try {
        for (const jobs::BenchVariant& variant : variants(base)) configs.push_back(variant.config);
    } catch (const std::exception&) {
        configs.clear();  // showFor() says what is wrong
    }
    if (configs.empty()) {
        configs.push_back(base);
        configs.back().train.precision = engine::Precision::Bf16;
        configs.back().train.weights = engine::WeightStorage::Fp32;
    }
    return configs;
}

QString VariantsPage::showFor(const engine::RunConfig& base) {
    try {
        const std::vector<jobs::BenchVariant> made = variants(base);
        if (!suite().isEmpty()) showSuite(made);
        return made.empty() ? tr("no variant is chosen: tick at least one") : QString();
    } catch (const std::exception& error) {
        return QString::fromUtf8(error.what());
    }
}

void VariantsPage::showSuite(const std::vector<jobs::BenchVariant>& variants) {
    m_suiteSummary->setText(QString::fromStdString(engine::suite(suite().toStdString()).summary));
    clear(m_suiteRows);
    int row = 0;
    for (const jobs::BenchVariant& variant : variants) {
        auto* label = new QLabel(QString::fromStdString(variant.label));
        QString text = QString::fromStdString(variant.summary);
        if (!variant.scaledDown.empty()) {
            text += '\n' + tr("Scaled down for this machine: %1").arg(QString::fromStdString(variant.scaledDown));
        }
        m_suiteRows->addWidget(label, row, 0, Qt::AlignTop);
        m_suiteRows->addWidget(captionLabel(text), row++, 1);
    }
}

void VariantsPage::measure(jobs::BenchJob& job) const {
    job.warmupSteps = m_warmup->value();
    job.repeats = m_repeats->value();
    job.stepsPerRepeat = m_steps->value();
}

void VariantsPage::restore(const QString& settingsGroup) {
    QSettings settings;
    settings.beginGroup(settingsGroup);
    const QStringList ticked = settings.value("precisions", kTickedAtFirst).toStringList();
    for (QCheckBox* box : m_boxes) box->setChecked(ticked.contains(box->text()));
    m_more->setText(settings.value("moreVariants").toString());
}

void VariantsPage::save(const QString& settingsGroup) const {
    if (!suite().isEmpty()) return;
    QStringList ticked;
    for (const QCheckBox* box : m_boxes) {
        if (box->isChecked()) ticked << box->text();
    }
    QSettings settings;
    settings.beginGroup(settingsGroup);
    settings.setValue("precisions", ticked);
    settings.setValue("moreVariants", m_more->text());
}

}  // namespace gui
