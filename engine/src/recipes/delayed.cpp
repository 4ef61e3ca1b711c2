// Delayed scaling: the scale of a cast follows from the amax of earlier steps, so that one pass over the data both
// casts it and finds the amax that will matter later.
//
//   window   the last amax_history_len amax values, this step's included
//   amax     max over the window, or this step's alone (most_recent)
//   scale    (fp8 max · 2^−margin) / amax; the old scale where amax is 0, infinite or NaN; at most FLT_MAX
//   element  saturating cast of x · scale;  value = element · 1/scale
//
// The old scale serves this step's cast, the new one the next step's. Source: Transformer Engine 2.x,
// common/recipe/delayed_scaling.cu (fused update) and pytorch/quantization.py.
#include "src/recipes/delayed.h"

#include "engine/error.h"
#include "src/recipes/per_tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace engine {

float scaleFromAmax(float amax, float oldScale, float formatMax, int margin) {
    if (!std::isfinite(amax) || amax <= 0.0F) return oldScale;
    const float scale = std::ldexp(formatMax, -margin) / amax;
    if (std::isinf(scale)) return std::numeric_limits<float>::max();
    // A subnormal scale (a huge amax with a large margin) would have an infinite inverse.
    return std::max(scale, std::numeric_limits<float>::min());
}

DelayedScaling::DelayedScaling(const Fp8Recipe& recipe, std::vector<float> formatMax)
    : m_recipe(recipe),
      m_formatMax(std::move(formatMax)),
      m_scales(m_formatMax.size(), 1.0F),
      m_histories(m_formatMax.size() * static_cast<std::size_t>(recipe.amaxHistoryLen), 0.0F) {}

std::span<float> DelayedScaling::row(int slot) {
    const auto length = static_cast<std::size_t>(m_recipe.amaxHistoryLen);
    return std::span<float>(m_histories).subspan(static_cast<std::size_t>(slot) * length, length);
}

std::span<const float> DelayedScaling::history(int slot) const {
    const auto length = static_cast<std::size_t>(m_recipe.amaxHistoryLen);
    return std::span<const float>(m_histories).subspan(static_cast<std::size_t>(slot) * length, length);
}

void DelayedScaling::record(int slot, float amax) {
    float& live = row(slot)[0];
    live = std::fmax(live, amax);
}

void DelayedScaling::update(int slot) {
    const std::span<float> history = row(slot);
    const float last = history[0];
    if (last == 0.0F) return;

    // The window holds this step and the L−1 before it: the oldest value still counts in the update that drops it.
    float amax = last;
    if (m_recipe.amaxAlgo == AmaxAlgo::Max) {
        for (std::size_t i = 1; i < history.size(); ++i) amax = std::fmax(amax, history[i]);
    }
    std::shift_left(history.begin(), history.end(), 1);
    history.back() = last;
    history[0] = 0.0F;

    float& scale = m_scales[static_cast<std::size_t>(slot)];
    scale = scaleFromAmax(amax, scale, m_formatMax[static_cast<std::size_t>(slot)], m_recipe.margin);
}

std::vector<float> DelayedScaling::state() const {
    std::vector<float> state = m_scales;
    state.insert(state.end(), m_histories.begin(), m_histories.end());
    return state;
}

void DelayedScaling::restore(std::span<const float> state) {
    const std::size_t slots = m_scales.size();
    ENGINE_CHECK(slots == 0 ? state.empty() : state.size() > slots && state.size() % slots == 0,
                 "scaling state of another model");
    if (slots == 0) return;
    std::copy_n(state.begin(), slots, m_scales.begin());
    const std::size_t length = state.size() / slots - 1;
    for (std::size_t slot = 0; slot < slots; ++slot) {
        const std::span<float> target = row(static_cast<int>(slot));
        const std::span<const float> source = state.subspan(slots + slot * length, length);
        std::fill(target.begin(), target.end(), 0.0F);
        std::copy_n(source.begin(), std::min(length, target.size()), target.begin());
    }
}

namespace {

class DelayedRecipe : public PerTensorRecipe {
public:
    DelayedRecipe(const Fp8Recipe& recipe, const std::vector<cpu::Type>& formats)
        : PerTensorRecipe(effectiveFormat(recipe)), m_scaling(recipe, maxima(formats)) {}

    void begin(Operand& operand, const TensorAmax& /*amax*/, std::uint64_t /*noiseKey*/) override {
        operand.scale = m_scaling.scale(operand.slot);
    }
    void record(int slot, float amax) override { m_scaling.record(slot, amax); }
    void update() override {
        for (int slot = 0; slot < m_scaling.slots(); ++slot) m_scaling.update(slot);
    }
    std::vector<float> state() const override { return m_scaling.state(); }
    void restore(const std::vector<float>& state) override { m_scaling.restore(state); }

private:
    static std::vector<float> maxima(const std::vector<cpu::Type>& formats) {
        std::vector<float> values;
        for (const cpu::Type type : formats) values.push_back(largestValue(type));
        return values;
    }

    DelayedScaling m_scaling;
};

}  // namespace

std::unique_ptr<Recipe> makeDelayed(const Fp8Recipe& recipe, const std::vector<cpu::Type>& formats) {
    return std::make_unique<DelayedRecipe>(recipe, formats);
}

}  // namespace engine
