// Watches the numbers of a step: saturated tensors and non-finite losses or gradients. See Guard in config.h.
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
    int skippedInARow = 0;
};

class NumericsGuard {
public:
    /// A run that skipped this many steps in a row trains no more and is ended.
    static constexpr int kHopelessSteps = 50;

    using Report = std::function<void(Severity, const std::string& code, const std::string& text)>;

    NumericsGuard(Guard guard, const Network& network, Report report);

    /// After the backward pass of `step`: reports, in one event, the tensors that began to saturate by more than a
    /// delayed scale's usual lag, and returns the layers that the guard moves to BF16.
    std::vector<std::string> checkSaturation(std::int64_t step);

    /// False: the step is not to be applied. Reports the reason; fills `layers` with those to move to BF16.
    bool checkFinite(double loss, double gradNorm, std::vector<std::string>& layers);

    const GuardState& state() const { return m_state; }
    void restore(GuardState state) { m_state = std::move(state); }

private:
    static bool matters(const CastRecord& record, float max);
    void reportSaturation(const TensorInfo& worst, float headroom, int tensors);

    /// A saturated tensor is reported again only after this many steps without saturation.
    static constexpr std::int64_t kQuietSteps = 20;
    /// Saturated in this many steps in a row: the fallback guard acts.
    static constexpr int kStubbornSteps = 3;

    Guard m_guard;
    const Network& m_network;
    Report m_report;
    GuardState m_state;
};

}  // namespace engine
