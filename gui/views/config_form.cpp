// Inputs for every field; nothing here knows a rule about values, engine::validate() does.
#include "views/config_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpressionValidator>
#include <QSpinBox>
#include <QVBoxLayout>

namespace gui {

namespace {

QVariant editorValue(const FormField& field, QWidget* editor) {
    switch (field.kind) {
        case FieldKind::Integer:
            return static_cast<QSpinBox*>(editor)->value();
        case FieldKind::Choice:
            return static_cast<QComboBox*>(editor)->currentText();
        case FieldKind::Flag:
            return static_cast<QCheckBox*>(editor)->isChecked();
        case FieldKind::Text:
            return static_cast<QLineEdit*>(editor)->text();
        case FieldKind::Real: {
            bool ok = false;
            const double value = static_cast<QLineEdit*>(editor)->text().trimmed().toDouble(&ok);
            return ok ? QVariant(value) : QVariant();  // invalid: not a number
        }
        case FieldKind::Unsigned64: {
            bool ok = false;
            const qulonglong value = static_cast<QLineEdit*>(editor)->text().trimmed().toULongLong(&ok);
            return ok ? QVariant(value) : QVariant();
        }
    }
    return {};
}

void setEditorValue(const FormField& field, QWidget* editor, const QVariant& value) {
    switch (field.kind) {
        case FieldKind::Integer:
            static_cast<QSpinBox*>(editor)->setValue(value.toInt());
            break;
        case FieldKind::Choice:
            static_cast<QComboBox*>(editor)->setCurrentText(value.toString());
            break;
        case FieldKind::Flag:
            static_cast<QCheckBox*>(editor)->setChecked(value.toBool());
            break;
        case FieldKind::Text:
        case FieldKind::Unsigned64:
            static_cast<QLineEdit*>(editor)->setText(value.toString());
            break;
        case FieldKind::Real:
            static_cast<QLineEdit*>(editor)->setText(QString::number(value.toDouble(), 'g', 10));
            break;
    }
}

QLabel* createProblemLabel(const QString& option) {
    auto* label = new QLabel;
    label->setObjectName("problem_" + option);
    label->setProperty("role", "problem");
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->hide();
    return label;
}

void showProblem(QLabel* label, const QString& text) {
    label->setText(text);
    label->setVisible(!text.isEmpty());
}

}  // namespace

ConfigForm::ConfigForm(const QStringList& leftOut, QWidget* parent) : QWidget(parent) {
    auto* columns = new QHBoxLayout;
    columns->setSpacing(24);
    const std::pair<FieldGroup, FieldGroup> pairs[] = {{FieldGroup::Model, FieldGroup::Precision},
                                                       {FieldGroup::Training, FieldGroup::Machine}};
    for (const auto& [upper, lower] : pairs) {
        QFormLayout* first = createGroup(upper, leftOut);
        QFormLayout* second = createGroup(lower, leftOut);
        alignLabels({first, second});
        auto* column = new QVBoxLayout;
        column->addLayout(first);
        column->addLayout(second);
        column->addStretch(1);
        columns->addLayout(column, 1);
    }
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(createData());
    layout->addLayout(columns);
    layout->addStretch(1);
}

void ConfigForm::addRow(QFormLayout* form, const QString& text, QWidget* editor, QLabel* problem) {
    auto* cell = new QWidget;
    auto* layout = new QVBoxLayout(cell);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(editor);
    layout->addWidget(problem);
    auto* label = new QLabel(text);
    label->setBuddy(editor);
    form->addRow(label, cell);
}

void alignLabels(const QList<QFormLayout*>& forms) {
    QList<QWidget*> labels;
    int widest = 0;
    for (const QFormLayout* form : forms) {
        for (int row = 0; row < form->rowCount(); ++row) {
            const QLayoutItem* item = form->itemAt(row, QFormLayout::LabelRole);
            if (item == nullptr || item->widget() == nullptr) continue;
            labels << item->widget();
            widest = qMax(widest, item->widget()->sizeHint().width());
        }
    }
    for (QWidget* label : labels) label->setMinimumWidth(widest);
}

QFormLayout* ConfigForm::createGroup(FieldGroup group, const QStringList& leftOut) {
    auto* form = new QFormLayout;
    form->setContentsMargins(0, 8, 0, 8);
    form->setVerticalSpacing(4);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    auto* heading = new QLabel(title(group));
    heading->setProperty("role", "title");
    form->addRow(heading);
    for (const FormField& field : formFields()) {
        if (field.group != group || leftOut.contains(field.option)) continue;
        QWidget* editor = createEditor(field);
        editor->setObjectName("field_" + field.option);
        editor->setToolTip(QStringLiteral("%1\nCommand line: --%2").arg(field.help, field.option));
        editor->setAccessibleName(field.label);
        editor->setAccessibleDescription(field.help);
        QLabel* problem = createProblemLabel(field.option);
        addRow(form, field.label, editor, problem);
        m_inputs.push_back({&field, editor, problem});
    }
    return form;
}

QWidget* ConfigForm::createEditor(const FormField& field) {
    switch (field.kind) {
        case FieldKind::Integer: {
            auto* box = new QSpinBox;
            box->setRange(static_cast<int>(field.minimum), static_cast<int>(field.maximum));
            box->setSpecialValueText(field.zeroText);
            box->setMinimumWidth(box->fontMetrics().averageCharWidth() * 18);
            connect(box, &QSpinBox::valueChanged, this, &ConfigForm::edited);
            return box;
        }
        case FieldKind::Choice: {
            auto* box = new QComboBox;
            box->addItems(field.choices);
            connect(box, &QComboBox::currentTextChanged, this, &ConfigForm::edited);
            return box;
        }
        case FieldKind::Flag: {
            auto* box = new QCheckBox;
            connect(box, &QCheckBox::toggled, this, &ConfigForm::edited);
            return box;
        }
        case FieldKind::Real:
        case FieldKind::Text:
        case FieldKind::Unsigned64:
            break;
    }
    auto* line = new QLineEdit;
    if (field.kind == FieldKind::Unsigned64) {
        line->setValidator(new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{0,20}")), line));
    }
    connect(line, &QLineEdit::textChanged, this, &ConfigForm::edited);
    return line;
}

QFormLayout* ConfigForm::createData() {
    m_dataKind = new QComboBox;
    m_dataKind->setObjectName("dataKind");
    m_dataKind->setAccessibleName(tr("Kind of data"));
    m_dataKind->addItem(tr("stride: synthetic arithmetic sequences"), "stride");
    m_dataKind->addItem(tr("text: the bytes of a file"), "text");
    m_dataKind->addItem(tr("tokens: uint16 or uint32 token file"), "tokens");
    m_dataPath = new QLineEdit;
    m_dataPath->setObjectName("dataPath");
    m_dataPath->setAccessibleName(tr("Data file"));
    m_dataPath->setPlaceholderText(tr("path of the file"));
    m_dataBrowse = new QPushButton(tr("Browse…"));
    m_dataBrowse->setAutoDefault(false);
    m_dataProblem = createProblemLabel("data");
    auto* row = new QWidget;
    auto* rowLayout = new QHBoxLayout(row);
    rowLayout->setContentsMargins(0, 0, 0, 0);
    rowLayout->addWidget(m_dataKind);
    rowLayout->addWidget(m_dataPath, 1);
    rowLayout->addWidget(m_dataBrowse);
    m_dataForm = new QFormLayout;
    m_dataForm->setContentsMargins(0, 0, 0, 0);
    addRow(m_dataForm, tr("Data"), row, m_dataProblem);
    connect(m_dataKind, &QComboBox::currentIndexChanged, this, &ConfigForm::edited);
    connect(m_dataPath, &QLineEdit::textChanged, this, &ConfigForm::edited);
    connect(m_dataBrowse, &QPushButton::clicked, this, &ConfigForm::chooseFile);
    return m_dataForm;
}

void ConfigForm::chooseFile() {
    const QString path = QFileDialog::getOpenFileName(this, tr("Data file"), m_dataPath->text());
    if (!path.isEmpty()) m_dataPath->setText(path);
}

void ConfigForm::setConfig(const engine::RunConfig& config) {
    m_filling = true;
    m_config = config;
    for (const Input& input : m_inputs) setEditorValue(*input.field, input.editor, input.field->get(config));
    const DataChoice choice = parseData(config.train.data);
    m_dataKind->setCurrentIndex(m_dataKind->findData(choice.kind));
    m_dataPath->setText(choice.path);
    m_filling = false;
    edited();
}

engine::RunConfig ConfigForm::config() const {
    engine::RunConfig config = m_config;
    for (const Input& input : m_inputs) {
        const QVariant value = editorValue(*input.field, input.editor);
        if (value.isValid()) input.field->set(config, value);
    }
    config.train.data = joinData({m_dataKind->currentData().toString(), m_dataPath->text()});
    return config;
}

void ConfigForm::edited() {
    if (m_filling) return;
    enableByPrecision();
    emit changed();
}

void ConfigForm::enableByPrecision() {
    const bool needsFile = m_dataKind->currentData() != "stride";
    m_dataPath->setEnabled(needsFile);
    m_dataBrowse->setEnabled(needsFile);
    const engine::Precision precision = config().train.precision;
    const bool fp8 = precision == engine::Precision::Fp8 || precision == engine::Precision::Auto;
    for (const Input& input : m_inputs) {
        if (input.field->fp8Only) input.editor->setEnabled(fp8);
    }
}

std::vector<engine::ConfigIssue> ConfigForm::check() {
    std::vector<engine::ConfigIssue> issues = formIssues(config());
    for (const Input& input : m_inputs) {
        if (editorValue(*input.field, input.editor).isValid()) continue;
        const char* fix = input.field->kind == FieldKind::Unsigned64
                              ? "use a whole number from 0 to 18446744073709551615"
                              : "write it like 0.001 or 1e-3";
        issues.push_back({input.field->option.toStdString(), "not a number", fix});
    }
    const auto textFor = [&issues](const QString& option) {
        QStringList lines;
        for (const engine::ConfigIssue& issue : issues) {
            if (QString::fromStdString(issue.field) != option) continue;
            lines << QString::fromStdString(issue.why + ": " + issue.fix);
        }
        return lines.join('\n');
    };
    for (const Input& input : m_inputs) showProblem(input.problem, textFor(input.field->option));
    showProblem(m_dataProblem, textFor("data"));
    return issues;
}

}  // namespace gui
