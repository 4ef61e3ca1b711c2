// Current scaling: the scale follows from the tensor itself, which is read twice, for its amax and for the cast.
//
//   amax     max |x| of the tensor, NaN passed over; at least amax_epsilon
//   scale    fp8 max / amax; 1 where amax is 0, infinite or NaN; at most FLT_MAX; on request its mantissa bits cleared
//   element  saturating cast of x · scale;  value = element · 1/scale
//
// Source: Transformer Engine 2.x, common/recipe/recipe_common.cuh (compute_scale_from_amax) and current_scaling.cu.
#include "src/recipes/current.h"

#include "src/recipes/per_tensor.h"

#include <bit>
#include <cmath>
#include <limits>

namespace engine {

float currentScale(float amax, float formatMax, float epsilon, bool powerOfTwo) {
    if (amax < epsilon) amax = epsilon;
    if (!std::isfinite(amax) || amax == 0.0F) return 1.0F;
    float scale = formatMax / amax;
    if (std::isinf(scale)) scale = std::numeric_limits<float>::max();
    if (powerOfTwo) scale = std::bit_cast<float>(std::bit_cast<std::uint32_t>(scale) & 0xFF800000U);
    return scale;
}

namespace {

class CurrentRecipe : public PerTensorRecipe {
public:
    explicit CurrentRecipe(const Fp8Recipe& recipe)
        : PerTensorRecipe(effectiveFormat(recipe)),
          m_epsilon(static_cast<float>(recipe.amaxEpsilon)),
          m_powerOfTwo(usesPowerOfTwoScales(recipe)) {}

    bool needsAmax() const override { return true; }
    void begin(Operand& operand, const TensorAmax& amax, std::uint64_t /*noiseKey*/) override {
        operand.scale = currentScale(amax.data, largestValue(operand.type), m_epsilon, m_powerOfTwo);
    }

private:
    float m_epsilon;
    bool m_powerOfTwo;
};

}  // namespace

std::unique_ptr<Recipe> makeCurrent(const Fp8Recipe& recipe, const std::vector<cpu::Type>& /*formats*/) {
    return std::make_unique<CurrentRecipe>(recipe);
}

}  // namespace engine
