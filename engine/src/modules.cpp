// Fused norm + cast, GELU + cast and their backward twins.
#include "src/modules.h"

#include "cpu/thread_pool.h"
#include "src/nvtx_ranges.h"

#include <algorithm>
#include <vector>

namespace engine {

namespace {

RangeWork rowWork(std::int64_t rows, std::int64_t cols, double flopsPerElement, double bytesPerElement) {
    const double elements = static_cast<double>(rows) * static_cast<double>(cols);
    return {elements * flopsPerElement, elements * bytesPerElement};
}

double operandBytes(const Operand& operand) {
    return static_cast<double>(cpu::bytesOf(operand.type));
}

// Where a fused kernel puts a row before its cast: a row buffer of the thread, or the FP32 operand itself.
class RowBuffer {
public:
    RowBuffer(const Operand& operand, std::int64_t cols) : m_operand(operand), m_cols(cols) {
        thread_local std::vector<float> buffer;
        if (buffer.size() < static_cast<std::size_t>(cols)) buffer.resize(static_cast<std::size_t>(cols));
        m_buffer = buffer.data();
    }
    float* row(std::int64_t row) const {
        return m_operand.type == cpu::Type::F32 ? static_cast<float*>(m_operand.data) + row * m_cols : m_buffer;
    }

private:
    const Operand& m_operand;
    std::int64_t m_cols;
    float* m_buffer;
};

// Runs rowKernel(row, target) for every row, fused with the cast, or as a pass of its own into `scratch` first.
template <typename RowKernel>
void produceAndCast(StepContext& context, Operand& operand, std::int64_t rows, std::int64_t cols, float* scratch,
                    const char* fusedName, const char* plainName, RangeWork work, const RowKernel& rowKernel) {
    if (context.fused) {
        const Range range(fusedName, RangeKind::Kernel, work);
        OperandCast cast(context, operand, cols);
        context.pool.run([&](int chunk) {
            const RowBuffer buffer(operand, cols);
            const auto [first, last] = context.pool.part(rows, chunk);
            for (std::int64_t row = first; row < last; ++row) {
                float* target = buffer.row(row);
                rowKernel(row, target);
                cast.castRow(chunk, row, target);
            }
        });
        cast.finish();
        return;
    }
    {
        const Range range(plainName, RangeKind::Kernel, work);
        context.pool.run([&](int chunk) {
            const auto [first, last] = context.pool.part(rows, chunk);
            for (std::int64_t row = first; row < last; ++row) rowKernel(row, scratch + row * cols);
        });
    }
    castOperand(context, operand, scratch, rows, cols, "cast input");
}

}  // namespace

void normAndCast(StepContext& context, const float* x, const NormParameters& norm, std::int64_t rows, GemmLayer& layer,
                 float* scratch) {
    const std::int64_t d = layer.in;
    produceAndCast(context, layer.input, rows, d, scratch, "layernorm+cast", "layernorm",
                   rowWork(rows, d, 8, 4 + operandBytes(layer.input)), [&](std::int64_t row, float* target) {
                       cpu::layerNormRow(x + row * d, norm.weight, norm.bias, target, d, 1e-5F, norm.mean[row],
                                         norm.rstd[row], context.isa);
                   });
}

void geluAndCast(StepContext& context, const float* hidden, std::int64_t rows, GemmLayer& layer, float* scratch) {
    const std::int64_t f = layer.in;
    produceAndCast(context, layer.input, rows, f, scratch, "gelu+cast", "gelu",
                   rowWork(rows, f, 10, 4 + operandBytes(layer.input)), [&](std::int64_t row, float* target) {
                       cpu::activate(cpu::Activation::Gelu, hidden + row * f, target, f, context.isa);
                   });
}

void gradAndCast(StepContext& context, float* dy, std::int64_t rows, GemmLayer& layer) {
    const std::int64_t cols = layer.out;
    if (layer.gradOutput.type == cpu::Type::F32) {
        layer.gradOutput.data = dy;
        if (layer.dBias != nullptr) columnSums(context, dy, rows, cols, layer.dBias);
        return;
    }
    if (!context.fused || layer.dBias == nullptr) {
        castOperand(context, layer.gradOutput, dy, rows, cols, "cast grad_output");
        if (layer.dBias != nullptr) columnSums(context, dy, rows, cols, layer.dBias);
        return;
    }
    const Range range("dbias+cast", RangeKind::Kernel, rowWork(rows, cols, 1, 4 + operandBytes(layer.gradOutput)));
    OperandCast cast(context, layer.gradOutput, cols);
    context.pool.run([&](int chunk) {
        float* partial = context.partials + chunk * context.partialsStride;
        std::fill_n(partial, cols, 0.0F);
        const auto [first, last] = context.pool.part(rows, chunk);
        for (std::int64_t row = first; row < last; ++row) {
            cpu::addTo(partial, dy + row * cols, cols, context.isa);
            cast.castRow(chunk, row, dy + row * cols);
        }
    });
    cast.finish();
    reducePartials(context, 0, cols, layer.dBias);
}

void geluGradAndCast(StepContext& context, const float* hidden, float* dy, std::int64_t rows, GemmLayer& layer) {
    const std::int64_t cols = layer.out;
    const bool keep = !context.fused || layer.gradOutput.type == cpu::Type::F32;
    if (keep) {
        {
            const Range range("dgelu", RangeKind::Kernel, rowWork(rows, cols, 14, 12));
            context.pool.run([&](int chunk) {
                const auto [first, last] = context.pool.part(rows, chunk);
                cpu::activateBackward(cpu::Activation::Gelu, hidden + first * cols, dy + first * cols,
                                      dy + first * cols, (last - first) * cols, context.isa);
            });
        }
        gradAndCast(context, dy, rows, layer);
        return;
    }
    const Range range("dgelu+dbias+cast", RangeKind::Kernel,
                      rowWork(rows, cols, 15, 8 + operandBytes(layer.gradOutput)));
    OperandCast cast(context, layer.gradOutput, cols);
    context.pool.run([&](int chunk) {
        const RowBuffer buffer(layer.gradOutput, cols);
        float* partial = context.partials + chunk * context.partialsStride;
        std::fill_n(partial, cols, 0.0F);
        const auto [first, last] = context.pool.part(rows, chunk);
        for (std::int64_t row = first; row < last; ++row) {
            float* target = buffer.row(row);
            cpu::activateBackward(cpu::Activation::Gelu, hidden + row * cols, dy + row * cols, target, cols,
                                  context.isa);
            cpu::addTo(partial, target, cols, context.isa);
            cast.castRow(chunk, row, target);
        }
    });
    cast.finish();
    reducePartials(context, 0, cols, layer.dBias);
}

void normBackward(StepContext& context, const float* dy, const float* x, const NormParameters& norm, std::int64_t rows,
                  std::int64_t d, float* dx, float* dWeight, float* dBias) {
    const Range range("layernorm backward", RangeKind::Kernel, rowWork(rows, d, 14, 16));
    context.pool.run([&](int chunk) {
        float* dWeightPart = context.partials + chunk * context.partialsStride;
        float* dBiasPart = dWeightPart + d;
        std::fill_n(dWeightPart, 2 * d, 0.0F);
        const auto [first, last] = context.pool.part(rows, chunk);
        for (std::int64_t row = first; row < last; ++row) {
            cpu::layerNormRowBackward(dy + row * d, x + row * d, norm.weight, norm.mean[row], norm.rstd[row],
                                      dx + row * d, dWeightPart, dBiasPart, d, context.isa);
        }
    });
    reducePartials(context, 0, d, dWeight);
    reducePartials(context, d, d, dBias);
}

}  // namespace engine
