// Block scaling: FP8 elements, one FP32 scale per 1×128 elements of inputs and gradients and per 128×128 of weights.
//
//   amax       max |x| of the block, NaN passed over; at least amax_epsilon
//   scale      fp8 max / amax; 1 where amax is 0, infinite or NaN; at most FLT_MAX; by default its mantissa bits are
//              cleared, so that it is a power of two
//   scale_inv  1 / scale, stored in FP32
//   element    saturating cast of x · scale;  value = element · scale_inv
//
// Inputs and gradients are cast twice, in 1×128 blocks for products that sum along the columns and in 128×1 blocks for
// wgrad. With power-of-two scales every value is exact in BF16; with others a product takes values rounded to FP32.
// Source: Transformer Engine 2.x, common/transpose/quantize_transpose_square_blockwise.cu and recipe_common.cuh.
#include "src/recipes/block_scaled.h"
#include "src/recipes/per_tensor.h"

namespace engine {

namespace {

constexpr std::int64_t kBlock = 128;

class BlockRecipe : public BlockScaledRecipe {
public:
    explicit BlockRecipe(const Fp8Recipe& recipe)
        : m_format(effectiveFormat(recipe)),
          m_weightTiles(recipe.weightTiles),
          m_powerOfTwo(usesPowerOfTwoScales(recipe)),
          m_epsilon(static_cast<float>(recipe.amaxEpsilon)) {}

    cpu::Type elementType(Role role) const override { return fp8Type(m_format, role); }
    std::int64_t stripRows() const override { return kBlock; }
    cpu::Type unpackedType() const override { return m_powerOfTwo ? cpu::Type::Bf16 : cpu::Type::F32; }

protected:
    cpu::BlockCast dataCast(const Operand& operand) const override {
        return cast(operand, isTile(operand) ? kBlock : 1, kBlock);
    }
    std::optional<cpu::BlockCast> columnCast(const Operand& operand) const override {
        if (isTile(operand)) return std::nullopt;
        return cast(operand, kBlock, 1);
    }

private:
    bool isTile(const Operand& operand) const { return operand.role == Role::Weight && m_weightTiles; }
    cpu::BlockCast cast(const Operand& operand, std::int64_t rows, std::int64_t cols) const {
        cpu::BlockCast result{};
        result.type = elementType(operand.role);
        result.blockRows = rows;
        result.blockCols = cols;
        result.scaleType = cpu::BlockScale::F32;
        result.powerOfTwo = m_powerOfTwo;
        result.amaxEpsilon = m_epsilon;
        return result;
    }

    RecipeFormat m_format;
    bool m_weightTiles;
    bool m_powerOfTwo;
    float m_epsilon;
};

}  // namespace

std::unique_ptr<Recipe> makeBlock(const Fp8Recipe& recipe, const std::vector<cpu::Type>& /*formats*/) {
    return std::make_unique<BlockRecipe>(recipe);
}

}  // namespace engine
