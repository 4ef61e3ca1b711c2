// What the recipes with block scales share: an operand is kept as up to two copies, one in blocks along its columns and
// one in blocks along its rows, because a product needs blocks along the dimension it sums over.
#pragma once

#include "cpu/block_cast.h"
#include "src/recipes/recipe.h"

#include <optional>

namespace engine {

class BlockScaledRecipe : public Recipe {
public:
    void layout(Operand& operand, Arena& arena, std::int64_t elementBytes) const override;
    std::vector<std::span<std::byte>> memory(const Operand& operand) const override;
    void begin(Operand& operand, const TensorAmax& amax, std::uint64_t noiseKey) override;
    void castStrip(const Operand& operand, std::int64_t firstRow, std::int64_t rows, const float* x, bool counting,
                   cpu::CastStats& stats, cpu::Isa isa) const override;
    bool unpacksForProducts() const override { return true; }
    void unpackStrip(const Operand& operand, Along along, std::int64_t firstRow, std::int64_t rows, void* out,
                     cpu::Isa isa) const override;
    void dequantiseStrip(const Operand& operand, std::int64_t firstRow, std::int64_t rows, float* x,
                         cpu::Isa isa) const override;

protected:
    /// How each copy is cast; without the second, the first serves both ways (square blocks).
    virtual cpu::BlockCast dataCast(const Operand& operand) const = 0;
    virtual std::optional<cpu::BlockCast> columnCast(const Operand& operand) const = 0;
    /// What the copy along the rows is made from; the default is x itself. May use `buffer` [rows][cols].
    virtual const float* columnSource(const Operand& operand, const float* x, std::int64_t rows, float* buffer,
                                      cpu::Isa isa) const;

private:
    cpu::BlockCast castOf(const Operand& operand, Along along) const;
};

}  // namespace engine
