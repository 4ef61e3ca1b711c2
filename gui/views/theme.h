// Light and dark: the palette of UI.md, set on the application and in its style sheet.
#pragma once

#include <QColor>
#include <QIcon>
#include <QString>

class QApplication;

namespace gui {

enum class Theme : std::uint8_t { System = 1, Light = 2, Dark = 3 };
QString name(Theme theme);  // as stored in the settings
Theme themeFromName(const QString& text);

struct ThemeColors {
    QColor background;
    QColor card;
    QColor line;
    QColor text;
    QColor secondary;
    QColor accent;      // main buttons, focus, progress
    QColor accentText;  // on accent
    QColor trouble;     // red: trouble and nothing else
};
const ThemeColors& themeColors(bool dark);

/// What is shown at the moment.
bool isDarkTheme();
const ThemeColors& currentColors();

/// One of resources/icons in this colour: "pause".
QIcon themedIcon(const QString& icon, const QColor& color);

/// Fusion style, palette and style sheet. System: dark when the desktop's own palette is.
void applyTheme(QApplication& application, Theme theme);

}  // namespace gui
