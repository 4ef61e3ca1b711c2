// What a benchmark compares and how it measures: precisions and recipes to tick, items in the command line's spelling,
// or a suite of the built-in ones.
#pragma once

#include "jobs/job.h"

#include <QStringList>
#include <QWidget>

#include <optional>
#include <string>
#include <vector>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QSpinBox;
class QStackedWidget;

namespace gui {

class VariantsPage : public QWidget {
    Q_OBJECT
public:
    explicit VariantsPage(QWidget* parent = nullptr);

    /// Name of the suite; "" for a choice of one's own.
    QString suite() const;
    /// Ticked and written items, in that order; empty for a suite.
    QStringList items() const;
    /// What comes of the form's configuration. Throws engine::Error (Usage).
    std::vector<jobs::BenchVariant> variants(const engine::RunConfig& base) const;
    /// The same configurations for the form, which needs some also where the choice is at fault.
    std::vector<engine::RunConfig> configs(const engine::RunConfig& base) const;
    /// What keeps the choice from being run on this base; "" when nothing does. Shows what a suite scales down.
    QString showFor(const engine::RunConfig& base);

    /// Fills the numbers in.
    void measure(jobs::BenchJob& job) const;

    void restore(const QString& settingsGroup);
    void save(const QString& settingsGroup) const;

signals:
    void changed();
    void suiteChosen(const QString& suite);

private:
    QWidget* createChoices();
    QWidget* createSuitePage();
    QWidget* createMeasure();
    void showSuite(const std::vector<jobs::BenchVariant>& variants);

    QComboBox* m_suite;
    QStackedWidget* m_stack;
    std::vector<QCheckBox*> m_boxes;
    QLineEdit* m_more;
    QLabel* m_suiteSummary;
    QGridLayout* m_suiteRows;
    QCheckBox* m_fullSize;
    QSpinBox* m_warmup;
    QSpinBox* m_repeats;
    QSpinBox* m_steps;

    /// A suite is asked for at every key: the newest answer is kept.
    struct Made {
        std::string suite;
        engine::RunConfig base;
        bool fullSize;
        std::vector<jobs::BenchVariant> variants;
    };
    mutable std::optional<Made> m_made;
};

}  // namespace gui
