// "Export report…": which runs, which format, where to. Writing happens on a thread of its own.
#pragma once

#include "profiling/events.h"

#include <QDialog>
#include <QString>

#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace gui {

struct ExportSource {
    QString database;
    std::vector<profiling::RunId> visible;   // checked in the list, oldest first
    std::vector<profiling::RunId> selected;  // highlighted in the list
    profiling::RunId baseline;
};

class ExportDialog : public QDialog {
    Q_OBJECT
public:
    explicit ExportDialog(ExportSource source, QWidget* parent = nullptr);

signals:
    void written(const QString& path);
    void failed(const QString& text);

private:
    void createWidgets();
    void formatChanged();
    void pathChanged();
    void chooseFile();
    void write();

    ExportSource m_source;
    QComboBox* m_runs;
    QComboBox* m_format;
    QComboBox* m_table;
    QLabel* m_tableLabel;
    QLineEdit* m_path;
    QCheckBox* m_replace;
    QLabel* m_problem;
    QPushButton* m_export;
};

}  // namespace gui
