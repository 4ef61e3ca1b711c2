// The kinds of inputs; nothing here knows a rule about values.
#include "views/field_editor.h"

#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QFileDialog>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpressionValidator>
#include <QSpinBox>

#include <vector>

namespace gui {

namespace {

using Edited = std::function<void()>;

/// The wheel scrolls the page and changes a value only in the input that has the keyboard.
class WheelGuard : public QObject {
public:
    using QObject::QObject;
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::Wheel || static_cast<QWidget*>(watched)->hasFocus()) return false;
        event->ignore();
        return true;
    }
};

void guardWheel(QWidget* input) {
    input->setFocusPolicy(Qt::StrongFocus);
    input->installEventFilter(new WheelGuard(input));
}

class IntegerEditor : public FieldEditor {
public:
    IntegerEditor(const FormField& field, const Edited& edited) : FieldEditor(field), m_box(new QSpinBox) {
        m_box->setRange(static_cast<int>(field.minimum), static_cast<int>(field.maximum));
        m_box->setMinimumWidth(m_box->fontMetrics().averageCharWidth() * 18);
        guardWheel(m_box);
        m_box->setObjectName(inputName());
        setWidget(m_box);
        QObject::connect(m_box, &QSpinBox::valueChanged, m_box, edited);
    }
    QVariant value() const override { return m_box->value(); }
    void setValue(const QVariant& value) override { m_box->setValue(value.toInt()); }
    void showAutomatic(const QString& text) override { m_box->setSpecialValueText(text); }

private:
    QSpinBox* m_box;
};

class ChoiceEditor : public FieldEditor {
public:
    ChoiceEditor(const FormField& field, const Edited& edited) : FieldEditor(field), m_box(new QComboBox) {
        for (const FieldChoice& choice : field.choices) {
            m_box->addItem(choice.word, choice.word);
            m_box->setItemData(m_box->count() - 1, choice.help, Qt::ToolTipRole);
        }
        m_box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        guardWheel(m_box);
        m_box->setObjectName(inputName());
        setWidget(m_box);
        QObject::connect(m_box, &QComboBox::currentIndexChanged, m_box, edited);
    }
    QVariant value() const override { return m_box->currentData(); }
    void setValue(const QVariant& value) override { m_box->setCurrentIndex(m_box->findData(value)); }
    void showAutomatic(const QString& text) override { m_box->setItemText(m_box->findData("auto"), text); }

private:
    QComboBox* m_box;
};

class FlagEditor : public FieldEditor {
public:
    FlagEditor(const FormField& field, const Edited& edited) : FieldEditor(field), m_box(new QCheckBox(field.label)) {
        m_box->setObjectName(inputName());
        setWidget(m_box);
        QObject::connect(m_box, &QCheckBox::toggled, m_box, edited);
    }
    QVariant value() const override { return m_box->isChecked(); }
    void setValue(const QVariant& value) override { m_box->setChecked(value.toBool()); }
    bool hasOwnLabel() const override { return true; }

private:
    QCheckBox* m_box;
};

/// Text, real numbers and 64-bit integers.
class LineEditor : public FieldEditor {
public:
    LineEditor(const FormField& field, const Edited& edited) : FieldEditor(field), m_line(new QLineEdit) {
        m_line->setObjectName(inputName());
        m_line->setPlaceholderText(field.placeholder);
        if (field.kind == FieldKind::Unsigned64) {
            m_line->setValidator(
                new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{0,20}")), m_line));
        }
        setWidget(m_line);
        QObject::connect(m_line, &QLineEdit::textChanged, m_line, edited);
    }
    QVariant value() const override {
        const QString text = m_line->text();
        bool ok = true;
        QVariant result(text);
        if (field().kind == FieldKind::Real) result = text.trimmed().toDouble(&ok);
        if (field().kind == FieldKind::Unsigned64) result = text.trimmed().toULongLong(&ok);
        return ok ? result : QVariant();
    }
    void setValue(const QVariant& value) override {
        m_line->setText(field().kind == FieldKind::Real ? QString::number(value.toDouble(), 'g', 10)
                                                        : value.toString());
    }

private:
    QLineEdit* m_line;
};

class FileEditor : public FieldEditor {
public:
    FileEditor(const FormField& field, const Edited& edited) : FieldEditor(field), m_line(new QLineEdit) {
        m_line->setObjectName(inputName());
        m_line->setPlaceholderText(field.placeholder);
        m_line->setMinimumWidth(m_line->fontMetrics().averageCharWidth() * 24);
        auto* browse = new QPushButton(QObject::tr("Browse…"));
        browse->setObjectName(QStringLiteral("browse_") + field.option);
        browse->setAutoDefault(false);
        auto* row = new QWidget;
        auto* layout = new QHBoxLayout(row);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->addWidget(m_line, 1);
        layout->addWidget(browse);
        setWidget(row);
        QObject::connect(m_line, &QLineEdit::textChanged, m_line, edited);
        QObject::connect(browse, &QPushButton::clicked, m_line, [line = m_line, title = field.label] {
            const QString path = QFileDialog::getOpenFileName(line, title, line->text());
            if (!path.isEmpty()) line->setText(path);
        });
    }
    QWidget* input() const override { return m_line; }
    QVariant value() const override { return m_line->text(); }
    void setValue(const QVariant& value) override { m_line->setText(value.toString()); }

private:
    QLineEdit* m_line;
};

/// A check box that turns the number on, 1 at first, and the number beside it.
class CountEditor : public FieldEditor {
public:
    CountEditor(const FormField& field, const Edited& edited)
        : FieldEditor(field), m_check(new QCheckBox(field.label)), m_box(new QSpinBox) {
        m_check->setObjectName(QStringLiteral("check_") + field.option);
        m_box->setRange(static_cast<int>(field.minimum), static_cast<int>(field.maximum));
        m_box->setObjectName(inputName());
        m_box->setEnabled(false);
        guardWheel(m_box);
        auto* row = new QWidget;
        auto* layout = new QHBoxLayout(row);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->addWidget(m_check);
        layout->addWidget(m_box);
        layout->addStretch(1);
        setWidget(row);
        QObject::connect(m_check, &QCheckBox::toggled, m_box, &QWidget::setEnabled);
        QObject::connect(m_check, &QCheckBox::toggled, m_box, edited);
        QObject::connect(m_box, &QSpinBox::valueChanged, m_box, edited);
    }
    QWidget* input() const override { return m_check; }
    QVariant value() const override { return m_check->isChecked() ? m_box->value() : 0; }
    void setValue(const QVariant& value) override {
        if (value.toInt() > 0) m_box->setValue(value.toInt());
        m_check->setChecked(value.toInt() > 0);
    }
    bool hasOwnLabel() const override { return true; }

private:
    QCheckBox* m_check;
    QSpinBox* m_box;
};

class SetEditor : public FieldEditor {
public:
    SetEditor(const FormField& field, const Edited& edited) : FieldEditor(field) {
        constexpr int kColumns = 2;
        auto* all = new QWidget;
        all->setObjectName(inputName());
        auto* grid = new QGridLayout(all);
        grid->setContentsMargins(0, 0, 0, 0);
        grid->setVerticalSpacing(2);
        const int rows = (static_cast<int>(field.choices.size()) + kColumns - 1) / kColumns;
        for (const FieldChoice& choice : field.choices) {
            auto* box = new QCheckBox(choice.word);
            box->setObjectName(QStringLiteral("%1_%2").arg(field.option, choice.word));
            box->setToolTip(choice.help);
            const int at = static_cast<int>(m_boxes.size());
            grid->addWidget(box, at % rows, at / rows);
            m_boxes.push_back(box);
            QObject::connect(box, &QCheckBox::toggled, box, edited);
        }
        setWidget(all);
    }
    QWidget* input() const override { return m_boxes.front(); }
    QVariant value() const override {
        QStringList words;
        for (const QCheckBox* box : m_boxes) {
            if (box->isChecked()) words << box->text();
        }
        return words.join(',');
    }
    void setValue(const QVariant& value) override {
        const QStringList words = value.toString().split(',');
        for (QCheckBox* box : m_boxes) box->setChecked(words.contains(box->text()));
    }

private:
    std::vector<QCheckBox*> m_boxes;
};

}  // namespace

std::unique_ptr<FieldEditor> FieldEditor::create(const FormField& field, const std::function<void()>& edited) {
    switch (field.kind) {
        case FieldKind::Integer:
            return std::make_unique<IntegerEditor>(field, edited);
        case FieldKind::Choice:
            return std::make_unique<ChoiceEditor>(field, edited);
        case FieldKind::Flag:
            return std::make_unique<FlagEditor>(field, edited);
        case FieldKind::OptionalCount:
            return std::make_unique<CountEditor>(field, edited);
        case FieldKind::Set:
            return std::make_unique<SetEditor>(field, edited);
        case FieldKind::File:
            return std::make_unique<FileEditor>(field, edited);
        case FieldKind::Real:
        case FieldKind::Text:
        case FieldKind::Unsigned64:
            break;
    }
    return std::make_unique<LineEditor>(field, edited);
}

void FieldEditor::setWidget(QWidget* widget) {
    m_widget = widget;
    setIdle({});
    QWidget* named = input();
    named->setAccessibleName(m_field.label);
    named->setAccessibleDescription(m_field.help);
}

void FieldEditor::setIdle(const QString& reason) {
    m_widget->setEnabled(reason.isEmpty());
    const QString help = QStringLiteral("%1\nCommand line: --%2").arg(m_field.help, m_field.commandLine);
    m_widget->setToolTip(reason.isEmpty() ? help : QObject::tr("Has no effect: %1.\n%2").arg(reason, help));
}

}  // namespace gui
