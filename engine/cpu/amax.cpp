// The largest magnitude of an array.
//   Ref     one element at a time
//   Avx2    8 lanes
//   Avx512  16 lanes
// NaN elements are passed over at every level, infinities are not.
#include "cpu/isa.h"
#include "cpu/kernels.h"

#include <cmath>

namespace engine::cpu {

namespace {

float amaxOfRef(const float* x, std::int64_t n) {
    float amax = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const float magnitude = std::fabs(x[i]);
        if (magnitude > amax) amax = magnitude;
    }
    return amax;
}

#if AMAXSCOPE_X86
AMAXSCOPE_BEGIN_AVX2

// max returns its second operand when the first is NaN.
float amaxOfAvx2(const float* x, std::int64_t n) {
    const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF));
    __m256 a = _mm256_setzero_ps();
    __m256 b = _mm256_setzero_ps();
    std::int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        a = _mm256_max_ps(_mm256_and_ps(_mm256_loadu_ps(x + i), magnitude), a);
        b = _mm256_max_ps(_mm256_and_ps(_mm256_loadu_ps(x + i + 8), magnitude), b);
    }
    alignas(32) float lanes[8];
    _mm256_store_ps(lanes, _mm256_max_ps(a, b));
    float amax = amaxOfRef(x + i, n - i);
    for (const float lane : lanes) amax = lane > amax ? lane : amax;
    return amax;
}

AMAXSCOPE_END_ISA
AMAXSCOPE_BEGIN_AVX512

float amaxOfAvx512(const float* x, std::int64_t n) {
    __m512 a = _mm512_setzero_ps();
    __m512 b = _mm512_setzero_ps();
    std::int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        a = _mm512_max_ps(_mm512_abs_ps(_mm512_loadu_ps(x + i)), a);
        b = _mm512_max_ps(_mm512_abs_ps(_mm512_loadu_ps(x + i + 16)), b);
    }
    for (; i < n; i += 16) {
        const auto present = static_cast<__mmask16>(n - i >= 16 ? 0xFFFFU : (1U << (n - i)) - 1U);
        a = _mm512_max_ps(_mm512_abs_ps(_mm512_maskz_loadu_ps(present, x + i)), a);
    }
    alignas(64) float lanes[16];
    _mm512_store_ps(lanes, _mm512_max_ps(a, b));
    float amax = 0;
    for (const float lane : lanes) amax = lane > amax ? lane : amax;
    return amax;
}

AMAXSCOPE_END_ISA
#endif

}  // namespace

float amaxOf(const float* x, std::int64_t n, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return amaxOfAvx512(x, n);
    if (isa >= Isa::Avx2) return amaxOfAvx2(x, n);
#endif
    (void)isa;
    return amaxOfRef(x, n);
}

}  // namespace engine::cpu
