// One Linear with its three products and its three operands:
//   fprop  y  = x·Wᵀ   [N][out]   input × weight
//   dgrad  dx = dy·W   [N][in]    grad_output × weight
//   wgrad  dW = dyᵀ·x  [out][in]  grad_output × input
// Operands are kept as they were cast, each with the scales of that cast.
#pragma once

#include "src/operand_cast.h"

#include <string>

namespace engine {

struct GemmLayer {
    std::string name;                 // "layer.0.attn.qkv"
    const char* rangeName = nullptr;  // the same, pooled for NVTX
    std::int64_t in = 0;
    std::int64_t out = 0;
    float* weight = nullptr;  // [out][in] master; nullptr: the weight operand is all there is
    float* bias = nullptr;    // [out] or nullptr
    float* dWeight = nullptr;
    float* dBias = nullptr;
    Operand input;                // [N][in], kept until the backward pass
    Operand weightOperand;        // [out][in]
    Operand gradOutput;           // [N][out], in a buffer that all layers share
    bool weightIsStored = false;  // the weight operand is the model's weight and is not cast before use
    int output = -1;              // results that are watched, in the run's list of tensors
    int dgrad = -1;
    int wgrad = -1;

    Operand& operand(Role role) {
        return role == Role::Input ? input : role == Role::Weight ? weightOperand : gradOutput;
    }
    const Operand& operand(Role role) const { return const_cast<GemmLayer*>(this)->operand(role); }
};

/// Casts the weight where a step has not done so yet, and computes y = x·Wᵀ + bias (+ y when accumulate).
void forward(StepContext& context, GemmLayer& layer, std::int64_t rows, float* y, bool accumulate);
/// dx = dy·W from the cast grad_output; then dW = dyᵀ·x, added to that of earlier micro-batches.

void backward(StepContext& context, GemmLayer& layer, std::int64_t rows, float* dx);

/// sums[j] = Σ rows x[row][j], per thread and then in thread order; added to those of earlier micro-batches. Threads
/// share the rows out in strips of `stripRows`, as the kernels do that sum while they cast: the sums are bit-equal.
void columnSums(StepContext& context, const float* x, std::int64_t rows, std::int64_t cols, std::int64_t stripRows,
                float* sums);
/// The per-thread partial sums (first `cols` floats at `offset` of each thread's part), as columnSums writes them.
void reducePartials(StepContext& context, std::int64_t offset, std::int64_t cols, float* sums);

/// Text that lives as long as the process, one address per content: what NVTX ranges need as names.
const char* pooledName(const std::string& name);

}  // namespace engine
