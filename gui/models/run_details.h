// What the "Selected run" panel lists: label and value pairs made from one run's row.
#pragma once

#include "models/config_text.h"
#include "profiling/queries.h"

#include <QString>

#include <vector>

namespace gui {

struct Detail {
    QString label;
    QString value;
    QString toolTip;  // the whole text where `value` is shortened
};

/// `baseline` may be null; differences are left out then.
std::vector<Detail> runDetails(const profiling::RunRow& run, const profiling::RunRow* baseline,
                               const FallbackText& fallbacks = {});

/// The same as text, one "label: value" a line: what Copy puts on the clipboard.
QString detailsText(const std::vector<Detail>& details);

}  // namespace gui
