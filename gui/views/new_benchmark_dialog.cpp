// Turns the form and the chosen variants into a BenchJob. The first variant is the baseline.
#include "views/new_benchmark_dialog.h"

#include "engine/suites.h"
#include "views/variants_page.h"

#include <QComboBox>

namespace gui {

namespace {

const QString kSettings = QStringLiteral("newBenchmark");

/// What the variants say themselves, and what a benchmark has no use for.
const QStringList kLeftOut = {"precision", "recipe", "format", "weights", "unfused", "steps", "validate-every"};

}  // namespace

NewBenchmarkDialog::NewBenchmarkDialog(const QString& database, SessionController* controller, QWidget* parent)
    : JobDialog(database, controller, kLeftOut, parent), m_variants(new VariantsPage) {
    setObjectName("newBenchmarkDialog");
    setWindowTitle(tr("New benchmark"));
    setNamePlaceholder(tr("made from what is compared when left empty"));
    m_variants->restore(kSettings);
    form()->addFirstPage(m_variants, tr("Variants"));
    form()->setUses([page = m_variants](const engine::RunConfig& base) { return page->configs(base); });
    build(kSettings);
    connect(m_variants, &VariantsPage::suiteChosen, this, [this](const QString& suite) {
        usePreset(QString::fromStdString(engine::suite(suite.toStdString()).preset));
    });
    connect(m_variants, &VariantsPage::changed, form(), &ConfigForm::refresh);
}

QString NewBenchmarkDialog::extraProblem() const {
    const QString problem = m_variants->showFor(form()->config());
    return problem.isEmpty() ? QString() : tr("Cannot start: %1").arg(problem);
}

Job NewBenchmarkDialog::makeJob() const {
    jobs::BenchJob job;
    job.variants = m_variants->variants(form()->config());
    job.database = database().toStdString();
    const QString fallback = m_variants->suite().isEmpty() ? QStringLiteral("precisions") : m_variants->suite();
    job.name = (jobName().isEmpty() ? fallback : jobName()).toStdString();
    m_variants->measure(job);
    return job;
}

void NewBenchmarkDialog::saveSettings() const {
    JobDialog::saveSettings();
    m_variants->save(kSettings);
}

}  // namespace gui
