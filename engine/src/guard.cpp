// Reactions to saturation and to non-finite numbers.
#include "src/guard.h"

#include <algorithm>
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

std::string nameOf(const TensorInfo& tensor) {
    return tensor.layer + "." + tensor.role;
}

}  // namespace

NumericsGuard::NumericsGuard(const TrainConfig& train, const Network& network, Report report)
    : m_train(train), m_network(network), m_report(std::move(report)) {
    const std::size_t slots = network.slots().size();
    m_state.lastSaturated.assign(slots, -1 - kQuietSteps);
    m_state.inARow.assign(slots, 0);
    m_state.bf16Until.assign(slots, 0);
}

const TensorInfo& NumericsGuard::tensorOf(int slot) const {
    const Operand& operand = *m_network.slots()[static_cast<std::size_t>(slot)];
    return m_network.tensors()[static_cast<std::size_t>(operand.tensor)];
}

const TensorRecord& NumericsGuard::recordOf(int slot) const {
    const Operand& operand = *m_network.slots()[static_cast<std::size_t>(slot)];
    return m_network.records()[static_cast<std::size_t>(operand.tensor)];
}

// A delayed scale is one step old, so an amax a little above the window's is normal: only the very largest elements
// lose less than a binade. Amax alone decides, because counters are filled only at snapshot steps and what is trained
// must not depend on those.
bool NumericsGuard::saturates(int slot) const {
    const Operand& operand = *m_network.slots()[static_cast<std::size_t>(slot)];
    const TensorRecord& record = recordOf(slot);
    if (!record.seen || !operand.quantised()) return false;
    const float limit = std::exp2(static_cast<float>(m_train.guardLimit)) * largestValue(operand.type);
    return record.stats.amax * record.scale > limit;
}

Verdict NumericsGuard::judge(std::int64_t step, double loss, double gradNorm) {
    Verdict verdict;
    if (m_train.guard == Guard::Off) return verdict;
    checkSaturation(step, verdict);
    checkFinite(loss, gradNorm, verdict);
    m_state.skippedInARow = verdict.skip ? m_state.skippedInARow + 1 : 0;
    if (m_state.skippedInARow >= kHopelessSteps && !verdict.stop) {
        verdict.stop = true;
        verdict.reason = "the last " + std::to_string(kHopelessSteps) +
                         " steps were skipped because of saturation or numbers that are not finite";
    }
    return verdict;
}

void NumericsGuard::checkSaturation(std::int64_t step, Verdict& verdict) {
    int fresh = 0;
    int worst = -1;
    float worstExcess = 0;
    for (int slot = 0; slot < static_cast<int>(m_network.slots().size()); ++slot) {
        const auto index = static_cast<std::size_t>(slot);
        if (!saturates(slot)) {
            m_state.inARow[index] = 0;
            continue;
        }
        const float excess =
            recordOf(slot).stats.amax * recordOf(slot).scale / largestValue(m_network.slots()[index]->type);
        if (step - m_state.lastSaturated[index] > kQuietSteps) {
            ++fresh;
            if (worst < 0 || excess > worstExcess) {
                worst = slot;
                worstExcess = excess;
            }
        }
        m_state.lastSaturated[index] = step;
        const bool stubborn = ++m_state.inARow[index] >= kStubbornSteps;
        if (m_train.guard == Guard::Skip) verdict.skip = true;
        if (!stubborn) continue;
        if (m_train.guard == Guard::Fallback) {
            verdict.toFallBack.push_back(slot);
            verdict.skip = true;
        } else if (m_train.guard == Guard::Stop) {
            verdict.stop = verdict.skip = true;
            verdict.reason =
                nameOf(tensorOf(slot)) + " saturated in " + std::to_string(kStubbornSteps) + " steps in a row";
        }
    }
    if (worst >= 0) reportSaturation(worst, fresh);
}

void NumericsGuard::reportSaturation(int slot, int tensors) {
    const TensorInfo& tensor = tensorOf(slot);
    const TensorRecord& record = recordOf(slot);
    const float max = largestValue(m_network.slots()[static_cast<std::size_t>(slot)]->type);
    const float excess = std::log2(record.stats.amax * record.scale / max);
    std::string text = nameOf(tensor) + " saturated: amax " + number(record.stats.amax) + " × scale " +
                       number(record.scale) + " is " + number(excess) + " bits above the largest " + tensor.format +
                       " value";
    if (record.stats.saturated > 0) {
        text += ", " +
                number(100.0 * static_cast<double>(record.stats.saturated) / static_cast<double>(record.stats.count)) +
                " % of its elements clipped";
    }
    if (tensors > 1) text += "; the worst of " + std::to_string(tensors) + " tensors";
    m_report(Severity::Warning, "saturation", text);
}

void NumericsGuard::checkFinite(double loss, double gradNorm, Verdict& verdict) {
    if (std::isfinite(loss) && std::isfinite(gradNorm)) return;
    verdict.skip = true;
    if (m_train.guard == Guard::Stop) {
        verdict.stop = true;
        verdict.reason = "the loss or a gradient is not finite";
    }
    const bool first = m_state.skippedInARow == 0;
    if (!first && m_train.guard != Guard::Fallback) return;  // reported when it began
    std::string culprit;
    for (int slot = 0; slot < static_cast<int>(m_network.slots().size()); ++slot) {
        const TensorRecord& record = recordOf(slot);
        if (!record.seen || !m_network.slots()[static_cast<std::size_t>(slot)]->quantised()) continue;
        if (std::isfinite(record.stats.amax) && record.stats.nonFinite == 0) continue;
        if (culprit.empty()) culprit = nameOf(tensorOf(slot));
        const bool listed =
            std::find(verdict.toFallBack.begin(), verdict.toFallBack.end(), slot) != verdict.toFallBack.end();
        if (m_train.guard == Guard::Fallback && !listed) verdict.toFallBack.push_back(slot);
    }
    if (!first) return;
    m_report(Severity::Error, "non_finite",
             std::string(std::isfinite(loss) ? "gradient norm " : "loss ") +
                 number(std::isfinite(loss) ? gradNorm : loss) +
                 ": the step is skipped, as are those after it while this lasts" +
                 (culprit.empty() ? "" : "; the first tensor with such elements is " + culprit));
}

void NumericsGuard::fellBack(int slot, std::int64_t step) {
    const auto index = static_cast<std::size_t>(slot);
    m_state.bf16Until[index] = m_train.guardSteps > 0 ? step + 1 + m_train.guardSteps : kForever;
    m_state.inARow[index] = 0;
}

std::vector<int> NumericsGuard::recovered(std::int64_t step) {
    std::vector<int> slots;
    for (std::size_t slot = 0; slot < m_state.bf16Until.size(); ++slot) {
        if (m_state.bf16Until[slot] == 0 || m_state.bf16Until[slot] > step) continue;
        m_state.bf16Until[slot] = 0;
        slots.push_back(static_cast<int>(slot));
    }
    return slots;
}

}  // namespace engine
