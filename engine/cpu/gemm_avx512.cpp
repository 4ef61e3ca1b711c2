// Matrix products with AVX-512: 8×32 tiles in sixteen accumulators.
//   Avx512      FP32 FMA; BF16 and FP8 are unpacked to FP32 while packing
//   Avx512Bf16  vdpbf16ps on pairs along k, twice the multiplications per instruction; FP8 is unpacked to BF16
// Packing is in gemm_pack_avx512.h.
#include "cpu/gemm_kernels.h"
#include "cpu/isa.h"

#if AMAXSCOPE_X86

#include "cpu/gemm_pack_avx512.h"

#include <utility>

namespace engine::cpu {

namespace {

using avx512::kPanel;

AMAXSCOPE_BEGIN_AVX512

template <int Rows>
AMAXSCOPE_INLINE void clear(__m512 (&sums)[Rows][2], const float* c, std::int64_t ldc) {
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
        sums[i][0] = sums[i][1] = _mm512_setzero_ps();
        _mm_prefetch(reinterpret_cast<const char*>(c + i * ldc), _MM_HINT_T0);
        _mm_prefetch(reinterpret_cast<const char*>(c + i * ldc + 16), _MM_HINT_T0);
    }
}

template <int Rows>
AMAXSCOPE_INLINE void store(const __m512 (&sums)[Rows][2], float* c, std::int64_t ldc, std::int64_t columns,
                            const GemmEpilogue& epilogue) {
    const __m512 alpha = _mm512_set1_ps(epilogue.alpha);
    const auto lanes = static_cast<std::uint32_t>(avx512::firstLanes(columns));
    const __mmask16 masks[2] = {static_cast<__mmask16>(lanes), static_cast<__mmask16>(lanes >> 16)};
    __m512 bias[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
    if (epilogue.bias != nullptr)
        for (int j = 0; j < 2; ++j) bias[j] = _mm512_maskz_loadu_ps(masks[j], epilogue.bias + 16 * j);
    const bool plain = columns == kPanel && epilogue.bias == nullptr;  // nearly always
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
        for (int j = 0; j < 2; ++j) {
            float* target = c + i * ldc + 16 * j;
            __m512 value = _mm512_mul_ps(sums[i][j], alpha);
            if (plain) {
                if (epilogue.accumulate) value = _mm512_add_ps(value, _mm512_loadu_ps(target));
                _mm512_storeu_ps(target, value);
                continue;
            }
            if (epilogue.accumulate) value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(masks[j], target));
            if (epilogue.bias != nullptr) value = _mm512_add_ps(value, bias[j]);
            _mm512_mask_storeu_ps(target, masks[j], value);
        }
}

template <int Rows>
void microFloat(std::int64_t units, const std::byte* a, std::int64_t aStride, const std::byte* b, float* c,
                std::int64_t ldc, std::int64_t columns, const GemmEpilogue& epilogue) {
    __m512 sums[Rows][2];
    clear(sums, c, ldc);
    for (std::int64_t p = 0; p < units; ++p, a += 4, b += avx512::kPanelUnitBytes) {
        const __m512 b0 = _mm512_load_ps(b);
        const __m512 b1 = _mm512_load_ps(b + 64);
#pragma GCC unroll 8
        for (int i = 0; i < Rows; ++i) {
            const __m512 value = _mm512_set1_ps(*reinterpret_cast<const float*>(a + i * aStride));
            sums[i][0] = _mm512_fmadd_ps(value, b0, sums[i][0]);
            sums[i][1] = _mm512_fmadd_ps(value, b1, sums[i][1]);
        }
    }
    store(sums, c, ldc, columns, epilogue);
}

AMAXSCOPE_END_ISA
AMAXSCOPE_BEGIN_AVX512_BF16

template <int Rows>
void microPair(std::int64_t units, const std::byte* a, std::int64_t aStride, const std::byte* b, float* c,
               std::int64_t ldc, std::int64_t columns, const GemmEpilogue& epilogue) {
    __m512 sums[Rows][2];
    clear(sums, c, ldc);
    for (std::int64_t p = 0; p < units; ++p, a += 4, b += avx512::kPanelUnitBytes) {
        const auto b0 = reinterpret_cast<__m512bh>(_mm512_load_ps(b));
        const auto b1 = reinterpret_cast<__m512bh>(_mm512_load_ps(b + 64));
#pragma GCC unroll 8
        for (int i = 0; i < Rows; ++i) {
            const auto value =
                reinterpret_cast<__m512bh>(_mm512_set1_ps(*reinterpret_cast<const float*>(a + i * aStride)));
            sums[i][0] = _mm512_dpbf16_ps(sums[i][0], value, b0);
            sums[i][1] = _mm512_dpbf16_ps(sums[i][1], value, b1);
        }
    }
    store(sums, c, ldc, columns, epilogue);
}

AMAXSCOPE_END_ISA

GemmKernels makeFloatKernels() {
    GemmKernels kernels{};
    kernels.stripRows = 8;
    kernels.panelColumns = static_cast<int>(kPanel);
    kernels.elementsPerUnit = 1;
    kernels.kBlock = 384;
    [&]<int... I>(std::integer_sequence<int, I...>) {
        ((kernels.micro[I + 1] = microFloat<I + 1>), ...);
    }
    (std::make_integer_sequence<int, 8>{});
    [&]<int... I>(std::integer_sequence<int, I...>) {
        ((kernels.packA[0][I] = avx512::packFloatRows<static_cast<Type>(I + 1), false>), ...);
        ((kernels.packA[1][I] = avx512::packFloatRows<static_cast<Type>(I + 1), true>), ...);
        ((kernels.packB[0][I] = avx512::packFloatPanels<static_cast<Type>(I + 1), false>), ...);
        ((kernels.packB[1][I] = avx512::packFloatPanels<static_cast<Type>(I + 1), true>), ...);
    }
    (std::make_integer_sequence<int, 4>{});
    return kernels;
}

GemmKernels makePairKernels() {
    GemmKernels kernels{};
    kernels.stripRows = 8;
    kernels.panelColumns = static_cast<int>(kPanel);
    kernels.elementsPerUnit = 2;
    kernels.kBlock = 512;
    [&]<int... I>(std::integer_sequence<int, I...>) {
        ((kernels.micro[I + 1] = microPair<I + 1>), ...);
    }
    (std::make_integer_sequence<int, 8>{});
    [&]<int... I>(std::integer_sequence<int, I...>) {
        ((kernels.packA[0][I + 1] = avx512::packPairRows<static_cast<Type>(I + 2), false>), ...);
        ((kernels.packA[1][I + 1] = avx512::packPairRows<static_cast<Type>(I + 2), true>), ...);
        ((kernels.packB[0][I + 1] = avx512::packPairPanels<static_cast<Type>(I + 2), false>), ...);
        ((kernels.packB[1][I + 1] = avx512::packPairPanels<static_cast<Type>(I + 2), true>), ...);
    }
    (std::make_integer_sequence<int, 3>{});
    return kernels;
}

}  // namespace

const GemmKernels& gemmKernelsAvx512() {
    static const GemmKernels kernels = makeFloatKernels();
    return kernels;
}

const GemmKernels& gemmKernelsAvx512Bf16() {
    static const GemmKernels kernels = makePairKernels();
    return kernels;
}

}  // namespace engine::cpu

#endif
