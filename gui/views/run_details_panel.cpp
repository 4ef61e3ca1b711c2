// The labels are made once and filled again, since a live run changes them several times a second.
#include "views/run_details_panel.h"

#include <QGridLayout>
#include <QLabel>

namespace gui {

RunDetailsPanel::RunDetailsPanel(QWidget* parent)
    : QScrollArea(parent), m_content(new QWidget), m_grid(new QGridLayout(m_content)) {
    setObjectName("runDetails");
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setAutoFillBackground(false);
    m_content->setAutoFillBackground(false);
    m_grid->setContentsMargins(0, 0, 4, 0);
    m_grid->setHorizontalSpacing(12);
    m_grid->setVerticalSpacing(4);
    m_grid->setColumnStretch(1, 1);
    setWidget(m_content);
}

void RunDetailsPanel::setDetails(const std::vector<Detail>& details) {
    m_details = details;
    while (m_lines.size() < details.size()) {
        const int row = static_cast<int>(m_lines.size());
        Line line{new QLabel, new QLabel};
        line.label->setProperty("role", "caption");
        line.label->setAlignment(Qt::AlignTop | Qt::AlignLeft);
        line.value->setWordWrap(true);
        line.value->setTextFormat(Qt::PlainText);
        line.value->setMinimumWidth(0);
        line.value->setTextInteractionFlags(Qt::TextSelectableByMouse);
        m_grid->setRowStretch(row, 0);
        m_grid->addWidget(line.label, row, 0);
        m_grid->addWidget(line.value, row, 1);
        m_grid->setRowStretch(row + 1, 1);
        m_lines.push_back(line);
    }
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        const bool used = i < details.size();
        m_lines[i].label->setVisible(used);
        m_lines[i].value->setVisible(used);
        if (!used) continue;
        m_lines[i].label->setText(details[i].label);
        m_lines[i].value->setText(details[i].value);
        m_lines[i].value->setToolTip(details[i].toolTip);
    }
}

}  // namespace gui
