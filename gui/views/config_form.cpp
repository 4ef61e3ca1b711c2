// Pages of inputs for every field; nothing here knows a rule about values, engine::validate() does, and
// jobs::withoutEffect() knows which of them matter.
#include "views/config_form.h"

#include "jobs/option_effect.h"
#include "views/theme.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QTabWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <map>

namespace gui {

namespace {

/// As large as its content while there is room; scrolls up and down only.
class PageArea : public QScrollArea {
public:
    explicit PageArea(QWidget* content) {
        setWidgetResizable(true);
        setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        setFrameShape(QFrame::NoFrame);
        content->setAutoFillBackground(false);
        setWidget(content);
    }
    QSize sizeHint() const override { return widget()->sizeHint() + QSize(kScrollBar, 0); }
    QSize minimumSizeHint() const override { return {widget()->minimumSizeHint().width() + kScrollBar, 80}; }

private:
    static constexpr int kScrollBar = 12;
};

QLabel* createLabel(const QString& name, const char* role) {
    auto* label = new QLabel;
    label->setObjectName(name);
    label->setProperty("role", role);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->hide();
    return label;
}

void showText(QLabel* label, const QString& text) {
    label->setText(text);
    label->setVisible(!text.isEmpty());
}

QWidget* createCell(std::initializer_list<QWidget*> parts) {
    auto* cell = new QWidget;
    auto* layout = new QVBoxLayout(cell);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    for (QWidget* part : parts) {
        if (part != nullptr) layout->addWidget(part);
    }
    return cell;
}

/// The mark of a page with a problem.
QIcon troubleIcon() {
    constexpr int kSide = 64;  // scaled down: sharp on any screen
    QPixmap pixmap(kSide, kSide);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(currentColors().trouble);
    painter.drawEllipse(QRectF(kSide / 4.0, kSide / 4.0, kSide / 2.0, kSide / 2.0));
    return QIcon(pixmap);
}

/// Why the option changes nothing in any of these configurations; "" when it matters in one.
QString idleReason(const std::vector<engine::RunConfig>& uses, const QString& option) {
    QString reason;
    for (const engine::RunConfig& config : uses) {
        reason = QString::fromStdString(jobs::withoutEffect(config, option.toStdString()));
        if (reason.isEmpty()) break;
    }
    return reason;
}

/// The same for what only another recipe would change. Under precisions that have no recipe the one that is set counts.
QString recipeReason(std::vector<engine::RunConfig> uses, const QString& option) {
    const auto hasNone = [](const engine::RunConfig& config) {
        return config.train.precision == engine::Precision::Fp32 || config.train.precision == engine::Precision::Bf16;
    };
    if (!std::all_of(uses.begin(), uses.end(), hasNone)) {
        uses.erase(std::remove_if(uses.begin(), uses.end(), hasNone), uses.end());
    }
    for (engine::RunConfig& config : uses) config.train.precision = engine::Precision::Fp8;
    return idleReason(uses, option);
}

}  // namespace

ConfigForm::ConfigForm(const QStringList& leftOut, QWidget* parent)
    : QWidget(parent),
      m_uses([](const engine::RunConfig& config) { return std::vector<engine::RunConfig>{config}; }),
      m_pages(new QTabWidget) {
    m_pages->setObjectName("formPages");
    m_pages->setDocumentMode(true);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(createData());
    layout->addWidget(m_pages, 1);
    createPages(leftOut);
}

void ConfigForm::createPages(const QStringList& leftOut) {
    for (const FormPage page :
         {FormPage::Main, FormPage::Model, FormPage::Layers, FormPage::Training, FormPage::Observation}) {
        m_pages->addTab(createPage(page, leftOut), title(page));
    }
}

QWidget* ConfigForm::createPage(FormPage page, const QStringList& leftOut) {
    auto* content = new QWidget;
    auto* columns = new QHBoxLayout(content);
    columns->setContentsMargins(0, 0, 4, 0);
    columns->setSpacing(24);
    auto* area = new PageArea(content);
    for (const int number : {0, 1}) {
        auto* column = new QGridLayout;
        column->setVerticalSpacing(4);
        column->setColumnStretch(1, 1);
        for (const FormSection& section : formSections()) {
            if (section.page == page && section.column == number) addSection(section, leftOut, column, area);
        }
        column->setRowStretch(column->rowCount(), 1);
        columns->addLayout(column, 1);
    }
    return area;
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

/// Nothing when all of its fields are left out.
void ConfigForm::addSection(const FormSection& section, const QStringList& leftOut, QGridLayout* column,
                            QWidget* page) {
    QLabel* heading = nullptr;
    for (const FormField& field : formFields()) {
        if (field.group != section.group || leftOut.contains(field.option)) continue;
        if (heading == nullptr) {
            heading = new QLabel(section.title);
            heading->setProperty("role", "title");
            heading->setContentsMargins(0, column->count() == 0 ? 8 : 16, 0, 0);
            column->addWidget(heading, column->rowCount(), 0, 1, 2);
        }
        addField(field, column, page);
    }
}

void ConfigForm::addField(const FormField& field, QGridLayout* column, QWidget* page) {
    Input input{&field, FieldEditor::create(field, [this] { edited(); }), nullptr, nullptr, nullptr, nullptr, page};
    input.problem = createLabel("problem_" + field.option, "problem");
    if (field.explained) input.note = createLabel("note_" + field.option, "caption");
    input.cell = createCell({input.editor->widget(), input.note, input.problem});
    const int row = column->rowCount();
    if (input.editor->hasOwnLabel()) {
        column->addWidget(input.cell, row, 0, 1, 2);
    } else {
        input.label = new QLabel(field.label);
        input.label->setBuddy(input.editor->input());
        input.label->setMinimumHeight(input.editor->input()->sizeHint().height());  // beside the input, not its notes
        column->addWidget(input.label, row, 0, Qt::AlignTop);
        column->addWidget(input.cell, row, 1);
    }
    m_inputs.push_back(std::move(input));
}

void ConfigForm::showRow(const Input& input, bool visible) {
    input.cell->setVisible(visible);
    if (input.label != nullptr) input.label->setVisible(visible);
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
    m_dataProblem = createLabel("problem_data", "problem");
    auto* row = new QWidget;
    auto* rowLayout = new QHBoxLayout(row);
    rowLayout->setContentsMargins(0, 0, 0, 0);
    rowLayout->addWidget(m_dataKind);
    rowLayout->addWidget(m_dataPath, 1);
    rowLayout->addWidget(m_dataBrowse);
    m_dataForm = new QFormLayout;
    m_dataForm->setContentsMargins(0, 0, 0, 0);
    auto* label = new QLabel(tr("Data"));
    label->setBuddy(m_dataKind);
    m_dataForm->addRow(label, createCell({row, m_dataProblem}));
    connect(m_dataKind, &QComboBox::currentIndexChanged, this, &ConfigForm::edited);
    connect(m_dataPath, &QLineEdit::textChanged, this, &ConfigForm::edited);
    connect(m_dataBrowse, &QPushButton::clicked, this, &ConfigForm::chooseFile);
    return m_dataForm;
}

void ConfigForm::chooseFile() {
    const QString path = QFileDialog::getOpenFileName(this, tr("Data file"), m_dataPath->text());
    if (!path.isEmpty()) m_dataPath->setText(path);
}

void ConfigForm::addFirstPage(QWidget* content, const QString& title) {
    m_pages->insertTab(0, new PageArea(content), title);
    m_pages->setCurrentIndex(0);
}

QString ConfigForm::pageTitle(const QString& option) const {
    for (const Input& input : m_inputs) {
        if (input.field->option == option) return title(pageOf(input.field->group));
    }
    return {};
}

void ConfigForm::showField(const QString& option) {
    if (option == "data") m_dataPath->setFocus();
    for (const Input& input : m_inputs) {
        if (input.field->option != option) continue;
        m_pages->setCurrentWidget(input.page);
        input.editor->input()->setFocus();
        static_cast<QScrollArea*>(input.page)->ensureWidgetVisible(input.cell);
    }
}

void ConfigForm::setUses(Uses uses) {
    m_uses = std::move(uses);
    edited();
}

void ConfigForm::refresh() {
    edited();
}

void ConfigForm::setConfig(const engine::RunConfig& config) {
    m_filling = true;
    m_config = config;
    for (const Input& input : m_inputs) input.editor->setValue(input.field->get(config));
    const DataChoice choice = parseData(config.train.data);
    m_dataKind->setCurrentIndex(m_dataKind->findData(choice.kind));
    m_dataPath->setText(choice.path);
    m_filling = false;
    edited();
}

engine::RunConfig ConfigForm::config() const {
    engine::RunConfig config = m_config;
    for (const Input& input : m_inputs) {
        const QVariant value = input.editor->value();
        if (value.isValid()) input.field->set(config, value);
    }
    config.train.data = joinData({m_dataKind->currentData().toString(), m_dataPath->text()});
    return config;
}

void ConfigForm::edited() {
    if (m_filling) return;
    showWhatApplies();
    emit changed();
}

void ConfigForm::showWhatApplies() {
    const bool needsFile = m_dataKind->currentData() != "stride";
    m_dataPath->setEnabled(needsFile);
    m_dataBrowse->setEnabled(needsFile);
    const engine::RunConfig held = config();
    const std::vector<engine::RunConfig> uses = m_uses(held);
    for (const Input& input : m_inputs) {
        const FormField& field = *input.field;
        const QString reason = idleReason(uses, field.option);
        input.editor->setIdle(reason);
        if (input.label != nullptr) {
            input.label->setEnabled(reason.isEmpty());
            input.label->setToolTip(input.editor->widget()->toolTip());
        }
        if (field.ownToRecipe) showRow(input, recipeReason(uses, field.option).isEmpty());
        if (field.automatic) input.editor->showAutomatic(field.automatic(held));
        if (input.note == nullptr) continue;
        const QVariant taken = input.editor->value();
        for (const FieldChoice& choice : field.choices) {
            if (choice.word == taken) showText(input.note, choice.help);
        }
    }
}

std::vector<engine::ConfigIssue> ConfigForm::collectIssues() const {
    std::vector<engine::ConfigIssue> issues;
    for (const engine::RunConfig& use : m_uses(config())) {
        for (engine::ConfigIssue& issue : formIssues(use)) {
            const bool known = std::any_of(issues.begin(), issues.end(), [&](const engine::ConfigIssue& other) {
                return other.field == issue.field && other.why == issue.why;
            });
            if (!known) issues.push_back(std::move(issue));
        }
    }
    for (const Input& input : m_inputs) {
        if (input.editor->value().isValid()) continue;
        const char* fix = input.field->kind == FieldKind::Unsigned64
                              ? "use a whole number from 0 to 18446744073709551615"
                              : "write it like 0.001 or 1e-3";
        issues.push_back({input.field->option.toStdString(), "not a number", fix});
    }
    return issues;
}

std::vector<engine::ConfigIssue> ConfigForm::check() {
    std::vector<engine::ConfigIssue> issues = collectIssues();
    const auto textFor = [&issues](const QString& option) {
        QStringList lines;
        for (const engine::ConfigIssue& issue : issues) {
            if (QString::fromStdString(issue.field) != option) continue;
            lines << QString::fromStdString(issue.why + ": " + issue.fix);
        }
        return lines.join('\n');
    };
    for (const Input& input : m_inputs) {
        showText(input.problem, textFor(input.field->option));
        if (!input.problem->text().isEmpty()) showRow(input, true);
    }
    showText(m_dataProblem, textFor("data"));
    markPages(issues);
    return issues;
}

void ConfigForm::markPages(const std::vector<engine::ConfigIssue>& issues) {
    std::map<QWidget*, int> problems;
    for (const engine::ConfigIssue& issue : issues) {
        for (const Input& input : m_inputs) {
            if (input.field->option.toStdString() == issue.field) ++problems[input.page];
        }
    }
    for (int i = 0; i < m_pages->count(); ++i) {
        const int count = problems[m_pages->widget(i)];
        m_pages->setTabIcon(i, count > 0 ? troubleIcon() : QIcon());
        m_pages->setTabToolTip(i, count > 0 ? tr("Problems on this page: %1").arg(count) : QString());
    }
}

}  // namespace gui
