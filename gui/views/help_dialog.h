// A window of its own to read the user guide and what it links to; the texts are compiled in.
#pragma once

#include <QDialog>

class QTextBrowser;

namespace gui {

class HelpDialog : public QDialog {
    Q_OBJECT
public:
    explicit HelpDialog(QWidget* parent = nullptr);

    /// "user-guide" or "numbers": a file of resources/docs.
    void showPage(const QString& page);
    QTextBrowser* browser() const { return m_browser; }

private:
    QTextBrowser* m_browser;
};

}  // namespace gui
