// Delayed scaling. Source of the rules: Transformer Engine 2.x, common/recipe/delayed_scaling.cu.
#include "src/scaling.h"

#include "engine/error.h"

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

DelayedScaling::DelayedScaling(const Fp8Recipe& recipe, std::vector<Fp8Format> formats)
    : m_recipe(recipe),
      m_formats(std::move(formats)),
      m_scales(m_formats.size(), 1.0F),
      m_histories(m_formats.size() * static_cast<std::size_t>(recipe.amaxHistoryLen), 0.0F) {}

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
    scale = scaleFromAmax(amax, scale, fp8Limits(m_formats[static_cast<std::size_t>(slot)]).max, m_recipe.margin);
}

void DelayedScaling::restore(std::vector<float> scales, std::vector<float> histories) {
    ENGINE_CHECK(scales.size() == m_scales.size() && histories.size() == m_histories.size(),
                 "scaling state of another model");
    m_scales = std::move(scales);
    m_histories = std::move(histories);
}

}  // namespace engine
