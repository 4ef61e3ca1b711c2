// The state of delayed scaling: per tensor one FP32 scale and a history of amax values whose row 0 is the live slot
// that casts write.
#pragma once

#include "engine/config.h"

#include <span>
#include <vector>

namespace engine {

/// New scale for an amax: (fp8 max · 2^−margin) / amax, one FP32 division. amax 0, infinite or NaN: the old scale.
/// An infinite quotient (tiny amax) becomes the largest FP32 number.
float scaleFromAmax(float amax, float oldScale, float formatMax, int margin);

class DelayedScaling {
public:
    /// All scales 1, all histories 0: the first step casts with scale 1. `formatMax`: largest value, per slot.
    DelayedScaling(const Fp8Recipe& recipe, std::vector<float> formatMax);

    int slots() const { return static_cast<int>(m_formatMax.size()); }
    float scale(int slot) const { return m_scales[static_cast<std::size_t>(slot)]; }

    /// Several casts of one slot between two updates keep their maximum; NaN is passed over.
    void record(int slot, float amax);

    /// Rolls the slot's history and renews its scale. A live amax of 0 (the tensor was not cast) changes nothing.
    void update(int slot);

    /// Row 0 is the live slot, behind it oldest amax first, as Transformer Engine stores it.
    std::span<const float> history(int slot) const;

    /// Scales, then histories slot by slot.
    std::vector<float> state() const;
    /// Takes the state of a run with another history length too, resized as Transformer Engine does
    /// (adjust_amax_history_length): shrinking keeps the first rows, growing adds zeros at the end.
    void restore(std::span<const float> state);

private:
    std::span<float> row(int slot);

    Fp8Recipe m_recipe;
    std::vector<float> m_formatMax;  // [slots]
    std::vector<float> m_scales;     // [slots]
    std::vector<float> m_histories;  // [slots][amaxHistoryLen]
};

}  // namespace engine
