// The fused pieces of Transformer Engine's modules, over strips of rows: each reads its input once and leaves a cast
// operand. With context.fused off the same arithmetic runs as separate passes, to the same bits. Recipes that need a
// tensor's amax before its cast fuse all but the cast.
#pragma once

#include "src/gemm_layer.h"

namespace engine {

struct NormParameters {
    Norm kind;
    float epsilon;
    const float* weight;  // [d]
    const float* bias;    // [d] or nullptr
    float* mean;          // [rows], written forward, read backward; RMSNorm leaves it alone
    float* rstd;          // [rows]
};

/// Norm of x [rows][layer.in] into the layer's input operand. `scratch` [rows][layer.in] serves separate passes.
void normAndCast(StepContext& context, const float* x, const NormParameters& norm, std::int64_t rows, GemmLayer& layer,
                 float* scratch);
/// Activation of hidden [rows][layer.in, twice that if gated] into the layer's input operand. `scratch` as above.
void activateAndCast(StepContext& context, Activation activation, const float* hidden, std::int64_t rows,
                     GemmLayer& layer, float* scratch);

/// dy [rows][layer.out] into the layer's grad_output operand, and its column sums into the bias gradient.
void gradAndCast(StepContext& context, const float* dy, std::int64_t rows, GemmLayer& layer);
/// The same for the gradient through the activation: dy [rows][F] → dHidden [rows][layer.out], which serves separate
/// passes and FP32 operands.
void activationGradAndCast(StepContext& context, Activation activation, const float* hidden, const float* dy,
                           std::int64_t rows, GemmLayer& layer, float* dHidden);

/// dx [rows][d] += gradient through the norm of x; dWeight, dBias [d] as columnSums writes them. dBias may be nullptr.
void normBackward(StepContext& context, const float* dy, const float* x, const NormParameters& norm, std::int64_t rows,
                  std::int64_t d, float* dx, float* dWeight, float* dBias);

}  // namespace engine
