// `amaxscope --screenshot`: a picture of the window once everything asked of the database is drawn.
#pragma once

#include <QSize>
#include <QString>

namespace gui {

class MainWindow;

struct ScreenshotOptions {
    QString path;   // "": none
    QString theme;  // "": the user's
    QSize size;     // invalid: the user's
};

/// "1400x860" → size; "" leaves it invalid. False for anything else.
bool parseSize(const QString& text, QSize* size);
void applyOptions(MainWindow* window, const ScreenshotOptions& options);
/// Saves the picture when the window has been idle for a moment, then ends the event loop: 0, or 1 when the picture
/// could not be written.
void takeScreenshot(MainWindow* window, const QString& path);

}  // namespace gui
