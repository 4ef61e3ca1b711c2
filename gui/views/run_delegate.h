// Draws one run of the runs list: colour swatch that is also the check box, name, status or progress, throughput and
// difference from the baseline.
#pragma once

#include <QStyledItemDelegate>

namespace gui {

class RunDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    bool editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                     const QModelIndex& index) override;
    void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                              const QModelIndex& index) const override;

    /// Where a click toggles the check box.
    static QRect swatchRect(const QStyleOptionViewItem& option);
};

}  // namespace gui
