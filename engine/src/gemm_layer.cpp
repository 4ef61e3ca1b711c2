// The three products of a Linear.
#include "src/gemm_layer.h"

#include "cpu/thread_pool.h"
#include "src/nvtx_ranges.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <set>

namespace engine {

namespace {

const char* gemmName(cpu::Type a, cpu::Type b, const char* low, const char* bf16, const char* fp32) {
    if (a == cpu::Type::F32) return fp32;
    return a == cpu::Type::Bf16 && b == cpu::Type::Bf16 ? bf16 : low;
}

// FLOPs of a product count a multiply and an add; bytes are the operands read once and the result written once.
RangeWork gemmWork(std::int64_t m, std::int64_t n, std::int64_t k, const Operand& a, const Operand& b) {
    const auto product = [](std::int64_t x, std::int64_t y) { return static_cast<double>(x) * static_cast<double>(y); };
    const auto bytes = [](const Operand& operand) { return static_cast<double>(cpu::bytesFor(operand.type, 16)) / 16; };
    return {2.0 * product(m, n) * static_cast<double>(k),
            product(m, k) * bytes(a) + product(k, n) * bytes(b) + product(m, n) * 4.0};
}

struct Factors {
    const Operand& operand;
    Along along;
    std::int64_t rows;
};

// A BF16 operand beside one whose values need FP32.
void widen(StepContext& context, ProductOperand& operand, std::int64_t count, void* scratch) {
    const auto* source = static_cast<const std::uint16_t*>(operand.data);
    auto* target = static_cast<float*>(scratch);
    context.pool.run([&](int chunk) {
        const auto [first, last] = context.pool.part(count, chunk, 16);
        for (std::int64_t i = first; i < last; ++i) {
            target[i] = std::bit_cast<float>(static_cast<std::uint32_t>(source[i]) << 16);
        }
    });
    operand.data = target;
    operand.type = cpu::Type::F32;
}

struct ProductPair {
    ProductOperand a;
    ProductOperand b;
};

ProductPair productPair(StepContext& context, const Factors& a, const Factors& b) {
    const bool both = a.operand.quantised() && b.operand.quantised();
    ProductPair pair{productOperand(context, a.operand, a.along, a.rows, both, context.unpackA),
                     productOperand(context, b.operand, b.along, b.rows, both, context.unpackB)};
    const auto widenOne = [&](ProductOperand& operand, const Factors& factors, void* scratch) {
        if (operand.type == cpu::Type::Bf16) widen(context, operand, factors.rows * factors.operand.cols, scratch);
    };
    if (pair.a.type == cpu::Type::F32) widenOne(pair.b, b, context.unpackB);
    if (pair.b.type == cpu::Type::F32) widenOne(pair.a, a, context.unpackA);
    return pair;
}

void castWeight(StepContext& context, GemmLayer& layer) {
    if (layer.weightIsStored) return;
    if (layer.weightOperand.type == cpu::Type::F32) layer.weightOperand.data = layer.weight;
    const bool needed = layer.weightOperand.type != cpu::Type::F32 || context.watch.exponents;
    // Cached over the micro-batches of a step; an evaluation has none before it.
    if (needed && context.firstMicroBatch) {
        castOperand(context, layer.weightOperand, layer.weight, layer.out, "cast weight");
    }
}

}  // namespace

const char* pooledName(const std::string& name) {
    static std::mutex mutex;
    static std::set<std::string> pool;
    const std::lock_guard lock(mutex);
    return pool.insert(name).first->c_str();
}

void forward(StepContext& context, GemmLayer& layer, std::int64_t rows, float* y, bool accumulate) {
    castWeight(context, layer);
    const auto [x, w] =
        productPair(context, {layer.input, Along::Columns, rows}, {layer.weightOperand, Along::Columns, layer.out});
    {
        const Range range(gemmName(layer.input.type, layer.weightOperand.type, "gemm fp8 fprop", "gemm bf16 fprop",
                                   "gemm fp32 fprop"),
                          RangeKind::Kernel, gemmWork(rows, layer.out, layer.in, layer.input, layer.weightOperand));
        cpu::gemm(context.pool,
                  {rows, layer.out, layer.in, x.data, x.type, layer.in, false, w.data, w.type, layer.in, true, y,
                   layer.out, x.factor * w.factor, accumulate, layer.bias},
                  context.isa);
    }
    observeResult(context, layer.output, y, rows * layer.out);
}

void backward(StepContext& context, GemmLayer& layer, std::int64_t rows, float* dx) {
    {
        const auto [dy, w] = productPair(context, {layer.gradOutput, Along::Columns, rows},
                                         {layer.weightOperand, Along::Rows, layer.out});
        const Range range(gemmName(layer.gradOutput.type, layer.weightOperand.type, "gemm fp8 dgrad", "gemm bf16 dgrad",
                                   "gemm fp32 dgrad"),
                          RangeKind::Kernel,
                          gemmWork(rows, layer.in, layer.out, layer.gradOutput, layer.weightOperand));
        cpu::gemm(context.pool,
                  {rows, layer.in, layer.out, dy.data, dy.type, layer.out, false, w.data, w.type, layer.in, false, dx,
                   layer.in, dy.factor * w.factor, false, nullptr},
                  context.isa);
    }
    observeResult(context, layer.dgrad, dx, rows * layer.in);
    {
        const auto [dy, x] =
            productPair(context, {layer.gradOutput, Along::Rows, rows}, {layer.input, Along::Rows, rows});
        const Range range(
            gemmName(layer.gradOutput.type, layer.input.type, "gemm fp8 wgrad", "gemm bf16 wgrad", "gemm fp32 wgrad"),
            RangeKind::Kernel, gemmWork(layer.out, layer.in, rows, layer.gradOutput, layer.input));
        cpu::gemm(context.pool,
                  {layer.out, layer.in, rows, dy.data, dy.type, layer.out, true, x.data, x.type, layer.in, false,
                   layer.dWeight, layer.in, dy.factor * x.factor, !context.firstMicroBatch, nullptr},
                  context.isa);
    }
    if (context.lastMicroBatch) observeResult(context, layer.wgrad, layer.dWeight, layer.out * layer.in);
}

void reducePartials(StepContext& context, std::int64_t offset, std::int64_t cols, float* sums) {
    if (context.firstMicroBatch) {
        std::memcpy(sums, context.partials + offset, static_cast<std::size_t>(cols) * sizeof(float));
    } else {
        cpu::addTo(sums, context.partials + offset, cols, context.isa);
    }
    for (int thread = 1; thread < context.pool.threads(); ++thread) {
        cpu::addTo(sums, context.partials + thread * context.partialsStride + offset, cols, context.isa);
    }
}

void columnSums(StepContext& context, const float* x, std::int64_t rows, std::int64_t cols, std::int64_t stripRows,
                float* sums) {
    const Range range("dbias", RangeKind::Kernel,
                      {static_cast<double>(rows) * static_cast<double>(cols),
                       4.0 * static_cast<double>(rows) * static_cast<double>(cols)});
    context.pool.run([&](int chunk) {
        float* partial = context.partials + chunk * context.partialsStride;
        std::fill_n(partial, cols, 0.0F);
        const auto [first, last] = context.pool.part(rows, chunk, stripRows);
        for (std::int64_t row = first; row < last; ++row) cpu::addTo(partial, x + row * cols, cols, context.isa);
    });
    reducePartials(context, 0, cols, sums);
}

}  // namespace engine
