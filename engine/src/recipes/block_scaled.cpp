// Casting and unpacking an operand's two copies.
#include "src/recipes/block_scaled.h"

#include <algorithm>
#include <vector>

namespace engine {

namespace {

std::int64_t scaleBytes(const cpu::BlockCast& cast, std::int64_t rows, std::int64_t cols) {
    const std::int64_t blocks =
        ((rows + cast.blockRows - 1) / cast.blockRows) * ((cols + cast.blockCols - 1) / cast.blockCols);
    return blocks * (cast.scaleType == cpu::BlockScale::F32 ? 4 : 1);
}

float* threadBuffer(std::int64_t count) {
    thread_local std::vector<float> buffer;
    if (buffer.size() < static_cast<std::size_t>(count)) buffer.resize(static_cast<std::size_t>(count));
    return buffer.data();
}

}  // namespace

void BlockScaledRecipe::layout(Operand& operand, Arena& arena, std::int64_t elementBytes) const {
    Recipe::layout(operand, arena, elementBytes);
    operand.scales = arena.takeBytes(scaleBytes(dataCast(operand), operand.rows, operand.cols));
    if (const std::optional<cpu::BlockCast> cast = columnCast(operand)) {
        operand.columnData = arena.takeBytes(cpu::bytesFor(cast->type, operand.rows * operand.cols));
        operand.columnScales = arena.takeBytes(scaleBytes(*cast, operand.rows, operand.cols));
    }
}

std::vector<std::span<std::byte>> BlockScaledRecipe::memory(const Operand& operand) const {
    std::vector<std::span<std::byte>> parts = Recipe::memory(operand);
    const auto add = [&](void* data, std::int64_t bytes) {
        parts.emplace_back(static_cast<std::byte*>(data), static_cast<std::size_t>(bytes));
    };
    add(operand.scales, scaleBytes(dataCast(operand), operand.rows, operand.cols));
    if (const std::optional<cpu::BlockCast> cast = columnCast(operand)) {
        add(operand.columnData, cpu::bytesFor(cast->type, operand.rows * operand.cols));
        add(operand.columnScales, scaleBytes(*cast, operand.rows, operand.cols));
    }
    return parts;
}

void BlockScaledRecipe::begin(Operand& /*operand*/, const TensorAmax& /*amax*/, std::uint64_t /*noiseKey*/) {}

const float* BlockScaledRecipe::columnSource(const Operand& /*operand*/, const float* x, std::int64_t /*rows*/,
                                             float* /*buffer*/, cpu::Isa /*isa*/) const {
    return x;
}

void BlockScaledRecipe::castStrip(const Operand& operand, std::int64_t firstRow, std::int64_t rows, const float* x,
                                  bool counting, cpu::CastStats& stats, cpu::Isa isa) const {
    cpu::castBlocks(dataCast(operand), x, firstRow, rows, operand.cols, operand.data, operand.scales, counting, stats,
                    isa);
    const std::optional<cpu::BlockCast> cast = columnCast(operand);
    if (!cast || !operand.bothWays) return;
    const float* source = columnSource(operand, x, rows, threadBuffer(rows * operand.cols), isa);
    cpu::CastStats ignored;
    cpu::castBlocks(*cast, source, firstRow, rows, operand.cols, operand.columnData, operand.columnScales, false,
                    ignored, isa);
}

cpu::BlockCast BlockScaledRecipe::castOf(const Operand& operand, Along along) const {
    if (along == Along::Rows && operand.columnData != nullptr) return *columnCast(operand);
    return dataCast(operand);
}

void BlockScaledRecipe::unpackStrip(const Operand& operand, Along along, std::int64_t firstRow, std::int64_t rows,
                                    void* out, cpu::Isa isa) const {
    const bool columns = along == Along::Rows && operand.columnData != nullptr;
    const void* codes = columns ? operand.columnData : operand.data;
    const void* scales = columns ? operand.columnScales : operand.scales;
    const cpu::BlockCast cast = castOf(operand, along);
    if (unpackedType() == cpu::Type::F32) {
        cpu::unpackBlocksF32(cast, codes, scales, firstRow, rows, operand.cols, static_cast<float*>(out), isa);
    } else {
        cpu::unpackBlocksBf16(cast, codes, scales, firstRow, rows, operand.cols, static_cast<std::uint16_t*>(out), isa);
    }
}

void BlockScaledRecipe::dequantiseStrip(const Operand& operand, std::int64_t firstRow, std::int64_t rows, float* x,
                                        cpu::Isa isa) const {
    cpu::unpackBlocksF32(dataCast(operand), operand.data, operand.scales, firstRow, rows, operand.cols, x, isa);
    const float factor = unpackedFactor(operand, Along::Columns);
    if (factor != 1.0F) cpu::scaleBy(x, factor, rows * operand.cols, isa);
}

}  // namespace engine
