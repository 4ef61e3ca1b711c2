// Button, popup, search field and list; see tensor_picker.h.
#include "views/tensor_picker.h"

#include <QComboBox>
#include <QFrame>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QListView>
#include <QScreen>
#include <QVBoxLayout>

#include <algorithm>

namespace gui {

void TensorFilter::setText(const QString& text) {
    m_text = text;
    invalidateFilter();
}

void TensorFilter::setRole(const QString& role) {
    m_role = role;
    invalidateFilter();
}

bool TensorFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    if (!m_role.isEmpty() && index.data(TensorListModel::RoleRole).toString() != m_role) return false;
    return index.data(TensorListModel::NameRole).toString().contains(m_text, Qt::CaseInsensitive);
}

TensorPicker::TensorPicker(QWidget* parent)
    : QToolButton(parent), m_model(new TensorListModel(this)), m_filter(new TensorFilter(this)) {
    setObjectName(QStringLiteral("tensorPicker"));
    setToolTip(tr("Choose the tensors that are drawn, worst first"));
    setAutoRaise(true);
    m_filter->setSourceModel(m_model);
    createPopup();
    updateText();
    connect(this, &QToolButton::clicked, this, &TensorPicker::openList);
    connect(m_model, &QAbstractItemModel::dataChanged, this, &TensorPicker::updateText);
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] {
        updateText();
        updateRoles();
    });
}

void TensorPicker::createPopup() {
    m_popup = new QFrame(this, Qt::Popup);
    m_popup->setObjectName(QStringLiteral("tensorPopup"));
    m_popup->setFrameShape(QFrame::StyledPanel);
    m_search = new QLineEdit(m_popup);
    m_search->setObjectName(QStringLiteral("tensorSearch"));
    m_search->setPlaceholderText(tr("Search tensors"));
    m_search->setClearButtonEnabled(true);
    m_role = new QComboBox(m_popup);
    m_role->setObjectName(QStringLiteral("tensorRole"));
    m_role->setAccessibleName(tr("Role of the tensors listed"));
    m_list = new QListView(m_popup);
    m_list->setObjectName(QStringLiteral("tensorList"));
    m_list->setModel(m_filter);
    m_list->setUniformItemSizes(true);
    auto* layout = new QVBoxLayout(m_popup);
    layout->setContentsMargins(8, 8, 8, 8);
    auto* row = new QHBoxLayout;
    row->addWidget(m_search, 1);
    row->addWidget(m_role);
    layout->addLayout(row);
    layout->addWidget(m_list);
    updateRoles();
    connect(m_search, &QLineEdit::textChanged, m_filter, &TensorFilter::setText);
    connect(m_role, &QComboBox::currentIndexChanged, this,
            [this] { m_filter->setRole(m_role->currentData().toString()); });
    connect(m_list, &QListView::activated, this, [this](const QModelIndex& index) {
        const bool isTicked = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
        m_filter->setData(index, isTicked ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
    });
}

void TensorPicker::openList() {
    const QSize size(360, 320);
    m_popup->resize(size);
    QPoint corner = mapToGlobal(QPoint(width() - size.width(), height() + 2));
    if (const QScreen* where = screen()) {
        const QRect room = where->availableGeometry();
        corner.setX(qBound(room.left(), corner.x(), qMax(room.left(), room.right() - size.width())));
        corner.setY(qBound(room.top(), corner.y(), qMax(room.top(), room.bottom() - size.height())));
    }
    m_popup->move(corner);
    m_popup->show();
    m_search->setFocus();
    m_search->selectAll();
}

/// The roles that the run observed; the one chosen stays while it is among them.
void TensorPicker::updateRoles() {
    QStringList roles;
    for (const TensorItem& item : m_model->items()) {
        const QString role = QString::fromStdString(item.tensor.role);
        if (!roles.contains(role)) roles << role;
    }
    roles.sort();
    const QString chosen = m_role->currentData().toString();
    m_role->clear();
    m_role->addItem(tr("all roles"), QString());
    for (const QString& role : roles) m_role->addItem(role, role);
    m_role->setCurrentIndex(std::max(0, m_role->findData(chosen)));
}

void TensorPicker::updateText() {
    const int ticked = static_cast<int>(m_model->ticked().size());
    const int all = m_model->rowCount();
    setText(all == 0 ? tr("tensors ▾") : tr("tensors (%1 of %2) ▾").arg(ticked).arg(all));
    setEnabled(all > 0);
}

}  // namespace gui
