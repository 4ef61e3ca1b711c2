// Waits for quiet, grabs, quits.
#include "screenshot.h"

#include "views/main_window.h"

#include <QApplication>
#include <QPixmap>
#include <QRegularExpression>
#include <QTimer>

#include <cstdio>

namespace gui {

namespace {
constexpr int kLook = 50;        // ms between looks
constexpr int kQuietLooks = 10;  // this many idle looks in a row
}  // namespace

bool parseSize(const QString& text, QSize* size) {
    if (text.isEmpty()) return true;
    const auto match = QRegularExpression("^(\\d{3,5})x(\\d{3,5})$").match(text);
    if (!match.hasMatch()) return false;
    *size = QSize(match.captured(1).toInt(), match.captured(2).toInt());
    return true;
}

void applyOptions(MainWindow* window, const ScreenshotOptions& options) {
    if (!options.theme.isEmpty()) window->overrideTheme(themeFromName(options.theme));
    if (options.size.isValid()) window->resize(options.size);
}

void takeScreenshot(MainWindow* window, const QString& path) {
    auto* timer = new QTimer(window);
    timer->setInterval(kLook);
    QObject::connect(timer, &QTimer::timeout, window, [window, path, quiet = 0]() mutable {
        const bool idle = window->worker()->idle() && !window->worker()->database().isEmpty();
        quiet = idle ? quiet + 1 : 0;
        if (quiet < kQuietLooks) return;
        if (window->grab().save(path)) {
            QApplication::exit(0);
            return;
        }
        std::fprintf(stderr,
                     "amaxscope: %s: the picture could not be written: choose a folder that is writable and a "
                     "name ending in .png\n",
                     qPrintable(path));
        QApplication::exit(1);
    });
    timer->start();
}

}  // namespace gui
