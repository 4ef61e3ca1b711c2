// Looks at the environment as Qt's xcb and Wayland plug-ins do.
#include "platform.h"

#include <QtGlobal>

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace gui {

namespace {

bool hasOption(int argc, char** argv, std::initializer_list<const char*> options) {
    for (int i = 1; i < argc; ++i) {
        for (const char* option : options) {
            if (std::strncmp(argv[i], option, std::strlen(option)) == 0) return true;
        }
    }
    return false;
}

}  // namespace

bool choosePlatform(int argc, char** argv) {
#ifdef Q_OS_LINUX
    const bool chosen =
        qEnvironmentVariableIsSet("QT_QPA_PLATFORM") || hasOption(argc, argv, {"-platform", "--platform"});
    if (chosen || !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY"))
        return true;
    if (hasOption(argc, argv, {"-h", "--help", "-v", "--version", "--screenshot"})) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
        return true;
    }
    std::fprintf(stderr,
                 "amaxscope: no display: neither DISPLAY nor WAYLAND_DISPLAY is set: start it in a desktop session, or "
                 "use amaxscope-cli and `amaxscope report`, which need none\n");
    return false;
#else
    Q_UNUSED(argc);
    Q_UNUSED(argv);
    return true;
#endif
}

}  // namespace gui
