// The pages are Markdown in the resources; links between them work as they do in a checkout.
#include "views/help_dialog.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace gui {

HelpDialog::HelpDialog(QWidget* parent) : QDialog(parent), m_browser(new QTextBrowser) {
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName("helpDialog");
    setWindowTitle(tr("User guide"));
    m_browser->setObjectName("helpBrowser");
    m_browser->setOpenExternalLinks(true);
    m_browser->setAccessibleName(tr("User guide"));
    auto* back = new QPushButton(tr("Back"));
    back->setObjectName("helpBack");
    back->setAutoDefault(false);
    back->setEnabled(false);
    auto* guide = new QPushButton(tr("User guide"));
    auto* numbers = new QPushButton(tr("What the numbers mean"));
    for (QPushButton* button : {guide, numbers}) button->setAutoDefault(false);
    auto* close = new QDialogButtonBox(QDialogButtonBox::Close);
    auto* row = new QHBoxLayout;
    for (QPushButton* button : {back, guide, numbers}) row->addWidget(button);
    row->addStretch(1);
    row->addWidget(close);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 16, 16, 16);
    layout->addWidget(m_browser, 1);
    layout->addLayout(row);
    connect(back, &QPushButton::clicked, m_browser, &QTextBrowser::backward);
    connect(m_browser, &QTextBrowser::backwardAvailable, back, &QPushButton::setEnabled);
    connect(guide, &QPushButton::clicked, this, [this] { showPage(QStringLiteral("user-guide")); });
    connect(numbers, &QPushButton::clicked, this, [this] { showPage(QStringLiteral("numbers")); });
    connect(close, &QDialogButtonBox::rejected, this, &QDialog::reject);
    resize(fontMetrics().averageCharWidth() * 110, fontMetrics().height() * 40);
    showPage(QStringLiteral("user-guide"));
}

void HelpDialog::showPage(const QString& page) {
    m_browser->setSource(QUrl(QStringLiteral("qrc:/docs/%1.md").arg(page)), QTextDocument::MarkdownResource);
}

}  // namespace gui
