// Button, popup, search field and list; see tensor_picker.h.
#include "views/tensor_picker.h"

#include <QFrame>
#include <QLineEdit>
#include <QListView>
#include <QScreen>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>

namespace gui {

TensorPicker::TensorPicker(QWidget* parent)
    : QToolButton(parent), m_model(new TensorListModel(this)), m_filter(new QSortFilterProxyModel(this)) {
    setObjectName(QStringLiteral("tensorPicker"));
    setToolTip(tr("Choose the tensors that are drawn, worst first"));
    setAutoRaise(true);
    m_filter->setSourceModel(m_model);
    m_filter->setFilterCaseSensitivity(Qt::CaseInsensitive);
    createPopup();
    updateText();
    connect(this, &QToolButton::clicked, this, &TensorPicker::openList);
    connect(m_model, &QAbstractItemModel::dataChanged, this, &TensorPicker::updateText);
    connect(m_model, &QAbstractItemModel::modelReset, this, &TensorPicker::updateText);
}

void TensorPicker::createPopup() {
    m_popup = new QFrame(this, Qt::Popup);
    m_popup->setObjectName(QStringLiteral("tensorPopup"));
    m_popup->setFrameShape(QFrame::StyledPanel);
    m_search = new QLineEdit(m_popup);
    m_search->setObjectName(QStringLiteral("tensorSearch"));
    m_search->setPlaceholderText(tr("Search tensors"));
    m_search->setClearButtonEnabled(true);
    m_list = new QListView(m_popup);
    m_list->setObjectName(QStringLiteral("tensorList"));
    m_list->setModel(m_filter);
    m_list->setUniformItemSizes(true);
    auto* layout = new QVBoxLayout(m_popup);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->addWidget(m_search);
    layout->addWidget(m_list);
    connect(m_search, &QLineEdit::textChanged, m_filter, &QSortFilterProxyModel::setFilterFixedString);
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

void TensorPicker::updateText() {
    const int ticked = static_cast<int>(m_model->ticked().size());
    const int all = m_model->rowCount();
    setText(all == 0 ? tr("tensors ▾") : tr("tensors (%1 of %2) ▾").arg(ticked).arg(all));
    setEnabled(all > 0);
}

}  // namespace gui
