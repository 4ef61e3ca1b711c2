// "Selected run": what was asked for, what was used and what came out, as label and value lines.
#pragma once

#include "models/run_details.h"

#include <QScrollArea>

#include <vector>

class QGridLayout;
class QLabel;

namespace gui {

class RunDetailsPanel : public QScrollArea {
    Q_OBJECT
public:
    explicit RunDetailsPanel(QWidget* parent = nullptr);

    void setDetails(const std::vector<Detail>& details);
    QString text() const { return detailsText(m_details); }

private:
    struct Line {
        QLabel* label;
        QLabel* value;
    };
    QWidget* m_content;
    QGridLayout* m_grid;
    std::vector<Line> m_lines;
    std::vector<Detail> m_details;
};

}  // namespace gui
