// Casting operands by the run's recipe, strip by strip and thread by thread, and what the casts of a step saw.
#pragma once

#include "cpu/kernels.h"
#include "src/observation.h"
#include "src/recipes/recipe.h"

#include <cstdint>
#include <vector>

namespace engine {

/// What every operation of a step needs; the network owns all of it.
struct StepContext {
    cpu::ThreadPool& pool;
    cpu::Isa isa;
    Recipe* recipe = nullptr;                      // nullptr: nothing is quantised
    std::vector<TensorRecord>* records = nullptr;  // by tensor; nullptr: evaluation, nothing is recorded
    Watch watch = {};
    bool fused = true;
    bool firstMicroBatch = true;  // gradients are overwritten and weights cast; later ones add and reuse
    bool lastMicroBatch = true;   // gradients are complete
    std::uint64_t noiseKey = 0;   // of the micro-batch
    float* partials = nullptr;    // [threads][partialsStride]
    std::int64_t partialsStride = 0;
    void* unpackA = nullptr;  // [largest operand] BF16 or FP32, for recipes that unpack
    void* unpackB = nullptr;
};

/// Rows that are cast together; threads share an operand's rows out in strips of these.
inline std::int64_t castStripRows(const StepContext& context, const Operand& operand) {
    return operand.quantised() ? context.recipe->stripRows() : 1;
}

/// One cast of an operand. Use, from the thread that runs the step except where a chunk number is asked for:
///   if needsAmax(): measureStrip() for every strip, by any thread, then fixScales();
///   castStrip() for every strip, by any thread, then finish().
class OperandCast {
public:
    OperandCast(StepContext& context, Operand& operand, std::int64_t rows);

    std::int64_t strips() const { return (m_rows + m_stripRows - 1) / m_stripRows; }
    std::int64_t firstRow(std::int64_t strip) const { return strip * m_stripRows; }
    std::int64_t rowsOf(std::int64_t strip) const;
    std::int64_t stripRows() const { return m_stripRows; }
    bool needsAmax() const { return m_byRecipe && m_context.recipe->needsAmax(); }

    void measureStrip(int chunk, std::int64_t strip, const float* x);
    void fixScales();
    /// x [rowsOf(strip)][cols]
    void castStrip(int chunk, std::int64_t strip, const float* x);
    /// Adds the threads' counts in chunk order and records the amax.
    void finish();

private:
    StepContext& m_context;
    Operand& m_operand;
    std::int64_t m_rows;
    std::int64_t m_stripRows;
    bool m_byRecipe;
    bool m_watchesExponents;
    std::vector<TensorAmax> m_amax;       // by chunk
    std::vector<cpu::CastStats> m_stats;  // by chunk
    std::vector<Exponents> m_exponents;   // by chunk, empty unless watched
};

/// Casts a whole [rows][cols] matrix; FP32 operands are copied where they have memory of their own and are not x.
void castOperand(StepContext& context, Operand& operand, const float* x, std::int64_t rows, const char* rangeName);

/// Records a result of a product, which is not cast: amax, and binades where they are watched.
void observeResult(StepContext& context, int tensor, const float* x, std::int64_t count);

/// The operand's values as a product that sums `along` takes them; unpacked into `scratch` where the recipe does that.
/// `partnerQuantised`: the product's other operand is quantised as well.
ProductOperand productOperand(StepContext& context, const Operand& operand, Along along, std::int64_t rows,
                              bool partnerQuantised, void* scratch);

}  // namespace engine
