// One Linear with its three products and, in FP8, its three quantised operands:
//   fprop  y  = x·Wᵀ   [N][out]   input × weight
//   dgrad  dx = dy·W   [N][in]    grad_output × weight
//   wgrad  dW = dyᵀ·x  [out][in]  grad_output × input
// Operands are kept as they were cast (bytes, BF16 or FP32), each with the scale of that cast.
#pragma once

#include "cpu/kernels.h"
#include "engine/observer.h"
#include "src/scaling.h"

#include <string>
#include <vector>

namespace engine {

enum class Role : std::uint8_t { Input = 0, Weight = 1, GradOutput = 2 };
const char* roleName(Role role);

/// One operand: where it is, how it is stored, and the scale it was cast with (1 unless FP8).
struct Operand {
    void* data = nullptr;
    cpu::Type type = cpu::Type::F32;
    float scale = 1.0F;
    int slot = -1;  // of DelayedScaling and of the run's tensor list; −1 unless FP8
};

struct GemmLayer {
    std::string name;                 // "layer.0.attn.qkv"
    const char* rangeName = nullptr;  // the same, pooled for NVTX
    std::int64_t in = 0;
    std::int64_t out = 0;
    float* weight = nullptr;  // [out][in] master
    float* bias = nullptr;    // [out] or nullptr
    float* dWeight = nullptr;
    float* dBias = nullptr;
    Operand input;          // [N][in], kept until the backward pass
    Operand weightOperand;  // [out][in]
    Operand gradOutput;     // [N][out], in a buffer that all layers share
    bool fp8() const { return input.slot >= 0; }
};

/// What casts of one step saw, per slot.
struct CastRecord {
    bool cast = false;
    float scale = 1.0F;
    cpu::CastStats stats;
};

/// What every operation of a step needs; the trainer owns all of it.
struct StepContext {
    cpu::ThreadPool& pool;
    cpu::Isa isa;
    DelayedScaling* scaling = nullptr;           // nullptr: nothing is in FP8
    std::vector<CastRecord>* records = nullptr;  // nullptr: evaluation; amax is not recorded
    bool counting = false;                       // fill counters too, not only amax
    bool fused = true;
    float* partials = nullptr;  // [threads][partialsStride]
    std::int64_t partialsStride = 0;
};

/// Sets the scale of the next cast of `operand` and, per thread, collects what it saw. Use: begin, then castRow for
/// every row (any thread, its chunk number), then finish.
class OperandCast {
public:
    OperandCast(StepContext& context, Operand& operand, std::int64_t cols);
    /// Row `row` of the operand from `x` [cols].
    void castRow(int chunk, std::int64_t row, const float* x);
    /// Adds the threads' counts in chunk order and records the amax.
    void finish();

private:
    StepContext& m_context;
    Operand& m_operand;
    std::int64_t m_cols;
    std::vector<cpu::CastStats> m_stats;
};

/// Casts a whole [rows][cols] matrix; FP32 operands point at the source instead of copying it.
void castOperand(StepContext& context, Operand& operand, const float* x, std::int64_t rows, std::int64_t cols,
                 const char* rangeName);

/// Casts the weight and computes y = x·Wᵀ + bias (+ y when accumulate).
void forward(StepContext& context, GemmLayer& layer, std::int64_t rows, float* y, bool accumulate);
/// dx = dy·W from the cast grad_output; then dW = dyᵀ·x.
void backward(StepContext& context, GemmLayer& layer, std::int64_t rows, float* dx);

/// dBias[j] = Σ rows x[row][j], summed per thread and then in thread order.
void columnSums(StepContext& context, const float* x, std::int64_t rows, std::int64_t cols, float* sums);
/// Adds the per-thread partial sums (first `cols` floats at `offset` of each thread's part) into `sums`.
void reducePartials(StepContext& context, std::int64_t offset, std::int64_t cols, float* sums);

/// Text that lives as long as the process, one address per content: what NVTX ranges need as names.
const char* pooledName(const std::string& name);

}  // namespace engine
