// Choosing Qt's platform before there is an application: without a display Qt ends the program with a core dump.
#pragma once

namespace gui {

/// Call before QApplication. Without a display, options that draw no window (--help, --version, --screenshot) run
/// offscreen; otherwise a message goes to stderr and the result is false.
bool choosePlatform(int argc, char** argv);

}  // namespace gui
