// Speed of a job so far; see pace.h.
#include "jobs/pace.h"

#include <algorithm>
#include <cstddef>

namespace jobs {
namespace {

constexpr std::size_t kWarmSteps = 2;
constexpr std::size_t kRecentSteps = 32;

}  // namespace

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double stepRate(const engine::StepStats& stats) {
    if (stats.durationNs <= 0) return 0;
    return static_cast<double>(stats.tokens) * 1e9 / static_cast<double>(stats.durationNs);
}

void Pace::add(const engine::StepStats& stats) {
    m_seconds.push_back(static_cast<double>(stats.durationNs) * 1e-9);
    m_rates.push_back(stepRate(stats));
    m_total += m_seconds.back();
}

double Pace::tokensPerSecond() const {
    const std::size_t skip = m_rates.size() > kWarmSteps ? kWarmSteps : 0;
    return median({m_rates.begin() + static_cast<std::ptrdiff_t>(skip), m_rates.end()});
}

double Pace::recentSeconds() const {
    if (m_seconds.empty()) return -1;
    const std::size_t count = std::min(m_seconds.size(), kRecentSteps);
    return median({m_seconds.end() - static_cast<std::ptrdiff_t>(count), m_seconds.end()});
}

}  // namespace jobs
