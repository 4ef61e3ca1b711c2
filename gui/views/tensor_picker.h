// A button that opens the list of tensors, searched by name and narrowed to a role; ticked tensors are drawn.
#pragma once

#include "models/tensor_list_model.h"

#include <QToolButton>

#include <QSortFilterProxyModel>

class QComboBox;
class QFrame;
class QLineEdit;
class QListView;

namespace gui {

class TensorFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setText(const QString& text);
    /// "": all roles.
    void setRole(const QString& role);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QString m_text;
    QString m_role;
};

class TensorPicker : public QToolButton {
    Q_OBJECT
public:
    explicit TensorPicker(QWidget* parent);

    TensorListModel* model() const { return m_model; }
    void openList();

private:
    void createPopup();
    void updateText();
    void updateRoles();

    TensorListModel* m_model;
    TensorFilter* m_filter;
    QFrame* m_popup = nullptr;
    QComboBox* m_role = nullptr;
    QLineEdit* m_search = nullptr;
    QListView* m_list = nullptr;
};

}  // namespace gui
