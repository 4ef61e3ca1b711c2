// The bar above the views for what the user should know and needs not answer: errors, results, "deleted, Undo?".
// The text can be selected and copied.
#pragma once

#include <QFrame>
#include <QString>

#include <functional>

class QLabel;
class QPushButton;
class QTimer;

namespace gui {

class MessageBar : public QFrame {
    Q_OBJECT
public:
    explicit MessageBar(QWidget* parent = nullptr);

    /// Stays until closed or replaced by another message.
    void showTrouble(const QString& text);
    /// Goes away by itself, unless it has an action or the mouse rests on it.
    void showInfo(const QString& text);
    void showInfo(const QString& text, const QString& actionText, std::function<void()> action);
    /// Stays until replaced or closed: something is going on.
    void showNotice(const QString& text);

    QString text() const;

private:
    void present(const QString& text, bool trouble);

    QLabel* m_text;
    QPushButton* m_action;
    QPushButton* m_copy;
    QTimer* m_hideTimer;
    std::function<void()> m_actionFunction;
};

}  // namespace gui
