// `amaxscope report`: writes a report without opening a window.
#pragma once

#include <QStringList>

namespace gui {

/// `arguments`: what follows the word "report". Returns the exit code: 0, 1 for a failure, 2 for bad usage; errors go
/// to stderr as "amaxscope: what: why: what to do". Makes a QGuiApplication on the offscreen platform when a PDF needs
/// one and there is none.
int runReportCommand(const QStringList& arguments);

}  // namespace gui
