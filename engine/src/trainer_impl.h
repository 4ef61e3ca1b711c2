// The trainer behind trainer.h: one step after another, and what is reported about each.
#pragma once

#include "engine/trainer.h"
#include "src/dataset.h"
#include "src/guard.h"
#include "src/network.h"

#include <memory>
#include <span>
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
};

class TrainerImpl : public Trainer {
public:
    enum class Purpose : std::uint8_t { Train, Generate };
    /// `fresh`: the initial weights will be used (false: a checkpoint overwrites them).
    /// `fallbackRoom`: tensors may be in BF16 although the guard does not move any.
    TrainerImpl(const RunConfig& config, StepObserver* observer, Purpose purpose, bool fresh,
                bool fallbackRoom = false);

    const RunConfig& config() const override { return m_config; }
    const TrainerInfo& info() const override { return m_info; }
    StepStats step() override;
    std::int64_t nextStep() const override { return m_state.step; }
    double validationLoss(const Stop& stop) override;
    std::vector<int> generate(const std::vector<int>& prompt, int tokens) override;
    StrideCheck checkStride(int prompts, const Stop& stop) override;
    void resizeAmaxHistory(int length) override;
    void save(const std::string& path) override;

    // For checkpoint.cpp.
    Network& network() { return *m_network; }
    float* moments1() { return m_moments1; }
    float* moments2() { return m_moments2; }
    /// FP32 values of stored weights, laid out one after the other in table order; empty unless they are kept.
    std::span<float> masters() { return {m_masters, static_cast<std::size_t>(m_masterFloats)}; }
    const TrainingState& state() const { return m_state; }
    NumericsGuard& guard() { return *m_guard; }
    void restoreState(const TrainingState& state);
    void report(Severity severity, const std::string& code, const std::string& text);

private:
    void announce(const ResolvedPrecision& resolved);
    double learningRate(std::int64_t step) const;
    void loadInitialWeights();
    void startMasters();
    Pass passOf(int microBatch) const;
    double runMicroBatches(const Watch& watch);
    double gradientNorm();
    cpu::AdamWArgs updateArguments(double lr, double gradNorm);
    void applyUpdate(double lr, double gradNorm);
    void updateStoredWeight(const ParameterSpec& spec, GemmLayer& layer, float* master, const cpu::AdamWArgs& args);
    void recoverTensors();
    void fallBack(const std::vector<int>& slots);
    std::vector<TensorSnapshot> takeSnapshots() const;

    RunConfig m_config;
    StepObserver* m_observer;
    std::unique_ptr<Dataset> m_dataset;
    std::unique_ptr<Network> m_network;
    std::unique_ptr<NumericsGuard> m_guard;
    Arena m_momentArena;
    float* m_moments1 = nullptr;
    float* m_moments2 = nullptr;
    float* m_masters = nullptr;
    std::int64_t m_masterFloats = 0;
    TrainerInfo m_info;
    TrainingState m_state;
    bool m_stepping = false;  // step() was called
};

}  // namespace engine
