// Casting with one scale per tensor.
#include "src/recipes/per_tensor.h"

#include "cpu/gemm_kernels.h"

#include <algorithm>

namespace engine {

namespace {

Fp8Format formatOf(cpu::Type type) {
    return type == cpu::Type::E5M2 ? Fp8Format::E5M2 : Fp8Format::E4M3;
}

}  // namespace

cpu::Type fp8Type(RecipeFormat format, Role role) {
    return format == RecipeFormat::Hybrid && role == Role::GradOutput ? cpu::Type::E5M2 : cpu::Type::E4M3;
}

void PerTensorRecipe::castStrip(const Operand& operand, std::int64_t firstRow, std::int64_t rows, const float* x,
                                bool counting, cpu::CastStats& stats, cpu::Isa isa) const {
    auto* codes = static_cast<std::uint8_t*>(operand.data) + firstRow * operand.cols;
    cpu::castFp8(x, codes, rows * operand.cols, operand.scale, formatOf(operand.type), counting, stats, isa);
    const float inverse = 1.0F / operand.scale;
    stats.scaleInvMin = std::min(stats.scaleInvMin, inverse);
    stats.scaleInvMax = std::max(stats.scaleInvMax, inverse);
}

void PerTensorRecipe::dequantiseStrip(const Operand& operand, std::int64_t firstRow, std::int64_t rows, float* x,
                                      cpu::Isa /*isa*/) const {
    const auto* codes = static_cast<const std::uint8_t*>(operand.data) + firstRow * operand.cols;
    const float* values = cpu::fp8Values(operand.type);
    const float inverse = 1.0F / operand.scale;
    for (std::int64_t i = 0; i < rows * operand.cols; ++i) x[i] = values[codes[i]] * inverse;
}

}  // namespace engine
