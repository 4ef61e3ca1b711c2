// The window's program: `amaxscope [FILE.amax…]`, and `amaxscope report …` which needs no display.
#include "platform.h"
#include "report/report_command.h"
#include "screenshot.h"
#include "views/main_window.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

int runReport(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QStringList arguments;
    for (int i = 2; i < argc; ++i) arguments << QString::fromLocal8Bit(argv[i]);
    return gui::runReportCommand(arguments);
}

struct CommandLine {
    QStringList files;
    gui::ScreenshotOptions screenshot;
};

/// Ends the program for --help, --version and bad usage (exit code 2).
CommandLine parse(const QApplication& application) {
    QCommandLineParser parser;
    parser.setApplicationDescription(
        "Profiler and training visualizer for FP8 Transformer training.\n\n"
        "amaxscope [FILE.amax …]        opens the window\n"
        "amaxscope report FILE …        writes a report without a window (amaxscope report --help)");
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument("FILE", "Run databases to open; without any, the user's own.", "[FILE.amax …]");
    const QCommandLineOption shot("screenshot", "Writes a picture of the window to PATH and ends.", "PATH");
    const QCommandLineOption theme("theme", "system, light or dark.", "NAME");
    const QCommandLineOption size("size", "Size of the window, as 1400x860.", "WxH");
    parser.addOptions({shot, theme, size});
    CommandLine result;
    if (!parser.parse(application.arguments())) {
        std::fprintf(stderr, "amaxscope: %s: see amaxscope --help\n", qPrintable(parser.errorText()));
        std::exit(2);
    }
    parser.process(application);
    result.files = parser.positionalArguments();
    result.screenshot.path = parser.value(shot);
    result.screenshot.theme = parser.value(theme);
    if (!gui::parseSize(parser.value(size), &result.screenshot.size)) {
        std::fprintf(stderr, "amaxscope: --size %s: not a size: write it like 1400x860\n",
                     qPrintable(parser.value(size)));
        std::exit(2);
    }
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    QCoreApplication::setApplicationName("amaxscope");
    QCoreApplication::setApplicationVersion(AMAXSCOPE_VERSION);
    if (argc > 1 && std::strcmp(argv[1], "report") == 0) return runReport(argc, argv);

    if (!gui::choosePlatform(argc, argv)) return 1;
    QApplication application(argc, argv);
    QGuiApplication::setApplicationDisplayName("Amaxscope");
    QGuiApplication::setDesktopFileName("org.amaxscope.Amaxscope");
    CommandLine line = parse(application);
    if (line.files.isEmpty()) line.files << QString();
    std::vector<std::unique_ptr<gui::MainWindow>> windows;  // one per file
    for (const QString& file : line.files) {
        windows.push_back(std::make_unique<gui::MainWindow>());
        gui::applyOptions(windows.back().get(), line.screenshot);
        windows.back()->show();
        windows.back()->openDatabase(file);
    }
    if (!line.screenshot.path.isEmpty()) gui::takeScreenshot(windows.front().get(), line.screenshot.path);
    return QApplication::exec();
}
