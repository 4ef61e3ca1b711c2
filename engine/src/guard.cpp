// Reactions to saturation and to non-finite numbers.
#include "src/guard.h"

#include <cmath>
#include <cstdio>
#include <utility>

namespace engine {

namespace {

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

}  // namespace

NumericsGuard::NumericsGuard(Guard guard, const Network& network, Report report)
    : m_guard(guard),
      m_network(network),
      m_report(std::move(report)),
      m_lastSaturated(network.tensors().size(), -1 - kQuietSteps),
      m_inARow(network.tensors().size(), 0) {}

std::vector<std::string> NumericsGuard::checkSaturation(std::int64_t step) {
    std::vector<std::string> stubborn;
    if (m_guard == Guard::Off) return stubborn;
    for (const TensorInfo& tensor : m_network.tensors()) {
        const auto slot = static_cast<std::size_t>(tensor.index);
        const CastRecord& record = m_network.records()[slot];
        const float max = fp8Limits(tensor.format == "E5M2" ? Fp8Format::E5M2 : Fp8Format::E4M3).max;
        const float scaled = record.stats.amax * record.scale;
        if (!record.cast || !(scaled > max)) {
            m_inARow[slot] = 0;
            continue;
        }
        if (step - m_lastSaturated[slot] > kQuietSteps) {
            m_report(Severity::Warning, "saturation",
                     tensor.layer + "." + tensor.role + " saturated: amax " + number(record.stats.amax) + " × scale " +
                         number(record.scale) + " is above " + number(max) + ", headroom " +
                         number(std::log2(max / scaled)) + " bits");
        }
        m_lastSaturated[slot] = step;
        if (++m_inARow[slot] >= kStubbornSteps && m_guard == Guard::Fallback) stubborn.push_back(tensor.layer);
    }
    return stubborn;
}

bool NumericsGuard::checkFinite(double loss, double gradNorm, std::vector<std::string>& layers) {
    if (m_guard == Guard::Off || (std::isfinite(loss) && std::isfinite(gradNorm))) return true;
    std::string culprit;
    for (const TensorInfo& tensor : m_network.tensors()) {
        const CastRecord& record = m_network.records()[static_cast<std::size_t>(tensor.index)];
        if (!record.cast || std::isfinite(record.stats.amax)) continue;
        if (culprit.empty()) culprit = tensor.layer + "." + tensor.role;
        if (m_guard == Guard::Fallback) layers.push_back(tensor.layer);
    }
    m_report(Severity::Error, "non_finite",
             std::string(std::isfinite(loss) ? "gradient norm " : "loss ") +
                 number(std::isfinite(loss) ? gradNorm : loss) + ": the step is skipped" +
                 (culprit.empty() ? "" : "; the first infinite tensor is " + culprit));
    return false;
}

}  // namespace engine
