// The trainer behind trainer.h: one step after another, and what is reported about each.
#pragma once

#include "engine/trainer.h"
#include "src/dataset.h"
#include "src/guard.h"
#include "src/network.h"

#include <memory>
#include <string>
#include <vector>

namespace engine {

/// Precision after the device had its say, and why.
struct ResolvedPrecision {
    Precision precision;
    bool emulated;
    std::string reason;
};
ResolvedPrecision resolvePrecision(Precision asked, cpu::Isa isa);

/// Everything of a checkpoint but the model's arrays.
struct TrainingState {
    std::int64_t step = 0;     // next step
    std::int64_t updates = 0;  // applied so far: AdamW's t
    std::vector<std::string> pinned;
};

class TrainerImpl : public Trainer {
public:
    /// `pinned`: layers that the fallback guard moved to BF16 before the run was saved.
    TrainerImpl(const RunConfig& config, StepObserver* observer, bool needsData,
                const std::vector<std::string>& pinned = {});

    const RunConfig& config() const override { return m_config; }
    const TrainerInfo& info() const override { return m_info; }
    StepStats step() override;
    std::int64_t nextStep() const override { return m_state.step; }
    double validationLoss(const Stop& stop) override;
    std::vector<int> generate(const std::vector<int>& prompt, int tokens) override;
    StrideCheck checkStride(int prompts, const Stop& stop) override;
    void save(const std::string& path) override;

    // For checkpoint.cpp.
    Network& network() { return *m_network; }
    float* moments1() { return m_moments1; }
    float* moments2() { return m_moments2; }
    const TrainingState& state() const { return m_state; }
    NumericsGuard& guard() { return *m_guard; }
    void restoreState(const TrainingState& state);
    void report(Severity severity, const std::string& code, const std::string& text);

private:
    void announce(const ResolvedPrecision& resolved);
    double learningRate(std::int64_t step) const;
    double gradientNorm();
    void applyUpdate(double lr, double gradNorm);
    void pinLayers(const std::vector<std::string>& layers);
    std::vector<TensorSnapshot> takeSnapshots() const;

    RunConfig m_config;
    StepObserver* m_observer;
    std::unique_ptr<Dataset> m_dataset;
    std::unique_ptr<Network> m_network;
    std::unique_ptr<NumericsGuard> m_guard;
    Arena m_momentArena;
    float* m_moments1 = nullptr;
    float* m_moments2 = nullptr;
    TrainerInfo m_info;
    TrainingState m_state;
    bool m_stepping = false;  // step() was called
};

}  // namespace engine
