// One input of a form, of the kind that its field asks for: spin box, list, check box, line, a set of boxes.
#pragma once

#include "models/config_form_model.h"

#include <functional>
#include <memory>

class QLabel;
class QWidget;

namespace gui {

class FieldEditor {
public:
    /// `edited` is called after every change, by the user or by setValue(). Widgets are named "field_" + option.
    static std::unique_ptr<FieldEditor> create(const FormField& field, const std::function<void()>& edited);
    virtual ~FieldEditor() = default;
    FieldEditor(const FieldEditor&) = delete;
    FieldEditor& operator=(const FieldEditor&) = delete;

    /// Belongs to its parent widget, once it has one.
    QWidget* widget() const { return m_widget; }
    /// What takes the keyboard.
    virtual QWidget* input() const { return m_widget; }
    /// Invalid when what stands in it is no number.
    virtual QVariant value() const = 0;
    virtual void setValue(const QVariant& value) = 0;
    /// Text for the value that the program finds by itself.
    virtual void showAutomatic(const QString&) {}
    /// True when the input names itself and needs no label beside it.
    virtual bool hasOwnLabel() const { return false; }

    /// Off, with the reason in the tool tip, or on with the field's help when `reason` is "".
    void setIdle(const QString& reason);

protected:
    explicit FieldEditor(const FormField& field) : m_field(field) {}
    void setWidget(QWidget* widget);
    const FormField& field() const { return m_field; }
    QString inputName() const { return QStringLiteral("field_") + m_field.option; }

private:
    const FormField& m_field;
    QWidget* m_widget = nullptr;
};

}  // namespace gui
