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
    auto* left = new QVBoxLayout;
    left->addWidget(createGroup(FieldGroup::Model, leftOut));
    left->addWidget(createGroup(FieldGroup::Precision, leftOut));
    left->addStretch(1);
    auto* right = new QVBoxLayout;
    right->addWidget(createGroup(FieldGroup::Training, leftOut));
    right->addWidget(createGroup(FieldGroup::Machine, leftOut));
    right->addStretch(1);
    auto* columns = new QHBoxLayout;
    columns->setSpacing(24);
    columns->addLayout(left, 1);
    columns->addLayout(right, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 8, 0);
    layout->addWidget(createData());
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

QWidget* ConfigForm::createGroup(FieldGroup group, const QStringList& leftOut) {
    auto* widget = new QWidget;
    auto* form = new QFormLayout(widget);
    form->setContentsMargins(0, 8, 0, 0);
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
    return widget;
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
            break;
    }
    auto* line = new QLineEdit;
    connect(line, &QLineEdit::textChanged, this, &ConfigForm::edited);
    return line;
}

QWidget* ConfigForm::createData() {
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
    auto* widget = new QWidget;
    auto* form = new QFormLayout(widget);
    form->setContentsMargins(0, 0, 0, 0);
    addRow(form, tr("Data"), row, m_dataProblem);
    connect(m_dataKind, &QComboBox::currentIndexChanged, this, &ConfigForm::edited);
    connect(m_dataPath, &QLineEdit::textChanged, this, &ConfigForm::edited);
    connect(m_dataBrowse, &QPushButton::clicked, this, &ConfigForm::chooseFile);
    return widget;
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
        if (!editorValue(*input.field, input.editor).isValid()) {
            issues.push_back({input.field->option.toStdString(), "not a number", "write it like 0.001 or 1e-3"});
        }
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
