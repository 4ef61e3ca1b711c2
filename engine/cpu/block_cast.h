// Casts with one scale per block of elements (block scaling, MXFP8, NVFP4), the way back to the values that a GEMM
// multiplies, and the Hadamard transform that NVFP4 puts before one of its casts. Semantics are Transformer Engine's,
// to the bit; the recipes that choose among these live in engine/src.
#pragma once

#include "cpu/kernels.h"

#include <cstdint>

namespace engine::cpu {

/// How the scale of a block is stored, which also says how it is computed:
///   E8M0  amax · fl32(1/max) rounded up to a power of two; a byte (MXFP8)
///   F32   1/scale with scale = max/amax; a float (block scaling)
///   E4M3  amax · fl32(globalEncode · fl32(1/6)) rounded to E4M3; a byte (NVFP4)
enum class BlockScale : std::uint8_t { E8M0 = 1, F32 = 2, E4M3 = 3 };

struct BlockCast {
    Type type = Type::E4M3;  // E4M3 or E5M2 with E8M0 or F32 scales, E2M1 with E4M3 scales
    std::int64_t blockRows = 1;
    std::int64_t blockCols = 32;  // 1, or a power of two from 16 on
    BlockScale scaleType = BlockScale::E8M0;
    bool powerOfTwo = true;      // F32 scales: the mantissa of the scale is cleared (rounds it down)
    float amaxEpsilon = 0;       // F32 scales: a smaller amax counts as this
    float globalEncode = 1;      // E4M3 scales: globalEncodeScale() of the tensor
    bool stochastic = false;     // E2M1: up with a probability that makes the mean right, else to nearest even
    std::uint64_t noiseKey = 0;  // the random bits of an element depend on this and on row·cols + col alone
};

/// NVFP4's scale of a whole tensor: min(448·6/amax, largest float); 1 where amax is 0 or infinite.
float globalEncodeScale(float amax);

/// Quantises rows [firstRow, firstRow + rows) of a [tensorRows][cols] tensor. `x` points at the first of them.
/// `codes` and `scales` point at the start of the tensor's arrays:
///   codes   [tensorRows][cols] bytes; E2M1 [tensorRows][cols/2], two codes a byte, the first in the low half
///   scales  [⌈tensorRows/blockRows⌉][⌈cols/blockCols⌉], bytes or floats by scaleType
/// firstRow is a multiple of blockRows. Blocks at the bottom and the right edge are what is left of them; only the
/// tensor's last rows may form a shorter strip, so every other part has a multiple of blockRows. E2M1 takes even cols.
/// Each part is independent of the others: any split over threads gives the same bytes.
///
/// An element's code is the saturating cast of x·scale (FP32 product), scale being 2^(127−e), the FP32 scale, or
/// min(1/(float(byte)·fl32(1/globalEncode)), largest float). NaN elements are passed over by amax, infinities are not:
/// they make E8M0 254, F32 scales 1, E4M3 scales 448. A block of zeros gets E8M0 0, F32 1, E4M3 0.
///
/// `stats`: amax, scaleInvMin and scaleInvMax always, the counts and sums only when `counting`. An element reads back
/// as code value · stored scale · fl32(1/globalEncode), from the left. saturated: |x·scale| above the largest value of
/// the type, unless the block's stored scale is 0 (amax too small for NVFP4); underflowed: finite, not zero, but reads
/// back as ±0 through its code or through a scale of 0.
void castBlocks(const BlockCast& cast, const float* x, std::int64_t firstRow, std::int64_t rows, std::int64_t cols,
                void* codes, void* scales, bool counting, CastStats& stats, Isa isa);

/// Whether code value · stored scale always fits BF16: true but for F32 scales that are no powers of two. An 8-bit
/// value has at most four significant bits, E2M1 · E4M3 at most six; only below 2^-126, where vdpbf16ps takes BF16 for
/// zero anyway, can it lose bits.
bool exactInBf16(const BlockCast& cast);

/// Code value · stored scale of rows [firstRow, firstRow + rows), any of the tensor's. `codes` and `scales` as above,
/// `target` points at the first of these rows. globalEncode plays no part: the caller puts its inverse into the
/// product's alpha. Above the range comes ±infinity, below 2^-126 the nearest subnormal (ties to even); NaN keeps the
/// sign of its code. The BF16 form needs exactInBf16().
void unpackBlocksBf16(const BlockCast& cast, const void* codes, const void* scales, std::int64_t firstRow,
                      std::int64_t rows, std::int64_t cols, std::uint16_t* target, Isa isa);
void unpackBlocksF32(const BlockCast& cast, const void* codes, const void* scales, std::int64_t firstRow,
                     std::int64_t rows, std::int64_t cols, float* target, Isa isa);

/// Transformer Engine's signs for the wgrad operands of NVFP4.
inline constexpr int kHadamardSize = 16;
inline constexpr float kHadamardSigns[kHadamardSize] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};

/// Replaces each 16 consecutive rows, column by column, by H·diag(kHadamardSigns)·x, H the 16-point Hadamard matrix in
/// Sylvester's order over 4 (orthonormal). FP32, one order of additions at every level. `rows` is a multiple of 16;
/// y may be x.
void hadamard16Rows(const float* x, float* y, std::int64_t rows, std::int64_t cols, Isa isa);

}  // namespace engine::cpu
