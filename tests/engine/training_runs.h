// Small runs that the tests of the trainer share, and an observer that keeps what it is told.
#pragma once

#include "engine/trainer.h"
#include "temporary_folder.h"

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

inline engine::RunConfig tinyConfig(engine::Precision precision, int steps = 6) {
    engine::RunConfig config;
    config.model.layers = 2;
    config.model.dModel = 32;
    config.model.heads = 2;
    config.model.seqLen = 16;
    config.train.batch = 4;
    config.train.steps = steps;
    config.train.precision = precision;
    config.train.threads = 2;
    return config;
}

/// The smallest sizes that every recipe can take: multiples of 128.
inline engine::RunConfig recipeConfig(engine::RecipeKind kind, int steps = 4) {
    engine::RunConfig config = tinyConfig(engine::Precision::Fp8, steps);
    config.model.dModel = 128;
    config.model.heads = 4;
    config.model.ffn = 256;
    config.model.seqLen = 32;
    config.recipe.kind = kind;
    return config;
}

inline constexpr engine::RecipeKind kAllRecipes[] = {engine::RecipeKind::Delayed, engine::RecipeKind::Current,
                                                     engine::RecipeKind::Block, engine::RecipeKind::MxFp8,
                                                     engine::RecipeKind::NvFp4};

/// LLaMA's choices: RMSNorm, rotary positions, SwiGLU, grouped-query attention, no bias, tied head.
inline void useLlamaModules(engine::ModelConfig& model) {
    model.norm = engine::Norm::RmsNorm;
    model.positions = engine::Positions::Rotary;
    model.activation = engine::Activation::SwiGlu;
    model.kvHeads = model.heads / 2;
    model.bias = false;
    model.tiedHead = true;
}

/// Keeps what a trainer reports.
class Recorder : public engine::StepObserver {
public:
    void onTensors(std::span<const engine::TensorInfo> list) override { tensors.assign(list.begin(), list.end()); }
    void onStepBegin(std::int64_t) override {}
    void onStepEnd(const engine::StepStats& stats, std::span<const engine::TensorSnapshot> list) override {
        steps.push_back(stats);
        snapshots.insert(snapshots.end(), list.begin(), list.end());
        stepOf.insert(stepOf.end(), list.size(), stats.step);
    }
    void onValidation(std::int64_t step, double loss) override { validations[step] = loss; }
    void onEvent(const engine::EngineEvent& event) override { events.push_back(event); }
    void onGeneration(const engine::GenerationSample& sample) override { generations.push_back(sample); }
    int count(const std::string& code) const {
        int n = 0;
        for (const auto& event : events) n += event.code == code ? 1 : 0;
        return n;
    }
    const engine::TensorInfo& tensorOf(const engine::TensorSnapshot& snapshot) const {
        return tensors[static_cast<std::size_t>(snapshot.tensor)];
    }

    std::vector<engine::TensorInfo> tensors;
    std::vector<engine::StepStats> steps;
    std::vector<engine::TensorSnapshot> snapshots;
    std::vector<std::int64_t> stepOf;  // of each snapshot
    std::map<std::int64_t, double> validations;
    std::vector<engine::EngineEvent> events;
    std::vector<engine::GenerationSample> generations;
};

inline std::vector<double> losses(const engine::RunConfig& config) {
    const auto trainer = engine::Trainer::create(config, nullptr);
    std::vector<double> result;
    while (!trainer->done()) result.push_back(trainer->step().loss);
    return result;
}

inline std::string bytesOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
