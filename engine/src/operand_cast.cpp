// Strips, threads and records of a cast.
#include "src/operand_cast.h"

#include "cpu/thread_pool.h"
#include "src/nvtx_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace engine {

namespace {

// A block with the largest amax has the largest scale_inv.
float shownScale(const Recipe& recipe, const Operand& operand, const cpu::CastStats& stats) {
    if (!recipe.unpacksForProducts()) return operand.scale;
    return stats.scaleInvMax > 0 ? 1.0F / stats.scaleInvMax : 1.0F;
}

}  // namespace

const char* roleName(Role role) {
    return role == Role::Input ? "input" : role == Role::Weight ? "weight" : "grad_output";
}

OperandCast::OperandCast(StepContext& context, Operand& operand, std::int64_t rows)
    : m_context(context),
      m_operand(operand),
      m_rows(rows),
      m_stripRows(castStripRows(context, operand)),
      m_byRecipe(operand.quantised()),
      m_watchesExponents(context.records != nullptr && context.watch.exponents && operand.observed &&
                         operand.tensor >= 0),
      m_amax(static_cast<std::size_t>(context.pool.threads())),
      m_stats(static_cast<std::size_t>(context.pool.threads())),
      m_exponents(m_watchesExponents ? static_cast<std::size_t>(context.pool.threads()) : 0) {
    // Weights may be used by later passes of either kind.
    m_operand.bothWays = context.records != nullptr || operand.role == Role::Weight;
    if (m_byRecipe && !needsAmax()) m_context.recipe->begin(m_operand, {}, m_context.noiseKey);
}

std::int64_t OperandCast::rowsOf(std::int64_t strip) const {
    return std::min(m_stripRows, m_rows - strip * m_stripRows);
}

void OperandCast::measureStrip(int chunk, std::int64_t strip, const float* x) {
    m_context.recipe->measure(m_operand, x, rowsOf(strip), m_amax[static_cast<std::size_t>(chunk)], m_context.isa);
}

void OperandCast::fixScales() {
    TensorAmax amax;
    for (const TensorAmax& part : m_amax) amax.add(part);
    const std::uint64_t key = m_context.noiseKey + 2 * static_cast<std::uint64_t>(m_operand.slot);
    m_context.recipe->begin(m_operand, amax, key);
}

void OperandCast::castStrip(int chunk, std::int64_t strip, const float* x) {
    const auto part = static_cast<std::size_t>(chunk);
    const std::int64_t count = rowsOf(strip) * m_operand.cols;
    const std::int64_t first = firstRow(strip) * m_operand.cols;
    if (m_byRecipe) {
        const Watch& watch = m_context.watch;
        const bool counting =
            m_context.records != nullptr && (watch.everything || (watch.counters && m_operand.observed));
        m_context.recipe->castStrip(m_operand, firstRow(strip), rowsOf(strip), x, counting, m_stats[part],
                                    m_context.isa);
    } else if (m_operand.type == cpu::Type::Bf16) {
        cpu::castBf16(x, static_cast<std::uint16_t*>(m_operand.data) + first, count, m_context.isa);
    } else if (static_cast<float*>(m_operand.data) + first != x) {
        std::memcpy(static_cast<float*>(m_operand.data) + first, x, static_cast<std::size_t>(count) * sizeof(float));
    }
    if (!m_watchesExponents) return;
    cpu::countExponents(x, count, m_exponents[part].counts.data(), m_exponents[part].smallest, m_context.isa);
    if (m_byRecipe) return;
    // Nothing else looks at these elements.
    m_stats[part].amax = std::max(m_stats[part].amax, cpu::amaxOf(x, count, m_context.isa));
    m_stats[part].count += count;
}

void OperandCast::finish() {
    if (m_context.records == nullptr || m_operand.tensor < 0) return;
    TensorRecord& record = (*m_context.records)[static_cast<std::size_t>(m_operand.tensor)];
    for (const Exponents& exponents : m_exponents) record.exponents.add(exponents);
    record.hasExponents = record.hasExponents || m_watchesExponents;
    if (!m_byRecipe && !m_watchesExponents) return;
    record.seen = true;
    cpu::CastStats stats;
    for (const cpu::CastStats& part : m_stats) stats.add(part);
    // Of several micro-batches, the scale that goes with the amax that is kept.
    if (m_byRecipe && stats.amax >= record.stats.amax) {
        record.scale = shownScale(*m_context.recipe, m_operand, stats);
    }
    record.stats.add(stats);
    if (!m_byRecipe) return;
    m_context.recipe->record(m_operand.slot, stats.amax);
}

void castOperand(StepContext& context, Operand& operand, const float* x, std::int64_t rows, const char* rangeName) {
    const double elements = static_cast<double>(rows) * static_cast<double>(operand.cols);
    const double written = elements * static_cast<double>(cpu::bytesFor(operand.type, 16)) / 16.0;
    OperandCast cast(context, operand, rows);
    const auto forEachStrip = [&](const auto& work) {
        context.pool.run([&](int chunk) {
            const auto [first, last] = context.pool.part(cast.strips(), chunk);
            for (std::int64_t s = first; s < last; ++s) work(chunk, s, x + cast.firstRow(s) * operand.cols);
        });
    };
    if (cast.needsAmax()) {
        const Range range("amax", RangeKind::Kernel, {elements, elements * 4.0});
        forEachStrip([&](int chunk, std::int64_t s, const float* strip) { cast.measureStrip(chunk, s, strip); });
        cast.fixScales();
    }
    const Range range(rangeName, RangeKind::Kernel, {0, elements * 4.0 + written});
    forEachStrip([&](int chunk, std::int64_t s, const float* strip) { cast.castStrip(chunk, s, strip); });
    cast.finish();
}

void observeResult(StepContext& context, int tensor, const float* x, std::int64_t count) {
    if (tensor < 0 || context.records == nullptr || !context.watch.results) return;
    const Range range("observe", RangeKind::Kernel, {0, 4.0 * static_cast<double>(count)});
    std::vector<float> amax(static_cast<std::size_t>(context.pool.threads()), 0.0F);
    std::vector<Exponents> exponents(context.watch.exponents ? amax.size() : 0);
    context.pool.run([&](int chunk) {
        const auto part = static_cast<std::size_t>(chunk);
        const auto [first, last] = context.pool.part(count, chunk, 16);
        amax[part] = cpu::amaxOf(x + first, last - first, context.isa);
        if (context.watch.exponents) {
            cpu::countExponents(x + first, last - first, exponents[part].counts.data(), exponents[part].smallest,
                                context.isa);
        }
    });
    TensorRecord& record = (*context.records)[static_cast<std::size_t>(tensor)];
    record.seen = true;
    record.hasExponents = record.hasExponents || context.watch.exponents;
    for (const float value : amax) record.stats.amax = std::max(record.stats.amax, value);
    for (const Exponents& part : exponents) record.exponents.add(part);
    record.stats.count += count;
}

ProductOperand productOperand(StepContext& context, const Operand& operand, Along along, std::int64_t rows,
                              bool partnerQuantised, void* scratch) {
    if (!operand.quantised()) return {operand.data, operand.type, 1.0F};
    const Recipe& recipe = *context.recipe;
    if (!recipe.unpacksForProducts()) return {operand.data, operand.type, 1.0F / operand.scale};
    // The copy along the rows may be transformed, which only cancels out if the partner is too.
    const Along copy = partnerQuantised ? along : Along::Columns;
    const cpu::Type type = recipe.unpackedType();
    const std::int64_t stripRows = recipe.stripRows();
    const std::int64_t strips = (rows + stripRows - 1) / stripRows;
    const double elements = static_cast<double>(rows) * static_cast<double>(operand.cols);
    const Range range("unpack", RangeKind::Kernel,
                      {elements, elements * (1.0 + static_cast<double>(cpu::bytesOf(type)))});
    context.pool.run([&](int chunk) {
        const auto [first, last] = context.pool.part(strips, chunk);
        for (std::int64_t s = first; s < last; ++s) {
            const std::int64_t row = s * stripRows;
            recipe.unpackStrip(operand, copy, row, std::min(stripRows, rows - row),
                               static_cast<std::byte*>(scratch) + row * operand.cols * cpu::bytesOf(type), context.isa);
        }
    });
    return {scratch, type, recipe.unpackedFactor(operand, copy)};
}

}  // namespace engine
