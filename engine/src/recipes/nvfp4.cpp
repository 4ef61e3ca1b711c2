// NVFP4: FP4 (E2M1) elements, one E4M3 scale per 16 elements and one FP32 scale per tensor.
//
//   encode   min(448 · 6 / tensor amax, FLT_MAX); 1 where the amax is 0 or infinite
//   block    E4M3 of block amax · (encode · fl32(1/6))
//   element  E2M1 of x · min(1 / (block · (1/encode)), FLT_MAX);  value = element · block · 1/encode
//
// Weights use 16×16 blocks, which serve both ways. Inputs and gradients are cast twice; the copy along the rows, which
// only wgrad reads, is cast from the 16-point Hadamard transform of the columns with fixed signs: both operands of
// wgrad are transformed alike, so the product stays the same while outliers spread. Gradients are rounded
// stochastically. Every block · element is exact in BF16; 1/encode goes into the product's factor. Source: Transformer
// Engine 2.x, common/cast/nvfp4/core_nvfp4.cuh and pytorch/tensor/nvfp4_tensor.py.
#include "src/random.h"
#include "src/recipes/block_scaled.h"

#include <algorithm>
#include <vector>

namespace engine {

namespace {

constexpr std::int64_t kBlock = 16;

class NvFp4Recipe : public BlockScaledRecipe {
public:
    explicit NvFp4Recipe(const Fp8Recipe& recipe)
        : m_weightTiles(recipe.weightTiles), m_stochastic(recipe.stochasticRounding), m_hadamard(recipe.hadamard) {}

    cpu::Type elementType(Role /*role*/) const override { return cpu::Type::E2M1; }
    std::int64_t stripRows() const override { return kBlock; }
    bool needsAmax() const override { return true; }

    void measure(const Operand& operand, const float* x, std::int64_t rows, TensorAmax& amax,
                 cpu::Isa isa) const override {
        Recipe::measure(operand, x, rows, amax, isa);
        if (!isTransformed(operand) || !operand.bothWays) return;
        thread_local std::vector<float> buffer;
        if (buffer.size() < static_cast<std::size_t>(rows * operand.cols)) {
            buffer.resize(static_cast<std::size_t>(rows * operand.cols));
        }
        cpu::hadamard16Rows(x, buffer.data(), rows, operand.cols, isa);
        amax.columnData = std::max(amax.columnData, cpu::amaxOf(buffer.data(), rows * operand.cols, isa));
    }

    void begin(Operand& operand, const TensorAmax& amax, std::uint64_t noiseKey) override {
        operand.scale = cpu::globalEncodeScale(amax.data);
        operand.columnScale = isTransformed(operand) ? cpu::globalEncodeScale(amax.columnData) : operand.scale;
        operand.noiseKey = noiseKey;
    }

    float unpackedFactor(const Operand& operand, Along along) const override {
        const bool columns = along == Along::Rows && operand.columnData != nullptr;
        return 1.0F / (columns ? operand.columnScale : operand.scale);
    }

protected:
    cpu::BlockCast dataCast(const Operand& operand) const override {
        return cast(operand, isTile(operand) ? kBlock : 1, kBlock, operand.scale, 0);
    }
    std::optional<cpu::BlockCast> columnCast(const Operand& operand) const override {
        if (isTile(operand)) return std::nullopt;
        return cast(operand, kBlock, 1, operand.columnScale, 1);
    }
    const float* columnSource(const Operand& operand, const float* x, std::int64_t rows, float* buffer,
                              cpu::Isa isa) const override {
        if (!isTransformed(operand)) return x;
        cpu::hadamard16Rows(x, buffer, rows, operand.cols, isa);
        return buffer;
    }

private:
    bool isTile(const Operand& operand) const { return operand.role == Role::Weight && m_weightTiles; }
    bool isTransformed(const Operand& operand) const { return operand.role != Role::Weight && m_hadamard; }
    cpu::BlockCast cast(const Operand& operand, std::int64_t rows, std::int64_t cols, float encode,
                        std::uint64_t copy) const {
        cpu::BlockCast result{};
        result.type = cpu::Type::E2M1;
        result.blockRows = rows;
        result.blockCols = cols;
        result.scaleType = cpu::BlockScale::E4M3;
        result.globalEncode = encode;
        result.stochastic = m_stochastic && operand.role == Role::GradOutput;
        result.noiseKey = mixBits(operand.noiseKey + copy);
        return result;
    }

    bool m_weightTiles;
    bool m_stochastic;
    bool m_hadamard;
};

}  // namespace

std::unique_ptr<Recipe> makeNvFp4(const Fp8Recipe& recipe, const std::vector<cpu::Type>& /*formats*/) {
    return std::make_unique<NvFp4Recipe>(recipe);
}

}  // namespace engine
