// Painting of one row of the runs list. All sizes follow the font.
#include "views/run_delegate.h"

#include "models/runs_model.h"
#include "profiling/session.h"
#include "views/plot_style.h"
#include "views/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

namespace gui {

namespace {

constexpr int kPadding = 8;

QFont captionFont(const QFont& base) {
    QFont font = base;
    if (font.pixelSize() > 0) {
        font.setPixelSize(font.pixelSize() - 1);
    } else {
        font.setPointSizeF(font.pointSizeF() * 0.92);
    }
    return font;
}

void paintSwatch(QPainter* painter, const QRect& area, const QColor& color, bool checked) {
    const int side = area.height() / 2;
    const QRectF box(area.left() + (area.width() - side) / 2.0, area.top() + (area.height() - side) / 2.0, side, side);
    painter->setPen(QPen(color, 1.5));
    painter->setBrush(checked ? QBrush(color) : QBrush(Qt::NoBrush));
    painter->drawRoundedRect(box, 3, 3);
}

void paintProgress(QPainter* painter, const QRect& area, double done) {
    const ThemeColors& colors = currentColors();
    const double height = qMin(6, area.height() / 2);
    QRectF bar(area.left(), area.center().y() - height / 2, area.width(), height);
    painter->setPen(Qt::NoPen);
    painter->setBrush(colors.line);
    painter->drawRoundedRect(bar, height / 2, height / 2);
    bar.setWidth(bar.width() * done);
    painter->setBrush(colors.accent);
    painter->drawRoundedRect(bar, height / 2, height / 2);
}

}  // namespace

QRect RunDelegate::swatchRect(const QStyleOptionViewItem& option) {
    const int height = option.fontMetrics.height() + kPadding;
    return {option.rect.left() + 2, option.rect.top() + kPadding / 2, height, height};
}

QSize RunDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
    const int lines = option.fontMetrics.height() + QFontMetrics(captionFont(option.font)).height();
    return {option.fontMetrics.averageCharWidth() * 30, lines + kPadding * 2};
}

void RunDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    const ThemeColors& colors = currentColors();
    const PlotStyle plotStyle = isDarkTheme() ? PlotStyle::dark() : PlotStyle::light();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRectF frame = QRectF(option.rect).adjusted(1.5, 1.5, -1.5, -1.5);
    if (option.state & QStyle::State_Selected) {
        const bool focused = option.state & QStyle::State_HasFocus;
        painter->setPen(QPen(colors.accent, focused ? 1.5 : 1.0));
        painter->setBrush(colors.background);
        painter->drawRoundedRect(frame, 4, 4);
    } else if (option.state & QStyle::State_MouseOver) {
        painter->setPen(Qt::NoPen);
        painter->setBrush(colors.background);
        painter->drawRoundedRect(frame, 4, 4);
    }
    const QRect swatch = swatchRect(option);
    paintSwatch(painter, swatch, plotStyle.runColor(index.data(RunsModel::ColorIndexRole).toInt()),
                index.data(Qt::CheckStateRole).toInt() == Qt::Checked);

    QFont nameFont = option.font;
    const bool current = option.state & QStyle::State_Selected;
    nameFont.setWeight(current ? QFont::DemiBold : QFont::Normal);
    const QFont smallFont = captionFont(option.font);
    const QFontMetrics nameMetrics(nameFont);
    const QFontMetrics smallMetrics(smallFont);
    QRect line(swatch.right() + 4, option.rect.top() + kPadding, 0, nameMetrics.height());
    line.setRight(option.rect.right() - kPadding);

    const bool baseline = index.data(RunsModel::BaselineRole).toBool();
    QString right = index.data(RunsModel::ThroughputRole).toString();
    const QString difference = index.data(RunsModel::DifferenceRole).toString();
    if (baseline) right = QStringLiteral("★ ") + right;
    if (!difference.isEmpty()) right.replace(QStringLiteral(" tok/s"), QStringLiteral("  ") + difference);
    painter->setFont(option.font);
    painter->setPen(colors.text);
    painter->drawText(line, Qt::AlignRight | Qt::AlignVCenter, right);
    const int rightWidth = option.fontMetrics.horizontalAdvance(right) + kPadding;
    painter->setFont(nameFont);
    const QString name = nameMetrics.elidedText(index.data().toString(), Qt::ElideRight, line.width() - rightWidth);
    painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter, name);

    line.translate(0, nameMetrics.height());
    line.setHeight(smallMetrics.height());
    const auto status = static_cast<profiling::RunStatus>(index.data(RunsModel::StatusRole).toInt());
    const bool trouble = status == profiling::RunStatus::Failed || status == profiling::RunStatus::Crashed;
    painter->setFont(smallFont);
    painter->setPen(trouble ? colors.trouble : colors.secondary);
    const QString statusText = index.data(RunsModel::StatusTextRole).toString();
    painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter, statusText);
    const double progress = index.data(RunsModel::ProgressRole).toDouble();
    if (progress >= 0) {
        line.setLeft(line.left() + smallMetrics.horizontalAdvance(statusText) + kPadding);
        if (line.width() > kPadding) paintProgress(painter, line, progress);
    }
    painter->restore();
}

bool RunDelegate::editorEvent(QEvent* event, QAbstractItemModel* model, const QStyleOptionViewItem& option,
                              const QModelIndex& index) {
    bool toggle = false;
    if (event->type() == QEvent::MouseButtonRelease) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        toggle = mouse->button() == Qt::LeftButton && swatchRect(option).contains(mouse->position().toPoint());
    } else if (event->type() == QEvent::KeyPress) {
        toggle = static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space;
    } else if (event->type() == QEvent::MouseButtonDblClick) {
        return swatchRect(option).contains(static_cast<QMouseEvent*>(event)->position().toPoint());
    }
    if (!toggle) return false;
    const bool checked = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
    return model->setData(index, checked ? Qt::Unchecked : Qt::Checked, Qt::CheckStateRole);
}

void RunDelegate::updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option, const QModelIndex&) const {
    const int left = swatchRect(option).right();
    editor->setGeometry(left, option.rect.top() + 2, option.rect.right() - left - 2, editor->sizeHint().height());
}

}  // namespace gui
