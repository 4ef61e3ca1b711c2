// Matrix products with AVX2 and FMA: 6×16 tiles in twelve accumulators. Every type is unpacked to FP32 while packing,
// which each element goes through once per block and not once per multiplication.
#include "cpu/gemm_kernels.h"
#include "cpu/isa.h"

#if AMAXSCOPE_X86

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace engine::cpu {

namespace {

constexpr std::int64_t kPanel = 16;

/// Decodes single elements; the FP8 table stays in the first-level cache.
template <Type T>
struct Reader {
    const float* table = T == Type::E4M3 || T == Type::E5M2 ? fp8Values(T) : nullptr;

    float operator()(const std::byte* line, std::int64_t index) const {
        if constexpr (T == Type::F32) return reinterpret_cast<const float*>(line)[index];
        if constexpr (T == Type::Bf16)
            return std::bit_cast<float>(static_cast<std::uint32_t>(reinterpret_cast<const std::uint16_t*>(line)[index])
                                        << 16);
        if constexpr (T == Type::E4M3 || T == Type::E5M2)
            return table[static_cast<std::size_t>(static_cast<std::uint8_t>(line[index]))];
    }
};

template <Type T, bool KStrided>
void packRows(const std::byte* source, std::int64_t ld, std::int64_t lines, std::int64_t k, std::byte* packed,
              std::int64_t stride) {
    const Reader<T> read;
    const std::int64_t lineBytes = ld * bytesOf(T);
    if constexpr (KStrided) {
        for (std::int64_t p = 0; p < k; ++p)
            for (std::int64_t i = 0; i < lines; ++i)
                reinterpret_cast<float*>(packed + i * stride)[p] = read(source + p * lineBytes, i);
    } else {
        for (std::int64_t i = 0; i < lines; ++i) {
            auto* row = reinterpret_cast<float*>(packed + i * stride);
            for (std::int64_t p = 0; p < k; ++p) row[p] = read(source + i * lineBytes, p);
        }
    }
}

template <Type T, bool KStrided>
void packPanels(const std::byte* source, std::int64_t ld, std::int64_t lines, std::int64_t k, std::byte* packed,
                std::int64_t stride) {
    const Reader<T> read;
    const std::int64_t lineBytes = ld * bytesOf(T);
    for (std::int64_t j = 0; j < lines; j += kPanel, packed += stride) {
        auto* panel = reinterpret_cast<float*>(packed);
        const std::int64_t width = std::min(kPanel, lines - j);
        if (width < kPanel) std::fill_n(panel, k * kPanel, 0.0F);
        if constexpr (KStrided) {
            for (std::int64_t p = 0; p < k; ++p)
                for (std::int64_t q = 0; q < width; ++q) panel[p * kPanel + q] = read(source + p * lineBytes, j + q);
        } else {
            for (std::int64_t q = 0; q < width; ++q)
                for (std::int64_t p = 0; p < k; ++p) panel[p * kPanel + q] = read(source + (j + q) * lineBytes, p);
        }
    }
}

AMAXSCOPE_BEGIN_AVX2

/// Full tiles go straight to C; narrow ones through a buffer.
AMAXSCOPE_INLINE void storeRow(__m256 low, __m256 high, float* c, std::int64_t columns, const GemmEpilogue& epilogue) {
    const __m256 alpha = _mm256_set1_ps(epilogue.alpha);
    alignas(32) float buffer[kPanel] = {};
    float* target = c;
    if (columns < kPanel) {
        target = buffer;
        if (epilogue.accumulate) std::copy_n(c, columns, buffer);
    }
    low = _mm256_mul_ps(low, alpha);
    high = _mm256_mul_ps(high, alpha);
    if (epilogue.accumulate) {
        low = _mm256_add_ps(low, _mm256_loadu_ps(target));
        high = _mm256_add_ps(high, _mm256_loadu_ps(target + 8));
    }
    if (epilogue.bias != nullptr) {
        alignas(32) float bias[kPanel] = {};
        std::copy_n(epilogue.bias, columns, bias);
        low = _mm256_add_ps(low, _mm256_load_ps(bias));
        high = _mm256_add_ps(high, _mm256_load_ps(bias + 8));
    }
    _mm256_storeu_ps(target, low);
    _mm256_storeu_ps(target + 8, high);
    if (columns < kPanel) std::copy_n(buffer, columns, c);
}

template <int Rows>
void micro(std::int64_t units, const std::byte* a, std::int64_t aStride, const std::byte* b, float* c, std::int64_t ldc,
           std::int64_t columns, const GemmEpilogue& epilogue) {
    __m256 sums[Rows][2];
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) sums[i][0] = sums[i][1] = _mm256_setzero_ps();
    const auto* panel = reinterpret_cast<const float*>(b);
    for (std::int64_t p = 0; p < units; ++p) {
        const __m256 low = _mm256_load_ps(panel);
        const __m256 high = _mm256_load_ps(panel + 8);
#pragma GCC unroll 8
        for (int i = 0; i < Rows; ++i) {
            const __m256 value = _mm256_broadcast_ss(reinterpret_cast<const float*>(a + i * aStride));
            sums[i][0] = _mm256_fmadd_ps(value, low, sums[i][0]);
            sums[i][1] = _mm256_fmadd_ps(value, high, sums[i][1]);
        }
        a += 4;
        panel += kPanel;
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) storeRow(sums[i][0], sums[i][1], c + i * ldc, columns, epilogue);
}

AMAXSCOPE_END_ISA

template <bool KStrided>
void fillPacking(PackFunction (&rows)[4], PackFunction (&panels)[4]) {
    rows[0] = packRows<Type::F32, KStrided>;
    rows[1] = packRows<Type::Bf16, KStrided>;
    rows[2] = packRows<Type::E4M3, KStrided>;
    rows[3] = packRows<Type::E5M2, KStrided>;
    panels[0] = packPanels<Type::F32, KStrided>;
    panels[1] = packPanels<Type::Bf16, KStrided>;
    panels[2] = packPanels<Type::E4M3, KStrided>;
    panels[3] = packPanels<Type::E5M2, KStrided>;
}

GemmKernels makeKernels() {
    GemmKernels kernels{};
    kernels.stripRows = 6;
    kernels.panelColumns = static_cast<int>(kPanel);
    kernels.elementsPerUnit = 1;
    kernels.kBlock = 256;
    [&]<int... I>(std::integer_sequence<int, I...>) {
        ((kernels.micro[I + 1] = micro<I + 1>), ...);
    }
    (std::make_integer_sequence<int, 6>{});
    fillPacking<false>(kernels.packA[0], kernels.packB[0]);
    fillPacking<true>(kernels.packA[1], kernels.packB[1]);
    return kernels;
}

}  // namespace

const GemmKernels& gemmKernelsAvx2() {
    static const GemmKernels kernels = makeKernels();
    return kernels;
}

}  // namespace engine::cpu

#endif
