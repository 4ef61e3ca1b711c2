// Every CPU kernel, declared once. Each family has its own file: Ref first, then Avx2, then Avx512, and the dispatch
// list last. Ref is plain loops and libm: what the tests compare the others with.
#pragma once

#include "engine/error.h"
#include "engine/formats.h"

#include <cstdint>
#include <limits>
#include <string>

namespace engine::cpu {

class ThreadPool;

/// Ascending: each level includes those below it.
enum class Isa : std::uint8_t { Ref = 0, Avx2 = 1, Avx512 = 2, Avx512Bf16 = 3 };
const char* name(Isa isa);
/// Best level of this machine, lowered by AMAXSCOPE_CPU=ref|avx2|avx512|avx512_bf16. Read once.
Isa activeIsa();
/// Best level of this machine, whatever the environment says.
Isa bestIsa();
/// The implementation each kernel family uses at this level: "gemm=avx512_bf16 quantize=avx512 …".
std::string kernelNames(Isa isa);

/// How a GEMM operand is stored. E2M1 exists with block scales only (block_cast.h) and is unpacked before a product.
enum class Type : std::uint8_t { F32 = 1, Bf16 = 2, E4M3 = 3, E5M2 = 4, E2M1 = 5 };
constexpr std::int64_t bytesOf(Type type) {
    ENGINE_CHECK(type != Type::E2M1, "an E2M1 code is half a byte");
    return type == Type::F32 ? 4 : type == Type::Bf16 ? 2 : 1;
}
/// Of `count` elements side by side.
constexpr std::int64_t bytesFor(Type type, std::int64_t count) {
    return type == Type::E2M1 ? (count + 1) / 2 : count * bytesOf(type);
}

// ---------------------------------------------------------------- gemm.cpp
/// C[m,n] = alpha · A·B (+ C when accumulate) (+ bias over n). FP32 accumulation. A and B are both F32, or any mix of
/// the other three types: those multiply as BF16 (FP8 values are exact in BF16).
struct GemmArgs {
    std::int64_t m, n, k;
    const void* a;  // [m][lda], or [k][lda] when aTransposed
    Type aType;
    std::int64_t lda;
    bool aTransposed;
    const void* b;  // [k][ldb], or [n][ldb] when bTransposed (a Linear weight)
    Type bType;
    std::int64_t ldb;
    bool bTransposed;
    float* c;  // [m][ldc]
    std::int64_t ldc;
    float alpha;
    bool accumulate;
    const float* bias;  // [n] or nullptr
};
/// Splits C over the pool's threads; the sum over k has one fixed order per element, so that the result depends on
/// neither the number of threads nor the split.
void gemm(ThreadPool& pool, const GemmArgs& args, Isa isa);
/// On the calling thread alone; scratch memory is thread-local and kept.
void gemmSerial(const GemmArgs& args, Isa isa);

// ---------------------------------------------------------------- cast.cpp
/// What a cast to FP8 counted; sums over calls.
struct CastStats {
    float amax = 0;  // of the unscaled input: NaN elements are passed over, infinities are not
    std::int64_t saturated = 0;
    std::int64_t underflowed = 0;
    std::int64_t zeros = 0;
    std::int64_t nonFinite = 0;
    std::int64_t count = 0;
    double sqError = 0;   // Σ(x − q/scale)² over finite x
    double sqSignal = 0;  // Σx² over finite x
    // Of block-scaled casts: smallest and largest factor that turns a code back into a value.
    float scaleInvMin = std::numeric_limits<float>::infinity();
    float scaleInvMax = 0;
    void add(const CastStats& other);
};
/// q = saturating round-to-nearest-even cast of x·scale (FP32 product). Fills amax always; the counts and sums only
/// when `counting`.
void castFp8(const float* x, std::uint8_t* q, std::int64_t n, float scale, Fp8Format format, bool counting,
             CastStats& stats, Isa isa);
void castBf16(const float* x, std::uint16_t* q, std::int64_t n, Isa isa);

// ---------------------------------------------------------------- amax.cpp
/// Largest |x|; NaN elements are passed over, infinities are not.
float amaxOf(const float* x, std::int64_t n, Isa isa);

// ---------------------------------------------------------------- exponents.cpp
/// counts[e] += number of elements whose FP32 exponent field is e: a normal x lies in [2^(e−127), 2^(e−126)); 0 holds
/// zeros and subnormals, 255 infinities and NaN. n < 2^31; no count may pass 2^32 − 1. `smallest` becomes the smaller
/// of itself (start with +∞) and the smallest non-zero |x|.
void countExponents(const float* x, std::int64_t n, std::uint32_t* counts, float& smallest, Isa isa);

// ---------------------------------------------------------------- layernorm.cpp
/// One row: y = (x − mean)·rstd·gamma + beta with rstd = 1/√(variance + epsilon). Two passes: mean, then the variance
/// around it. beta may be nullptr: none is added.
void layerNormRow(const float* x, const float* gamma, const float* beta, float* y, std::int64_t d, float epsilon,
                  float& mean, float& rstd, Isa isa);
/// One row: dx += gradient; dgamma, dbeta += this row's share. dbeta may be nullptr.
void layerNormRowBackward(const float* dy, const float* x, const float* gamma, float mean, float rstd, float* dx,
                          float* dgamma, float* dbeta, std::int64_t d, Isa isa);

// ---------------------------------------------------------------- rmsnorm.cpp
/// One row: y = x·rstd·gamma with rstd = 1/√(mean(x²) + epsilon). Squares are summed in FP64, so that any finite x will
/// do; a row of zeros needs epsilon > 0.
void rmsNormRow(const float* x, const float* gamma, float* y, std::int64_t d, float epsilon, float& rstd, Isa isa);
/// One row: dx += gradient; dgamma += this row's share.
void rmsNormRowBackward(const float* dy, const float* x, const float* gamma, float rstd, float* dx, float* dgamma,
                        std::int64_t d, Isa isa);

// ---------------------------------------------------------------- activation.cpp
/// Gelu is the tanh form: 0.5·x·(1 + tanh(√(2/π)(x + 0.044715·x³))). Silu: x/(1 + e^−x).
/// Gated kinds read twice as many inputs as they give outputs: act(first half) · second half.
enum class Activation : std::uint8_t { Gelu, Relu, Silu, GeGlu, ReGlu, SwiGlu };
constexpr bool isGated(Activation kind) {
    return kind >= Activation::GeGlu;
}
/// One row of n outputs: y[n] from x[n], or x[2n] for a gated kind. NaN stays NaN; activations of −∞ are 0, their
/// limit.
void activate(Activation kind, const float* x, float* y, std::int64_t n, Isa isa);
/// dx = dy[n] · derivative, of the size of x. Slopes at ±∞ are their limits; that of Relu at 0 is 0. An infinite dy
/// never vanishes. dx may be dy where the kind is not gated.
void activateBackward(Activation kind, const float* x, const float* dy, float* dx, std::int64_t n, Isa isa);

// ---------------------------------------------------------------- pointwise.cpp
void addTo(float* y, const float* x, std::int64_t n, Isa isa);  // y += x
void scaleBy(float* y, float factor, std::int64_t n, Isa isa);  // y *= factor
double sumOfSquares(const float* x, std::int64_t n, Isa isa);   // FP64 sum of FP32 squares
/// e^x for x ≤ 0 (and small positive x); relative error below 4e-7. −inf gives 0.
void expOf(const float* x, float* y, std::int64_t n, Isa isa);

// ---------------------------------------------------------------- loss.cpp
/// One row of logits: returns −log softmax[target] and replaces the row by (softmax − onehot)·gradScale.
/// gradScale 0 leaves the row alone (validation).
double crossEntropyRow(float* logits, std::int64_t vocab, int target, float gradScale, Isa isa);

// ---------------------------------------------------------------- attention.cpp
/// Causal self-attention over packed QKV rows; scores are scaled by 1/√headDim. Grouped-query: head i reads keys and
/// values of group i/(heads/kvHeads); heads is a multiple of kvHeads ≥ 1. kvHeads = heads gives each head its own.
struct AttentionArgs {
    std::int64_t batch, seqLen, heads, kvHeads, headDim;
    const float* qkv;  // [batch·seqLen][(heads + 2·kvHeads)·headDim]: q of all heads, then k, then v of all groups
    float* probabilities;  // [batch][heads][seqLen][seqLen], kept for the backward pass; zero above the diagonal
    float* out;            // [batch·seqLen][heads·headDim]
};
void attentionForward(ThreadPool& pool, const AttentionArgs& args, Isa isa);
/// dK and dV of a group are summed over its heads in their order, on one thread: the result does not depend on the
/// pool.
struct AttentionBackwardArgs {
    std::int64_t batch, seqLen, heads, kvHeads, headDim;
    const float* qkv;
    const float* probabilities;
    const float* dOut;  // [batch·seqLen][heads·headDim]
    float* dQkv;        // [batch·seqLen][(heads + 2·kvHeads)·headDim], overwritten
};
void attentionBackward(ThreadPool& pool, const AttentionBackwardArgs& args, Isa isa);

// ---------------------------------------------------------------- rotary.cpp
/// cosSin [seqLen][headDim]: per position the cosines of its headDim/2 angles, then their sines, computed in FP64.
/// Angle i is position · theta^(−2i/headDim). headDim is even.
void rotaryTable(float* cosSin, std::int64_t seqLen, std::int64_t headDim, double theta);
struct RotaryArgs {
    std::int64_t seqLen;     // the position of token t is t % seqLen
    std::int64_t rowStride;  // of x
    std::int64_t heads, headDim;
    const float* table;  // of rotaryTable() for the same headDim and at least seqLen positions
    bool inverse;        // turns back: the backward pass
};
/// In place: turns tokens [firstToken, lastToken) of x [tokens][rowStride], whose rows begin with heads·headDim
/// elements to be turned. Element i and i + headDim/2 of a head are a pair (not interleaved). Packed QKV rows: heads +
/// kvHeads turns q and k in one call.
void rotateHeads(float* x, std::int64_t firstToken, std::int64_t lastToken, const RotaryArgs& args, Isa isa);

// ---------------------------------------------------------------- adamw.cpp
struct AdamWArgs {
    float lr, beta1, beta2, epsilon, weightDecay;
    float correction1, correction2;  // 1/(1 − beta1^t), 1/(1 − beta2^t)
    float gradScale;                 // clipping factor, multiplied into g
};
/// Decoupled weight decay: w −= lr·(m̂/(√v̂ + ε) + weightDecay·w).
void adamW(float* w, const float* g, float* m, float* v, std::int64_t n, const AdamWArgs& args, Isa isa);

}  // namespace engine::cpu
