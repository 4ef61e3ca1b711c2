// Watches the numbers of a step: saturated tensors and non-finite amax values, losses or gradients. See Guard in
// config.h. Decides; the trainer acts.
#pragma once

#include "engine/config.h"
#include "src/network.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// What a guard remembers from step to step; part of a checkpoint.
struct GuardState {
    std::vector<std::int64_t> lastSaturated;  // per slot: the step; −1 − kQuietSteps: never
    std::vector<int> inARow;                  // per slot: saturated steps up to now
    std::vector<std::int64_t> bf16Until;      // per slot: first step back in the recipe's type; 0: it is; kForever
    int skippedInARow = 0;
};

/// What is to happen to a step and after it.
struct Verdict {
    bool skip = false;            // the update is not applied
    bool stop = false;            // the run ends
    std::string reason;           // of stop
    std::vector<int> toFallBack;  // slots that go to BF16 from the next step on
};

class NumericsGuard {
public:
    /// A run that skipped this many steps in a row trains no more and is ended.
    static constexpr int kHopelessSteps = 50;
    static constexpr std::int64_t kForever = std::int64_t{1} << 62;

    using Report = std::function<void(Severity, const std::string& code, const std::string& text)>;

    NumericsGuard(const TrainConfig& train, const Network& network, Report report);

    /// After the backward pass of `step`. Reports, in one event each, the tensors that began to saturate by more than
    /// the limit, and what is not finite.
    Verdict judge(std::int64_t step, double loss, double gradNorm);

    /// Notes that a slot fell back after `step`; tells those whose time is over at `step`.
    void fellBack(int slot, std::int64_t step);
    std::vector<int> recovered(std::int64_t step);

    const GuardState& state() const { return m_state; }
    void restore(GuardState state) { m_state = std::move(state); }

private:
    const TensorInfo& tensorOf(int slot) const;
    const TensorRecord& recordOf(int slot) const;
    bool saturates(int slot) const;
    void checkSaturation(std::int64_t step, Verdict& verdict);
    void checkFinite(double loss, double gradNorm, Verdict& verdict);
    void reportSaturation(int slot, int tensors);

    /// A saturated tensor is reported again only after this many steps without saturation.
    static constexpr std::int64_t kQuietSteps = 20;
    /// Saturated in this many steps in a row: fallback and stop act. A delayed scale needs one step to follow.
    static constexpr int kStubbornSteps = 3;

    TrainConfig m_train;
    const Network& m_network;
    Report m_report;
    GuardState m_state;
};

}  // namespace engine
