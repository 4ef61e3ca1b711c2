// Speed of a job so far: medians for its result and the estimate of the time left.
#pragma once

#include "engine/observer.h"

#include <cstdint>
#include <vector>

namespace jobs {

/// Median with linear interpolation; 0 for no values.
double median(std::vector<double> values);

/// Tokens per second of one step; 0 when its duration is 0.
double stepRate(const engine::StepStats& stats);

/// Collects the steps of one run.
class Pace {
public:
    void add(const engine::StepStats& stats);

    std::int64_t steps() const { return static_cast<std::int64_t>(m_seconds.size()); }
    double totalSeconds() const { return m_total; }
    /// Median over steps after the first two (they warm caches up); over all when there are no more than two.
    double tokensPerSecond() const;
    /// Median seconds of the newest steps; negative before the first.
    double recentSeconds() const;

private:
    std::vector<double> m_seconds;
    std::vector<double> m_rates;
    double m_total = 0;
};

}  // namespace jobs
