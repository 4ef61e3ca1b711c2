// Measures how long the window's event loop stalls while training uses all cores: a 5 ms timer notes every gap beyond
// its interval. Usage: event_loop_bench [SECONDS [FILE.amax]]: 20 seconds and a new file unless told; a file that is
// named is copied, and the run recorded into the copy. Asserts nothing.
#include "profiling/session.h"
#include "views/main_window.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace {

constexpr int kInterval = 5;  // ms

double percentile(const std::vector<double>& sorted, double share) {
    if (sorted.empty()) return 0;
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    const int seconds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 20;
    const QTemporaryDir folder;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder.path());
    QCoreApplication::setApplicationName("amaxscope-bench");
    QApplication application(argc, argv);
    const QString database = folder.filePath("a.amax");
    if (argc > 2 && !QFile::copy(QString::fromLocal8Bit(argv[2]), database)) {
        std::fprintf(stderr, "event_loop_bench: %s: cannot be copied: check the path\n", argv[2]);
        return 1;
    }
    profiling::Session::open(database.toStdString());
    gui::MainWindow window;
    window.resize(1400, 860);
    window.show();
    window.openDatabase(database);

    jobs::TrainJob job;
    job.config = engine::presetConfig("tutorial");
    job.config.train.precision = engine::Precision::Fp8;
    job.config.train.steps = 1000000;
    job.database = database.toStdString();
    window.controller()->enqueue(job);

    std::vector<double> gaps;  // ms beyond the interval
    QElapsedTimer clock;
    QTimer probe;
    probe.setTimerType(Qt::PreciseTimer);
    probe.setInterval(kInterval);
    QObject::connect(&probe, &QTimer::timeout, [&] {
        gaps.push_back(std::max(0.0, static_cast<double>(clock.nsecsElapsed()) * 1e-6 - kInterval));
        clock.restart();
    });
    QObject::connect(window.controller(), &gui::SessionController::runStarted, &probe, [&] {
        clock.start();
        probe.start();
        QTimer::singleShot(seconds * 1000, window.controller(), &gui::SessionController::stop);
    });
    QObject::connect(window.controller(), &gui::SessionController::failed, [](const QString& text) {
        std::fprintf(stderr, "event_loop_bench: %s\n", qPrintable(text));
        QApplication::exit(1);
    });
    QObject::connect(window.controller(), &gui::SessionController::finished, [](const QString& text) {
        std::printf("%s\n", qPrintable(text));
        QApplication::exit(0);
    });
    const int status = QApplication::exec();
    std::sort(gaps.begin(), gaps.end());
    std::printf("event loop: %zu looks in %d s, stall p50 %.2f ms, p99 %.2f ms, max %.2f ms\n", gaps.size(), seconds,
                percentile(gaps, 0.5), percentile(gaps, 0.99), gaps.empty() ? 0.0 : gaps.back());
    return status;
}
