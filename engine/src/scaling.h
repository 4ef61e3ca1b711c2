// Delayed scaling, to the bit as Transformer Engine's fused update does it: per tensor one FP32 scale and a history
// of amax values whose row 0 is the live slot that casts write.
#pragma once

#include "engine/config.h"
#include "engine/formats.h"

#include <span>
#include <vector>

namespace engine {

/// New scale for an amax: (fp8 max · 2^−margin) / amax, one FP32 division. amax 0, infinite or NaN: the old scale.
/// An infinite quotient (tiny amax) becomes the largest FP32 number.
float scaleFromAmax(float amax, float oldScale, float formatMax, int margin);

class DelayedScaling {
public:
    /// All scales 1, all histories 0: the first step casts with scale 1.
    DelayedScaling(const Fp8Recipe& recipe, std::vector<Fp8Format> formats);

    int slots() const { return static_cast<int>(m_formats.size()); }
    float scale(int slot) const { return m_scales[static_cast<std::size_t>(slot)]; }

    /// Several casts of one slot between two updates keep their maximum; NaN is passed over.
    void record(int slot, float amax);

    /// Rolls the slot's history and renews its scale. A live amax of 0 (the tensor was not cast) changes nothing.
    void update(int slot);

    /// Oldest amax first behind the live row 0, as Transformer Engine stores it.
    std::span<const float> history(int slot) const;

    /// For checkpoints: scales, then histories slot by slot.
    const std::vector<float>& scales() const { return m_scales; }
    const std::vector<float>& histories() const { return m_histories; }
    void restore(std::vector<float> scales, std::vector<float> histories);

private:
    std::span<float> row(int slot);

    Fp8Recipe m_recipe;
    std::vector<Fp8Format> m_formats;
    std::vector<float> m_scales;     // [slots]
    std::vector<float> m_histories;  // [slots][amaxHistoryLen]
};

}  // namespace engine
