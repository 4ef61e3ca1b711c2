// Reads and condenses runs for comparison; see run_figures.h.
#include "models/run_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gui {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kWarmUpSteps = 2;  // as in RunRow::tokensPerSecond

double tailMean(const std::vector<double>& values) {
    const std::size_t count = std::max<std::size_t>(1, values.size() / 10);
    double sum = 0;
    std::size_t used = 0;
    for (std::size_t i = values.size() - std::min(count, values.size()); i < values.size(); ++i) {
        if (!std::isfinite(values[i])) continue;
        sum += values[i];
        ++used;
    }
    return used > 0 ? sum / static_cast<double>(used) : kUnknown;
}

Figure figureOf(std::vector<double> repeats, const std::vector<double>& steps) {
    Figure figure;
    figure.repeats = std::move(repeats);
    figure.spread = profiling::spread(figure.repeats.empty() ? steps : figure.repeats);
    return figure;
}

}  // namespace

double lossGap(const RunFigures& run, const RunFigures& base) {
    if (std::isfinite(run.valLoss) && std::isfinite(base.valLoss)) return run.valLoss / base.valLoss - 1;
    return run.trainLoss / base.trainLoss - 1;
}

double finalLoss(const RunFigures& run) {
    return std::isfinite(run.valLoss) ? run.valLoss : run.trainLoss;
}

void RunFiguresCache::readSteps(profiling::Store& store, profiling::RunId run, Seen& seen) const {
    for (const profiling::StepRow& step : store.steps(run, seen.lastStep)) {
        seen.lastStep = step.step;
        seen.loss.push_back(step.loss);
        seen.memoryBytes = std::max(seen.memoryBytes, static_cast<double>(step.memoryBytes));
        const bool warmingUp = seen.loss.size() <= static_cast<std::size_t>(kWarmUpSteps);
        if (warmingUp || step.durationNs <= 0) continue;
        seen.tokensPerSecond.push_back(profiling::tokensPerSecond(step));
        seen.stepMs.push_back(static_cast<double>(step.durationNs) / 1e6);
    }
}

std::vector<RunFigures> RunFiguresCache::read(profiling::Store& store, const std::vector<profiling::RunId>& runs) {
    std::vector<RunFigures> all;
    for (const profiling::RunId id : runs) {
        const profiling::RunRow row = store.run(id);
        Seen& seen = m_seen[id.value];
        readSteps(store, id, seen);
        std::vector<double> rates;
        std::vector<double> times;
        for (const profiling::SampleRow& sample : store.samples(id)) {
            if (sample.metric == "tokens_per_second") rates.push_back(sample.value);
            if (sample.metric == "step_ms") times.push_back(sample.value);
        }
        RunFigures figures;
        figures.id = id;
        figures.name = row.name.empty() ? row.description.name : row.name;
        figures.emulated = row.description.emulated;
        figures.steps = row.stepsDone;
        figures.tokensPerSecond = figureOf(std::move(rates), seen.tokensPerSecond);
        figures.stepMs = figureOf(std::move(times), seen.stepMs);
        const double memory = std::max(seen.memoryBytes, static_cast<double>(row.description.memoryBytes));
        figures.memoryBytes.spread = profiling::spread(std::vector<double>{memory > 0 ? memory : kUnknown});
        figures.trainLoss = seen.loss.empty() ? kUnknown : tailMean(seen.loss);
        figures.valLoss = row.valLoss.value_or(kUnknown);
        all.push_back(std::move(figures));
    }
    return all;
}

}  // namespace gui
