// MXFP8: FP8 elements, one power-of-two scale (E8M0) per 32 elements.
//
//   e        exponent of block amax · fl32(1 / fp8 max), rounded up where a mantissa bit is set; E8M0 with bias 127
//   element  saturating cast of x · 2^(127−e);  value = element · 2^(e−127)
//
// Every operand is cast twice from the original, in 1×32 and in 32×1 blocks; the two copies differ. Every value is
// exact in BF16. Source: Transformer Engine 2.x, common/cast/mxfp8/quantize_mxfp8.cuh and common/util/ptx.cuh; the
// format is the OCP Microscaling specification 1.0.
#include "src/recipes/block_scaled.h"
#include "src/recipes/per_tensor.h"

namespace engine {

namespace {

constexpr std::int64_t kBlock = 32;

class MxFp8Recipe : public BlockScaledRecipe {
public:
    explicit MxFp8Recipe(const Fp8Recipe& recipe) : m_format(effectiveFormat(recipe)) {}

    cpu::Type elementType(Role role) const override { return fp8Type(m_format, role); }
    std::int64_t stripRows() const override { return kBlock; }

protected:
    cpu::BlockCast dataCast(const Operand& operand) const override { return cast(operand, 1, kBlock); }
    std::optional<cpu::BlockCast> columnCast(const Operand& operand) const override { return cast(operand, kBlock, 1); }

private:
    cpu::BlockCast cast(const Operand& operand, std::int64_t rows, std::int64_t cols) const {
        cpu::BlockCast result{};
        result.type = elementType(operand.role);
        result.blockRows = rows;
        result.blockCols = cols;
        result.scaleType = cpu::BlockScale::E8M0;
        return result;
    }

    RecipeFormat m_format;
};

}  // namespace

std::unique_ptr<Recipe> makeMxFp8(const Fp8Recipe& recipe, const std::vector<cpu::Type>& /*formats*/) {
    return std::make_unique<MxFp8Recipe>(recipe);
}

}  // namespace engine
