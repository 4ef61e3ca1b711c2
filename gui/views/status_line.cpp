// Texts of the status bar.
#include "views/status_line.h"

#include "engine/device.h"
#include "models/formatting.h"

#include <QApplication>
#include <QFileInfo>
#include <QLabel>
#include <QPointer>
#include <QProgressBar>
#include <QThreadPool>

namespace gui {

namespace {

QString stateWord(SessionController::State state) {
    switch (state) {
        case SessionController::State::Idle:
            return QObject::tr("○ idle");
        case SessionController::State::Running:
            return QObject::tr("● training");
        case SessionController::State::Paused:
            return QObject::tr("‖ paused");
        case SessionController::State::Stopping:
            return QObject::tr("■ stopping after this step");
    }
    return {};
}

QString cpuWords(const engine::CpuInfo& cpu) {
    QString text = QObject::tr("CPU %1 × ").arg(cpu.cores);
    if (cpu.avx512Bf16) return text + "AVX-512 BF16";
    if (cpu.avx512) return text + "AVX-512";
    return text + (cpu.avx2 ? "AVX2" : QObject::tr("plain"));
}

QString cudaWords(const engine::MachineInfo& machine) {
    if (!machine.gpus.empty()) return QObject::tr("CUDA: %1").arg(QString::fromStdString(machine.gpus.front().name));
    const QString status = QString::fromStdString(machine.cudaStatus);
    return QObject::tr("CUDA: %1").arg(status.contains("driver") ? QObject::tr("no driver") : QObject::tr("off"));
}

}  // namespace

StatusLine::StatusLine(QWidget* parent)
    : QStatusBar(parent), m_job(new QLabel), m_progress(new QProgressBar), m_file(new QLabel), m_machine(new QLabel) {
    setObjectName("statusLine");
    setSizeGripEnabled(false);
    m_job->setObjectName("statusJob");
    m_job->setTextFormat(Qt::PlainText);
    m_file->setObjectName("statusFile");
    m_machine->setObjectName("statusMachine");
    m_progress->setObjectName("statusProgress");
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress of the job"));
    m_progress->setFixedWidth(m_progress->fontMetrics().averageCharWidth() * 20);
    m_progress->setMaximumHeight(fontMetrics().height() / 2);
    m_progress->hide();
    setContentsMargins(8, 0, 8, 2);
    addWidget(m_job);
    addWidget(m_progress);
    m_machine->setContentsMargins(12, 0, 0, 0);
    addPermanentWidget(m_file);
    addPermanentWidget(m_machine);
}

void StatusLine::showJob(const SessionController& controller) {
    QStringList parts{stateWord(controller.state())};
    const JobProgress& progress = controller.progress();
    const bool counting = controller.busy() && progress.steps > 0;
    if (controller.busy()) parts << progress.label;
    if (counting) {
        parts << tr("step %1 / %2").arg(progress.step).arg(progress.steps);
        parts << tr("%1 tok/s").arg(siNumber(progress.tokensPerSecond));
        parts << tr("loss %1").arg(significant(progress.loss));
        if (progress.secondsLeft >= 0) parts << tr("ETA %1").arg(clockTime(progress.secondsLeft));
    } else if (controller.busy()) {
        parts << tr("preparing");
    }
    if (const auto queued = controller.queue().size(); queued > 0) parts << tr("%1 queued").arg(queued);
    m_job->setText(parts.join(QStringLiteral("   ")));
    m_progress->setVisible(controller.busy());
    m_progress->setRange(0, counting ? static_cast<int>(progress.steps) : 0);
    if (counting) m_progress->setValue(static_cast<int>(progress.step));
}

void StatusLine::showFile(const profiling::FileInfo& file) {
    const QString path = QString::fromStdString(file.path);
    QStringList parts{QFileInfo(path).fileName()};
    if (file.wal) parts << QStringLiteral("WAL");
    parts << (file.runs == 1 ? tr("1 run") : tr("%1 runs").arg(file.runs));
    parts << tr("%1 snapshots").arg(siNumber(static_cast<double>(file.snapshots)));
    m_file->setText(parts.join(QStringLiteral("   ")));
    m_file->setToolTip(QStringLiteral("%1\n%2, schema version %3\n%4 snapshots")
                           .arg(path, bytes(static_cast<double>(file.bytes)))
                           .arg(file.schemaVersion)
                           .arg(grouped(file.snapshots)));
}

void StatusLine::inspectMachine() {
    QPointer<StatusLine> self(this);
    QThreadPool::globalInstance()->start([self] {
        const engine::MachineInfo machine = engine::inspectMachine();
        QStringList about{QString::fromStdString(machine.cpu.name), QString::fromStdString(machine.cudaStatus)};
        for (const engine::DeviceInfo& device : machine.devices) {
            for (const engine::PrecisionSupport& support : device.precisions) {
                about << QStringLiteral("%1: %2 %3 (%4)")
                             .arg(QString::fromStdString(device.id), QString::fromUtf8(engine::name(support.precision)),
                                  QString::fromUtf8(engine::name(support.support)),
                                  QString::fromStdString(support.reason));
            }
        }
        QMetaObject::invokeMethod(qApp, [self, machine, about] {
            if (self.isNull()) return;
            self->m_machine->setText(cpuWords(machine.cpu) + QStringLiteral("   ") + cudaWords(machine));
            self->m_machine->setToolTip(about.join('\n'));
        });
    });
}

}  // namespace gui
