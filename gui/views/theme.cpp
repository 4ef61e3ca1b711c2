// Applies the light or dark palette; the style sheet is one template with colours filled in.
#include "views/theme.h"

#include <QApplication>
#include <QFile>
#include <QPalette>
#include <QPixmap>
#include <QStyleFactory>

#include <optional>

// The resources are in a static library: without this the linker leaves them out. It must stand in no namespace.
static void registerResources() {
    Q_INIT_RESOURCE(amaxscope);
}

namespace gui {

namespace {

bool g_dark = false;

/// The desktop's choice, asked once before we set a palette of our own.
bool systemIsDark(const QApplication& application) {
    static std::optional<bool> dark;
    if (!dark) dark = application.palette().color(QPalette::Window).lightness() < 128;
    return *dark;
}

QColor between(const QColor& a, const QColor& b) {
    return QColor((a.red() + b.red()) / 2, (a.green() + b.green()) / 2, (a.blue() + b.blue()) / 2);
}

QPalette makePalette(const ThemeColors& colors) {
    QPalette palette;
    palette.setColor(QPalette::Window, colors.background);
    palette.setColor(QPalette::WindowText, colors.text);
    palette.setColor(QPalette::Base, colors.card);
    palette.setColor(QPalette::AlternateBase, colors.background);
    palette.setColor(QPalette::Text, colors.text);
    palette.setColor(QPalette::PlaceholderText, colors.secondary);
    palette.setColor(QPalette::Button, colors.card);
    palette.setColor(QPalette::ButtonText, colors.text);
    palette.setColor(QPalette::BrightText, colors.trouble);
    palette.setColor(QPalette::ToolTipBase, colors.card);
    palette.setColor(QPalette::ToolTipText, colors.text);
    palette.setColor(QPalette::Highlight, colors.accent);
    palette.setColor(QPalette::HighlightedText, colors.accentText);
    palette.setColor(QPalette::Link, colors.accent);
    palette.setColor(QPalette::Light, colors.card);
    palette.setColor(QPalette::Midlight, colors.line);
    palette.setColor(QPalette::Mid, colors.line);
    palette.setColor(QPalette::Dark, colors.secondary);
    palette.setColor(QPalette::Shadow, colors.line);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        QColor faded = colors.secondary;
        faded.setAlphaF(0.7F);
        palette.setColor(QPalette::Disabled, role, faded);
    }
    return palette;
}

QString styleSheet(const ThemeColors& colors) {
    QFile file(QStringLiteral(":/themes/window.qss"));
    if (!file.open(QIODevice::ReadOnly)) return {};
    QString text = QString::fromUtf8(file.readAll());
    const std::pair<const char*, QColor> values[] = {
        {"@background", colors.background},
        {"@card", colors.card},
        {"@line", colors.line},
        {"@text", colors.text},
        {"@secondary", colors.secondary},
        {"@accentText", colors.accentText},
        {"@accent", colors.accent},
        {"@trouble", colors.trouble},
        {"@field", g_dark ? colors.background : colors.card},
        {"@edge", between(colors.line, colors.secondary)},  // of inputs: 3 : 1 is for what carries meaning
    };
    text.replace(QLatin1String("@check"), g_dark ? QLatin1String("check_dark") : QLatin1String("check_light"));
    for (const auto& [placeholder, color] : values) text.replace(QLatin1String(placeholder), color.name());
    return text;
}

}  // namespace

QString name(Theme theme) {
    switch (theme) {
        case Theme::Light:
            return QStringLiteral("light");
        case Theme::Dark:
            return QStringLiteral("dark");
        case Theme::System:
            break;
    }
    return QStringLiteral("system");
}

Theme themeFromName(const QString& text) {
    if (text == "light") return Theme::Light;
    if (text == "dark") return Theme::Dark;
    return Theme::System;
}

const ThemeColors& themeColors(bool dark) {
    static const ThemeColors light{QColor("#f7f7f8"), QColor("#ffffff"), QColor("#d9dce1"), QColor("#1d2129"),
                                   QColor("#5b6577"), QColor("#0072B2"), QColor("#ffffff"), QColor("#b42318")};
    static const ThemeColors darkColors{QColor("#16181d"), QColor("#1e2128"), QColor("#343943"), QColor("#e7e9ee"),
                                        QColor("#98a1b0"), QColor("#56B4E9"), QColor("#16181d"), QColor("#f97066")};
    return dark ? darkColors : light;
}

bool isDarkTheme() {
    return g_dark;
}

const ThemeColors& currentColors() {
    return themeColors(g_dark);
}

QIcon themedIcon(const QString& icon, const QColor& color) {
    QFile file(QStringLiteral(":/icons/%1.svg").arg(icon));
    if (!file.open(QIODevice::ReadOnly)) return {};
    QByteArray drawing = file.readAll();
    drawing.replace("#808898", color.name().toLatin1());
    drawing.replace("width=\"16\" height=\"16\"", "width=\"64\" height=\"64\"");  // sharp on any screen
    QPixmap pixmap;
    pixmap.loadFromData(drawing, "svg");
    return QIcon(pixmap);
}

void applyTheme(QApplication& application, Theme theme) {
    registerResources();
    const bool system = systemIsDark(application);
    g_dark = theme == Theme::System ? system : theme == Theme::Dark;
    if (application.style()->objectName().compare("fusion", Qt::CaseInsensitive) != 0) {
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    }
    QApplication::setPalette(makePalette(currentColors()));
    application.setStyleSheet(styleSheet(currentColors()));
}

}  // namespace gui
