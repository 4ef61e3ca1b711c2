// What delayed and current scaling share: FP8 elements with one FP32 scale per tensor.
#pragma once

#include "src/recipes/recipe.h"

namespace engine {

/// E4M3 but for grad_output under HYBRID.
cpu::Type fp8Type(RecipeFormat format, Role role);

class PerTensorRecipe : public Recipe {
public:
    explicit PerTensorRecipe(RecipeFormat format) : m_format(format) {}

    cpu::Type elementType(Role role) const override { return fp8Type(m_format, role); }
    void castStrip(const Operand& operand, std::int64_t firstRow, std::int64_t rows, const float* x, bool counting,
                   cpu::CastStats& stats, cpu::Isa isa) const override;
    void dequantiseStrip(const Operand& operand, std::int64_t firstRow, std::int64_t rows, float* x,
                         cpu::Isa isa) const override;

private:
    RecipeFormat m_format;
};

}  // namespace engine
