// The fused pieces of Transformer Engine's modules, over rows: each reads its input once and leaves a cast operand.
// With context.fused off the same arithmetic runs as separate passes, to the same bits.
#pragma once

#include "src/gemm_layer.h"

namespace engine {

struct NormParameters {
    const float* weight;  // [d]
    const float* bias;    // [d]
    float* mean;          // [rows], written forward, read backward
    float* rstd;          // [rows]
};

/// LayerNorm of x [rows][layer.in] into the layer's input operand. `scratch` [rows][layer.in] serves the unfused path.
void normAndCast(StepContext& context, const float* x, const NormParameters& norm, std::int64_t rows, GemmLayer& layer,
                 float* scratch);
/// GELU of hidden [rows][layer.in] into the layer's input operand. `scratch` as above.
void geluAndCast(StepContext& context, const float* hidden, std::int64_t rows, GemmLayer& layer, float* scratch);

/// dy [rows][layer.out] into the layer's grad_output operand, and its column sums into the bias gradient.
void gradAndCast(StepContext& context, float* dy, std::int64_t rows, GemmLayer& layer);
/// As gradAndCast after dy ← dy·gelu'(hidden), which replaces dy where it has to be kept.
void geluGradAndCast(StepContext& context, const float* hidden, float* dy, std::int64_t rows, GemmLayer& layer);

/// dx [rows][d] += gradient through LayerNorm of x; dWeight, dBias [d] are overwritten.
void normBackward(StepContext& context, const float* dy, const float* x, const NormParameters& norm, std::int64_t rows,
                  std::int64_t d, float* dx, float* dWeight, float* dBias);

}  // namespace engine
