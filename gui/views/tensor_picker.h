// A button that opens the list of tensors with a search field; ticked tensors are drawn.
#pragma once

#include "models/tensor_list_model.h"

#include <QToolButton>

class QFrame;
class QLineEdit;
class QListView;
class QSortFilterProxyModel;

namespace gui {

class TensorPicker : public QToolButton {
    Q_OBJECT
public:
    explicit TensorPicker(QWidget* parent);

    TensorListModel* model() const { return m_model; }
    void openList();

private:
    void createPopup();
    void updateText();

    TensorListModel* m_model;
    QSortFilterProxyModel* m_filter;
    QFrame* m_popup = nullptr;
    QLineEdit* m_search = nullptr;
    QListView* m_list = nullptr;
};

}  // namespace gui
