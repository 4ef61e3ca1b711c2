// Errors of the run database, and the names of its enumerations.
#include "profiling/error.h"

#include "profiling/queries.h"

#include <utility>

namespace profiling {

Error::Error(ErrorKind kind, std::string subject, std::string why, std::string fix)
    : std::runtime_error(subject + ": " + why + (fix.empty() ? std::string() : ": " + fix)),
      m_kind(kind),
      m_subject(std::move(subject)),
      m_why(std::move(why)),
      m_fix(std::move(fix)) {}

const char* name(RunStatus status) {
    switch (status) {
        case RunStatus::Running:
            return "running";
        case RunStatus::Finished:
            return "finished";
        case RunStatus::Interrupted:
            return "interrupted";
        case RunStatus::Failed:
            return "failed";
        case RunStatus::Crashed:
            return "crashed";
    }
    return "running";
}

const char* name(HeatMetric metric) {
    switch (metric) {
        case HeatMetric::Headroom:
            return "headroom";
        case HeatMetric::Saturated:
            return "saturated";
        case HeatMetric::Underflowed:
            return "underflowed";
        case HeatMetric::Sqnr:
            return "sqnr";
    }
    return "headroom";
}

}  // namespace profiling
