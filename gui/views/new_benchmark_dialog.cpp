// Turns the form into a BenchJob. The first precision that is checked is the baseline.
#include "views/new_benchmark_dialog.h"

#include <QCheckBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QSettings>
#include <QSpinBox>

namespace gui {

namespace {

const QStringList kVariants = {"fp32", "bf16", "fp8:delayed:hybrid", "fp8:delayed:e4m3"};
const QString kSettings = QStringLiteral("newBenchmark");

QSpinBox* spinBox(const char* name, int minimum, int value, const QString& toolTip) {
    auto* box = new QSpinBox;
    box->setObjectName(name);
    box->setRange(minimum, 100000);
    box->setValue(value);
    box->setToolTip(toolTip);
    return box;
}

}  // namespace

NewBenchmarkDialog::NewBenchmarkDialog(const QString& database, SessionController* controller, QWidget* parent)
    : JobDialog(database, controller, {"precision", "format", "steps", "validate-every"}, parent),
      m_warmup(spinBox("warmupSteps", 0, 3, tr("Steps of each precision before anything is measured."))),
      m_repeats(spinBox("repeats", 1, 10, tr("Every repeat runs each precision in turn and stores one sample."))),
      m_steps(spinBox("stepsPerRepeat", 1, 3, tr("A sample is the median over these steps."))) {
    setObjectName("newBenchmarkDialog");
    setWindowTitle(tr("New benchmark"));
    build(createExtra(), kSettings);
}

QWidget* NewBenchmarkDialog::createExtra() {
    const QStringList checked = QSettings().value(kSettings + "/precisions", kVariants).toStringList();
    auto* widget = new QWidget;
    auto* boxes = new QHBoxLayout;
    for (const QString& variant : kVariants) {
        auto* box = new QCheckBox(variant);
        box->setObjectName("variant_" + variant);
        box->setChecked(checked.contains(variant));
        connect(box, &QCheckBox::toggled, this, [this] { revalidate(); });
        boxes->addWidget(box);
        m_precisions.push_back(box);
    }
    boxes->addStretch(1);
    auto* numbers = new QHBoxLayout;
    numbers->addWidget(m_repeats);
    numbers->addWidget(new QLabel(tr("repeats of")));
    numbers->addWidget(m_steps);
    numbers->addWidget(new QLabel(tr("steps, after")));
    numbers->addWidget(m_warmup);
    numbers->addWidget(new QLabel(tr("steps of warm-up")));
    numbers->addStretch(1);
    auto* form = new QFormLayout(widget);
    form->setContentsMargins(0, 0, 0, 0);
    form->addRow(tr("Compare"), boxes);
    form->addRow(tr("Measure"), numbers);
    return widget;
}

QStringList NewBenchmarkDialog::chosen() const {
    QStringList variants;
    for (const QCheckBox* box : m_precisions) {
        if (box->isChecked()) variants << box->text();
    }
    return variants;
}

QString NewBenchmarkDialog::extraProblem() const {
    return chosen().isEmpty() ? tr("Cannot start: no precision is chosen: check at least one") : QString();
}

Job NewBenchmarkDialog::makeJob() const {
    jobs::BenchJob job;
    job.variants = jobs::parseVariants(chosen().join(',').toStdString(), form()->config());
    job.database = database().toStdString();
    job.name = jobName().isEmpty() ? "precisions" : jobName().toStdString();
    job.warmupSteps = m_warmup->value();
    job.repeats = m_repeats->value();
    job.stepsPerRepeat = m_steps->value();
    return job;
}

void NewBenchmarkDialog::saveSettings() const {
    JobDialog::saveSettings();
    QSettings().setValue(kSettings + "/precisions", chosen());
}

}  // namespace gui
