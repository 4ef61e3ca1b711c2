// The text of the runs list's search field, "precision:fp8 loss<2 hybrid", as conditions on runs.
#pragma once

#include "profiling/queries.h"

#include <QString>

#include <vector>

namespace gui {

/// All conditions must hold. Words without a key look in name, precision, bench and data.
class RunFilter {
public:
    /// An unusable condition is left out and named in problem().
    static RunFilter parse(const QString& text);

    bool matches(const profiling::RunRow& run) const;
    const QString& problem() const { return m_problem; }

    /// Keys there are, for the tool tip: "name, precision, …".
    static QString help();

private:
    enum class Relation : std::uint8_t { Contains = 1, Less, LessOrEqual, Greater, GreaterOrEqual, Equal };
    struct Condition {
        QString key;  // "": any text of the run
        Relation relation = Relation::Contains;
        QString text;
        double number = 0;
    };
    static bool holds(const Condition& condition, const profiling::RunRow& run);

    std::vector<Condition> m_conditions;
    QString m_problem;
};

}  // namespace gui
