// Casts FP32 → FP8 (with amax and, on request, counts) and FP32 → BF16.
//   Ref     the scalar conversions of formats.h, one element at a time
//   Avx2    8 lanes; rounding by adding and subtracting a power of two (cast_avx2.inl)
//   Avx512  16 lanes, 64 codes packed per store, masks for the tail (cast_avx512.inl)
// Codes, amax and counts are the same at every level, bit for bit; the two FP64 sums differ in their order only.
#include "cpu/isa.h"
#include "cpu/kernels.h"
#include "cpu/quantise.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace engine::cpu {

void CastStats::add(const CastStats& other) {
    amax = std::max(amax, other.amax);
    saturated += other.saturated;
    underflowed += other.underflowed;
    zeros += other.zeros;
    nonFinite += other.nonFinite;
    count += other.count;
    sqError += other.sqError;
    sqSignal += other.sqSignal;
    scaleInvMin = std::min(scaleInvMin, other.scaleInvMin);
    scaleInvMax = std::max(scaleInvMax, other.scaleInvMax);
}

namespace {

// ------------------------------------------------------------------------------------------------ Ref

void countOneRef(float x, float scaled, std::uint8_t code, float scaleInverse, Fp8Format format, CastStats& stats) {
    if (std::fabs(scaled) > fp8Limits(format).max) ++stats.saturated;
    if (x == 0) ++stats.zeros;
    if (!std::isfinite(x)) {
        ++stats.nonFinite;
        return;
    }
    if (x != 0 && (code & 0x7F) == 0) ++stats.underflowed;
    // The value that a GEMM sees: the code times the FP32 reciprocal of the scale.
    const float dequantised = decodeFp8(code, format) * scaleInverse;
    const double error = static_cast<double>(x - dequantised);
    stats.sqError += error * error;
    stats.sqSignal += static_cast<double>(x) * static_cast<double>(x);
}

void castFp8Ref(const float* x, std::uint8_t* q, std::int64_t n, float scale, Fp8Format format, bool counting,
                CastStats& stats) {
    const float scaleInverse = 1.0F / scale;
    for (std::int64_t i = 0; i < n; ++i) {
        const float scaled = x[i] * scale;
        q[i] = encodeFp8(scaled, format);
        // No comparison holds for NaN, so it is passed over; libm's fmax would return a signalling one.
        if (std::fabs(x[i]) > stats.amax) stats.amax = std::fabs(x[i]);
        if (counting) countOneRef(x[i], scaled, q[i], scaleInverse, format, stats);
    }
    if (counting) stats.count += n;
}

void castBf16Ref(const float* x, std::uint16_t* q, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) q[i] = encodeBf16(x[i]);
}

}  // namespace
}  // namespace engine::cpu

#if AMAXSCOPE_X86

// ------------------------------------------------------------------------------------------------ Avx2
AMAXSCOPE_BEGIN_AVX2
namespace engine::cpu::avx2 {
namespace {
#include "cpu/quantise_avx2.inl"

#include "cpu/cast_avx2.inl"
}  // namespace
}  // namespace engine::cpu::avx2
AMAXSCOPE_END_ISA

// ------------------------------------------------------------------------------------------------ Avx512
AMAXSCOPE_BEGIN_AVX512
namespace engine::cpu::avx512 {
namespace {
#include "cpu/quantise_avx512.inl"

#include "cpu/cast_avx512.inl"
}  // namespace
}  // namespace engine::cpu::avx512
AMAXSCOPE_END_ISA

#endif

// ------------------------------------------------------------------------------------------------ dispatch
namespace engine::cpu {

void castFp8(const float* x, std::uint8_t* q, std::int64_t n, float scale, Fp8Format format, bool counting,
             CastStats& stats, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::castFp8(x, q, n, scale, format, counting, stats);
    if (isa >= Isa::Avx2) return avx2::castFp8(x, q, n, scale, format, counting, stats);
#endif
    castFp8Ref(x, q, n, scale, format, counting, stats);
}

void castBf16(const float* x, std::uint16_t* q, std::int64_t n, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::castBf16(x, q, n);
    if (isa >= Isa::Avx2) return avx2::castBf16(x, q, n);
#endif
    castBf16Ref(x, q, n);
}

}  // namespace engine::cpu
