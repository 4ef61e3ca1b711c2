// Message bar: one message at a time, the newest.
#include "views/message_bar.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QTimer>

#include <utility>

namespace gui {

namespace {
constexpr int kInfoTime = 8000;  // ms
}

MessageBar::MessageBar(QWidget* parent)
    : QFrame(parent),
      m_text(new QLabel),
      m_action(new QPushButton),
      m_copy(new QPushButton(tr("Copy"))),
      m_hideTimer(new QTimer(this)) {
    setObjectName("messageBar");
    setAccessibleName(tr("Message"));
    m_text->setObjectName("messageText");
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_action->setObjectName("messageAction");
    m_copy->setToolTip(tr("Copies the message"));
    auto* close = new QPushButton(tr("Close"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 6, 8, 6);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_action);
    layout->addWidget(m_copy);
    layout->addWidget(close);
    m_hideTimer->setSingleShot(true);
    m_hideTimer->setInterval(kInfoTime);
    connect(m_hideTimer, &QTimer::timeout, this, [this] {
        if (underMouse()) {
            m_hideTimer->start();
        } else {
            hide();
        }
    });
    connect(close, &QPushButton::clicked, this, &QWidget::hide);
    connect(m_copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_text->text()); });
    connect(m_action, &QPushButton::clicked, this, [this] {
        hide();
        if (const auto action = std::exchange(m_actionFunction, nullptr)) action();
    });
    hide();
}

void MessageBar::present(const QString& text, bool trouble) {
    m_hideTimer->stop();
    m_actionFunction = nullptr;
    m_action->hide();
    m_text->setTextFormat(Qt::PlainText);
    m_text->setText(text);
    setProperty("trouble", trouble);
    style()->unpolish(this);
    style()->polish(this);
    show();
}

void MessageBar::showTrouble(const QString& text) {
    present(text, true);
}

void MessageBar::showNotice(const QString& text) {
    present(text, false);
}

void MessageBar::showInfo(const QString& text) {
    present(text, false);
    m_hideTimer->start();
}

void MessageBar::showInfo(const QString& text, const QString& actionText, std::function<void()> action) {
    present(text, false);
    m_action->setText(actionText);
    m_action->show();
    m_actionFunction = std::move(action);
}

QString MessageBar::text() const {
    return isHidden() ? QString() : m_text->text();
}

}  // namespace gui
