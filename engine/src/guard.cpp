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
    : m_guard(guard), m_network(network), m_report(std::move(report)) {
    m_state.lastSaturated.assign(network.tensors().size(), -1 - kQuietSteps);
    m_state.inARow.assign(network.tensors().size(), 0);
}

// A delayed scale is one step old, so an amax a little above the window's is normal: only the very largest elements
// lose less than a binade. Beyond a factor of two it matters. Amax alone decides, because counters are filled only at
// snapshot steps and what is trained must not depend on those.
bool NumericsGuard::matters(const CastRecord& record, float max) {
    return record.cast && record.stats.amax * record.scale > 2.0F * max;
}

std::vector<std::string> NumericsGuard::checkSaturation(std::int64_t step) {
    std::vector<std::string> stubborn;
    if (m_guard == Guard::Off) return stubborn;
    int fresh = 0;
    const TensorInfo* worst = nullptr;
    float worstHeadroom = 0;
    for (const TensorInfo& tensor : m_network.tensors()) {
        const auto slot = static_cast<std::size_t>(tensor.index);
        const CastRecord& record = m_network.records()[slot];
        const float max = fp8Limits(tensor.format == "E5M2" ? Fp8Format::E5M2 : Fp8Format::E4M3).max;
        if (!matters(record, max)) {
            m_state.inARow[slot] = 0;
            continue;
        }
        const float headroom = std::log2(max / (record.stats.amax * record.scale));
        if (step - m_state.lastSaturated[slot] > kQuietSteps) {
            ++fresh;
            if (worst == nullptr || headroom < worstHeadroom) {
                worst = &tensor;
                worstHeadroom = headroom;
            }
        }
        m_state.lastSaturated[slot] = step;
        if (++m_state.inARow[slot] >= kStubbornSteps && m_guard == Guard::Fallback) stubborn.push_back(tensor.layer);
    }
    if (worst != nullptr) reportSaturation(*worst, worstHeadroom, fresh);
    return stubborn;
}

void NumericsGuard::reportSaturation(const TensorInfo& worst, float headroom, int tensors) {
    const CastRecord& record = m_network.records()[static_cast<std::size_t>(worst.index)];
    std::string text = worst.layer + "." + worst.role + " saturated: amax " + number(record.stats.amax) + " × scale " +
                       number(record.scale) + " is " + number(-headroom) + " bits above the largest " + worst.format +
                       " value";
    if (record.stats.saturated > 0) {
        text += ", " +
                number(100.0 * static_cast<double>(record.stats.saturated) / static_cast<double>(record.stats.count)) +
                " % of its elements clipped";
    }
    if (tensors > 1) text += "; the worst of " + std::to_string(tensors) + " tensors";
    m_report(Severity::Warning, "saturation", text);
}

bool NumericsGuard::checkFinite(double loss, double gradNorm, std::vector<std::string>& layers) {
    if (m_guard == Guard::Off) return true;
    if (std::isfinite(loss) && std::isfinite(gradNorm)) {
        m_state.skippedInARow = 0;
        return true;
    }
    if (++m_state.skippedInARow > 1 && m_guard != Guard::Fallback) return false;  // reported when it began
    std::string culprit;
    for (const TensorInfo& tensor : m_network.tensors()) {
        const CastRecord& record = m_network.records()[static_cast<std::size_t>(tensor.index)];
        if (!record.cast || (std::isfinite(record.stats.amax) && record.stats.nonFinite == 0)) continue;
        if (culprit.empty()) culprit = tensor.layer + "." + tensor.role;
        if (m_guard == Guard::Fallback) layers.push_back(tensor.layer);
    }
    if (m_state.skippedInARow > 1) return false;
    m_report(Severity::Error, "non_finite",
             std::string(std::isfinite(loss) ? "gradient norm " : "loss ") +
                 number(std::isfinite(loss) ? gradNorm : loss) +
                 ": the step is skipped, as are those after it while this lasts" +
                 (culprit.empty() ? "" : "; the first tensor with such elements is " + culprit));
    return false;
}

}  // namespace engine
