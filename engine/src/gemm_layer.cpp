// Casting operands and the three products of a Linear.
#include "src/gemm_layer.h"

#include "cpu/thread_pool.h"
#include "engine/error.h"
#include "src/nvtx_ranges.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

namespace engine {

namespace {

Fp8Format formatOf(cpu::Type type) {
    return type == cpu::Type::E5M2 ? Fp8Format::E5M2 : Fp8Format::E4M3;
}

const char* gemmName(const GemmLayer& layer, const char* fp8, const char* bf16, const char* fp32) {
    switch (layer.input.type) {
        case cpu::Type::F32:
            return fp32;
        case cpu::Type::Bf16:
            return bf16;
        default:
            return fp8;
    }
}

// FLOPs of a product count a multiply and an add; bytes are the operands read once and the result written once.
RangeWork gemmWork(std::int64_t m, std::int64_t n, std::int64_t k, cpu::Type a, cpu::Type b) {
    const auto product = [](std::int64_t x, std::int64_t y) { return static_cast<double>(x) * static_cast<double>(y); };
    return {2.0 * product(m, n) * static_cast<double>(k), product(m, k) * static_cast<double>(cpu::bytesOf(a)) +
                                                              product(k, n) * static_cast<double>(cpu::bytesOf(b)) +
                                                              product(m, n) * 4.0};
}

}  // namespace

const char* roleName(Role role) {
    return role == Role::Input ? "input" : role == Role::Weight ? "weight" : "grad_output";
}

const char* pooledName(const std::string& name) {
    static std::mutex mutex;
    static std::set<std::string> pool;
    const std::lock_guard lock(mutex);
    return pool.insert(name).first->c_str();
}

OperandCast::OperandCast(StepContext& context, Operand& operand, std::int64_t cols)
    : m_context(context), m_operand(operand), m_cols(cols), m_stats(static_cast<std::size_t>(context.pool.threads())) {
    m_operand.scale = operand.slot >= 0 ? context.scaling->scale(operand.slot) : 1.0F;
}

void OperandCast::castRow(int chunk, std::int64_t row, const float* x) {
    auto* target = static_cast<std::uint8_t*>(m_operand.data) + row * m_cols * cpu::bytesOf(m_operand.type);
    switch (m_operand.type) {
        case cpu::Type::F32:
            if (reinterpret_cast<const float*>(target) != x) {
                std::memcpy(target, x, static_cast<std::size_t>(m_cols) * sizeof(float));
            }
            break;
        case cpu::Type::Bf16:
            cpu::castBf16(x, reinterpret_cast<std::uint16_t*>(target), m_cols, m_context.isa);
            break;
        default:
            cpu::castFp8(x, target, m_cols, m_operand.scale, formatOf(m_operand.type),
                         m_context.counting && m_context.records != nullptr, m_stats[static_cast<std::size_t>(chunk)],
                         m_context.isa);
    }
}

void OperandCast::finish() {
    if (m_operand.slot < 0 || m_context.records == nullptr) return;
    CastRecord& record = (*m_context.records)[static_cast<std::size_t>(m_operand.slot)];
    record.cast = true;
    record.scale = m_operand.scale;
    for (const cpu::CastStats& stats : m_stats) record.stats.add(stats);
    m_context.scaling->record(m_operand.slot, record.stats.amax);
}

void castOperand(StepContext& context, Operand& operand, const float* x, std::int64_t rows, std::int64_t cols,
                 const char* rangeName) {
    const double elements = static_cast<double>(rows) * static_cast<double>(cols);
    const Range range(rangeName, RangeKind::Kernel,
                      {0, elements * (4.0 + static_cast<double>(cpu::bytesOf(operand.type)))});
    OperandCast cast(context, operand, cols);
    context.pool.run([&](int chunk) {
        const auto [first, last] = context.pool.part(rows, chunk);
        for (std::int64_t row = first; row < last; ++row) cast.castRow(chunk, row, x + row * cols);
    });
    cast.finish();
}

void forward(StepContext& context, GemmLayer& layer, std::int64_t rows, float* y, bool accumulate) {
    if (layer.weightOperand.type == cpu::Type::F32) {
        layer.weightOperand.data = layer.weight;
    } else {
        castOperand(context, layer.weightOperand, layer.weight, layer.out, layer.in, "cast weight");
    }
    const Range range(gemmName(layer, "gemm fp8 fprop", "gemm bf16 fprop", "gemm fp32 fprop"), RangeKind::Kernel,
                      gemmWork(rows, layer.out, layer.in, layer.input.type, layer.weightOperand.type));
    const float alpha = (1.0F / layer.input.scale) * (1.0F / layer.weightOperand.scale);
    cpu::gemm(context.pool,
              {rows, layer.out, layer.in, layer.input.data, layer.input.type, layer.in, false, layer.weightOperand.data,
               layer.weightOperand.type, layer.in, true, y, layer.out, alpha, accumulate, layer.bias},
              context.isa);
}

void backward(StepContext& context, GemmLayer& layer, std::int64_t rows, float* dx) {
    const float gradInverse = 1.0F / layer.gradOutput.scale;
    {
        const Range range(gemmName(layer, "gemm fp8 dgrad", "gemm bf16 dgrad", "gemm fp32 dgrad"), RangeKind::Kernel,
                          gemmWork(rows, layer.in, layer.out, layer.gradOutput.type, layer.weightOperand.type));
        cpu::gemm(context.pool,
                  {rows, layer.in, layer.out, layer.gradOutput.data, layer.gradOutput.type, layer.out, false,
                   layer.weightOperand.data, layer.weightOperand.type, layer.in, false, dx, layer.in,
                   gradInverse * (1.0F / layer.weightOperand.scale), false, nullptr},
                  context.isa);
    }
    const Range range(gemmName(layer, "gemm fp8 wgrad", "gemm bf16 wgrad", "gemm fp32 wgrad"), RangeKind::Kernel,
                      gemmWork(layer.out, layer.in, rows, layer.gradOutput.type, layer.input.type));
    cpu::gemm(context.pool,
              {layer.out, layer.in, rows, layer.gradOutput.data, layer.gradOutput.type, layer.out, true,
               layer.input.data, layer.input.type, layer.in, false, layer.dWeight, layer.in,
               gradInverse * (1.0F / layer.input.scale), false, nullptr},
              context.isa);
}

void reducePartials(StepContext& context, std::int64_t offset, std::int64_t cols, float* sums) {
    std::memcpy(sums, context.partials + offset, static_cast<std::size_t>(cols) * sizeof(float));
    for (int thread = 1; thread < context.pool.threads(); ++thread) {
        cpu::addTo(sums, context.partials + thread * context.partialsStride + offset, cols, context.isa);
    }
}

void columnSums(StepContext& context, const float* x, std::int64_t rows, std::int64_t cols, float* sums) {
    const Range range("dbias", RangeKind::Kernel,
                      {static_cast<double>(rows) * static_cast<double>(cols),
                       4.0 * static_cast<double>(rows) * static_cast<double>(cols)});
    context.pool.run([&](int chunk) {
        float* partial = context.partials + chunk * context.partialsStride;
        std::fill_n(partial, cols, 0.0F);
        const auto [first, last] = context.pool.part(rows, chunk);
        for (std::int64_t row = first; row < last; ++row) cpu::addTo(partial, x + row * cols, cols, context.isa);
    });
    reducePartials(context, 0, cols, sums);
}

}  // namespace engine
