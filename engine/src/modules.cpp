// Fused norm + cast, activation + cast and their backward twins.
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
    return static_cast<double>(cpu::bytesFor(operand.type, 16)) / 16.0;
}

cpu::Activation kernelOf(Activation activation) {
    switch (activation) {
        case Activation::Relu:
            return cpu::Activation::Relu;
        case Activation::GeGlu:
            return cpu::Activation::GeGlu;
        case Activation::SwiGlu:
            return cpu::Activation::SwiGlu;
        case Activation::Gelu:
            break;
    }
    return cpu::Activation::Gelu;
}

/// The names under which a module's passes are timed.
struct PassNames {
    const char* fused;     // producing and casting
    const char* measured;  // producing and finding the amax
    const char* plain;     // producing
    const char* cast;      // casting
};

PassNames forwardNames(Activation activation) {
    switch (activation) {
        case Activation::Relu:
            return {"relu+cast", "relu+amax", "relu", "cast input"};
        case Activation::GeGlu:
            return {"geglu+cast", "geglu+amax", "geglu", "cast input"};
        case Activation::SwiGlu:
            return {"swiglu+cast", "swiglu+amax", "swiglu", "cast input"};
        case Activation::Gelu:
            break;
    }
    return {"gelu+cast", "gelu+amax", "gelu", "cast input"};
}

PassNames backwardNames(Activation activation) {
    switch (activation) {
        case Activation::Relu:
            return {"drelu+dbias+cast", "drelu+dbias+amax", "drelu", "cast grad_output"};
        case Activation::GeGlu:
            return {"dgeglu+dbias+cast", "dgeglu+dbias+amax", "dgeglu", "cast grad_output"};
        case Activation::SwiGlu:
            return {"dswiglu+dbias+cast", "dswiglu+dbias+amax", "dswiglu", "cast grad_output"};
        case Activation::Gelu:
            break;
    }
    return {"dgelu+dbias+cast", "dgelu+dbias+amax", "dgelu", "cast grad_output"};
}

// Where a fused kernel puts a strip before its cast: a buffer of the thread, or the FP32 operand itself.
class StripBuffer {
public:
    StripBuffer(const Operand& operand, std::int64_t stripRows) : m_operand(operand) {
        thread_local std::vector<float> buffer;
        const auto needed = static_cast<std::size_t>(stripRows * operand.cols);
        if (buffer.size() < needed) buffer.resize(needed);
        m_buffer = buffer.data();
    }
    float* strip(std::int64_t firstRow) const {
        if (m_operand.type != cpu::Type::F32) return m_buffer;
        return static_cast<float*>(m_operand.data) + firstRow * m_operand.cols;
    }

private:
    const Operand& m_operand;
    float* m_buffer;
};

// Every strip of the cast on its thread: work(chunk, strip).
template <typename Work>
void forEachStrip(StepContext& context, const OperandCast& cast, const Work& work) {
    context.pool.run([&](int chunk) {
        const auto [first, last] = context.pool.part(cast.strips(), chunk);
        for (std::int64_t strip = first; strip < last; ++strip) work(chunk, strip);
    });
}

template <typename RowKernel>
void produceStrip(const OperandCast& cast, int chunk, std::int64_t strip, std::int64_t cols, float* target,
                  const RowKernel& rowKernel) {
    const std::int64_t first = cast.firstRow(strip);
    for (std::int64_t i = 0; i < cast.rowsOf(strip); ++i) rowKernel(chunk, first + i, target + i * cols);
}

// Runs rowKernel(chunk, row, target) for every row, fused with the cast; or fused with finding the amax; or as a pass
// of its own into `scratch` first.
template <typename RowKernel>
void produceAndCast(StepContext& context, Operand& operand, std::int64_t rows, float* scratch, const PassNames& names,
                    RangeWork work, const RowKernel& rowKernel) {
    const std::int64_t cols = operand.cols;
    OperandCast cast(context, operand, rows);
    if (!context.fused) {
        {
            const Range range(names.plain, RangeKind::Kernel, work);
            forEachStrip(context, cast, [&](int chunk, std::int64_t strip) {
                produceStrip(cast, chunk, strip, cols, scratch + cast.firstRow(strip) * cols, rowKernel);
            });
        }
        castOperand(context, operand, scratch, rows, names.cast);
        return;
    }
    if (!cast.needsAmax()) {
        const Range range(names.fused, RangeKind::Kernel, work);
        forEachStrip(context, cast, [&](int chunk, std::int64_t strip) {
            float* target = StripBuffer(operand, cast.stripRows()).strip(cast.firstRow(strip));
            produceStrip(cast, chunk, strip, cols, target, rowKernel);
            cast.castStrip(chunk, strip, target);
        });
        cast.finish();
        return;
    }
    {
        const Range range(names.measured, RangeKind::Kernel, work);
        forEachStrip(context, cast, [&](int chunk, std::int64_t strip) {
            float* target = scratch + cast.firstRow(strip) * cols;
            produceStrip(cast, chunk, strip, cols, target, rowKernel);
            cast.measureStrip(chunk, strip, target);
        });
    }
    cast.fixScales();
    const Range range(names.cast, RangeKind::Kernel, rowWork(rows, cols, 0, 4 + operandBytes(operand)));
    forEachStrip(context, cast, [&](int chunk, std::int64_t strip) {
        cast.castStrip(chunk, strip, scratch + cast.firstRow(strip) * cols);
    });
    cast.finish();
}

// Column sums of what a row kernel produces, collected per thread while it runs.
class BiasGradient {
public:
    BiasGradient(StepContext& context, float* sums, std::int64_t cols)
        : m_context(context), m_sums(sums), m_cols(cols) {
        if (m_sums == nullptr) return;
        for (int chunk = 0; chunk < context.pool.threads(); ++chunk) std::fill_n(partial(chunk), cols, 0.0F);
    }
    void add(int chunk, const float* row) {
        if (m_sums != nullptr) cpu::addTo(partial(chunk), row, m_cols, m_context.isa);
    }
    void finish() {
        if (m_sums != nullptr) reducePartials(m_context, 0, m_cols, m_sums);
    }

private:
    float* partial(int chunk) { return m_context.partials + chunk * m_context.partialsStride; }

    StepContext& m_context;
    float* m_sums;
    std::int64_t m_cols;
};

}  // namespace

void normAndCast(StepContext& context, const float* x, const NormParameters& norm, std::int64_t rows, GemmLayer& layer,
                 float* scratch) {
    const std::int64_t d = layer.in;
    const RangeWork work = rowWork(rows, d, 8, 4 + operandBytes(layer.input));
    if (norm.kind == Norm::RmsNorm) {
        produceAndCast(context, layer.input, rows, scratch, {"rmsnorm+cast", "rmsnorm+amax", "rmsnorm", "cast input"},
                       work, [&](int /*chunk*/, std::int64_t row, float* target) {
                           cpu::rmsNormRow(x + row * d, norm.weight, target, d, norm.epsilon, norm.rstd[row],
                                           context.isa);
                       });
        return;
    }
    produceAndCast(context, layer.input, rows, scratch, {"layernorm+cast", "layernorm+amax", "layernorm", "cast input"},
                   work, [&](int /*chunk*/, std::int64_t row, float* target) {
                       cpu::layerNormRow(x + row * d, norm.weight, norm.bias, target, d, norm.epsilon, norm.mean[row],
                                         norm.rstd[row], context.isa);
                   });
}

void activateAndCast(StepContext& context, Activation activation, const float* hidden, std::int64_t rows,
                     GemmLayer& layer, float* scratch) {
    const std::int64_t f = layer.in;
    const std::int64_t width = isGated(activation) ? 2 * f : f;
    const cpu::Activation kernel = kernelOf(activation);
    produceAndCast(context, layer.input, rows, scratch, forwardNames(activation),
                   rowWork(rows, f, 10, (isGated(activation) ? 8 : 4) + operandBytes(layer.input)),
                   [&](int /*chunk*/, std::int64_t row, float* target) {
                       cpu::activate(kernel, hidden + row * width, target, f, context.isa);
                   });
}

void gradAndCast(StepContext& context, const float* dy, std::int64_t rows, GemmLayer& layer) {
    const std::int64_t cols = layer.out;
    Operand& operand = layer.gradOutput;
    if (operand.type == cpu::Type::F32) operand.data = const_cast<float*>(dy);  // read only from here on
    if (operand.type == cpu::Type::F32 || !context.fused || layer.dBias == nullptr) {
        if (operand.type != cpu::Type::F32 || context.watch.exponents) {
            castOperand(context, operand, dy, rows, "cast grad_output");
        }
        if (layer.dBias != nullptr) {
            columnSums(context, dy, rows, cols, castStripRows(context, operand), layer.dBias);
        }
        return;
    }
    OperandCast cast(context, operand, rows);
    BiasGradient bias(context, layer.dBias, cols);
    const bool measures = cast.needsAmax();
    {
        const Range range(measures ? "dbias+amax" : "dbias+cast", RangeKind::Kernel,
                          rowWork(rows, cols, 1, 4 + operandBytes(operand)));
        forEachStrip(context, cast, [&](int chunk, std::int64_t strip) {
            const float* x = dy + cast.firstRow(strip) * cols;
            for (std::int64_t i = 0; i < cast.rowsOf(strip); ++i) bias.add(chunk, x + i * cols);
            if (measures) {
                cast.measureStrip(chunk, strip, x);
            } else {
                cast.castStrip(chunk, strip, x);
            }
        });
    }
    if (measures) {
        cast.fixScales();
        const Range range("cast grad_output", RangeKind::Kernel, rowWork(rows, cols, 0, 4 + operandBytes(operand)));
        forEachStrip(context, cast, [&](int chunk, std::int64_t strip) {
            cast.castStrip(chunk, strip, dy + cast.firstRow(strip) * cols);
        });
    }
    cast.finish();
    bias.finish();
}

void activationGradAndCast(StepContext& context, Activation activation, const float* hidden, const float* dy,
                           std::int64_t rows, GemmLayer& layer, float* dHidden) {
    const std::int64_t cols = layer.out;
    const std::int64_t f = isGated(activation) ? cols / 2 : cols;
    const cpu::Activation kernel = kernelOf(activation);
    const auto rowKernel = [&](std::int64_t row, float* target) {
        cpu::activateBackward(kernel, hidden + row * cols, dy + row * f, target, f, context.isa);
    };
    if (!context.fused || layer.gradOutput.type == cpu::Type::F32) {
        {
            const Range range(backwardNames(activation).plain, RangeKind::Kernel, rowWork(rows, cols, 14, 12));
            context.pool.run([&](int chunk) {
                const auto [first, last] = context.pool.part(rows, chunk);
                for (std::int64_t row = first; row < last; ++row) rowKernel(row, dHidden + row * cols);
            });
        }
        gradAndCast(context, dHidden, rows, layer);
        return;
    }
    BiasGradient bias(context, layer.dBias, cols);
    produceAndCast(context, layer.gradOutput, rows, dHidden, backwardNames(activation),
                   rowWork(rows, cols, 15, 8 + operandBytes(layer.gradOutput)),
                   [&](int chunk, std::int64_t row, float* target) {
                       rowKernel(row, target);
                       bias.add(chunk, target);
                   });
    bias.finish();
}

void normBackward(StepContext& context, const float* dy, const float* x, const NormParameters& norm, std::int64_t rows,
                  std::int64_t d, float* dx, float* dWeight, float* dBias) {
    const bool rms = norm.kind == Norm::RmsNorm;
    const Range range(rms ? "rmsnorm backward" : "layernorm backward", RangeKind::Kernel, rowWork(rows, d, 14, 16));
    context.pool.run([&](int chunk) {
        float* dWeightPart = context.partials + chunk * context.partialsStride;
        float* dBiasPart = dBias == nullptr ? nullptr : dWeightPart + d;
        std::fill_n(dWeightPart, 2 * d, 0.0F);
        const auto [first, last] = context.pool.part(rows, chunk);
        for (std::int64_t row = first; row < last; ++row) {
            if (rms) {
                cpu::rmsNormRowBackward(dy + row * d, x + row * d, norm.weight, norm.rstd[row], dx + row * d,
                                        dWeightPart, d, context.isa);
            } else {
                cpu::layerNormRowBackward(dy + row * d, x + row * d, norm.weight, norm.mean[row], norm.rstd[row],
                                          dx + row * d, dWeightPart, dBiasPart, d, context.isa);
            }
        }
    });
    reducePartials(context, 0, d, dWeight);
    if (dBias != nullptr) reducePartials(context, d, d, dBias);
}

}  // namespace engine
