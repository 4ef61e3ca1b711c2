// Packing of GEMM operands with AVX-512 (F, BW, VL, DQ, VBMI); included by gemm_avx512.cpp alone. FP8 values are exact
// in BF16 and looked up (fp8_table_avx512.h).
//
// There are two ways through memory. Where k is contiguous, sixteen lines are loaded and, for B, transposed; where k
// goes from line to line, neighbouring lines are interleaved and, for A, transposed.
#pragma once

#include "cpu/fp8_table_avx512.h"
#include "cpu/gemm_kernels.h"
#include "cpu/isa.h"

#include <algorithm>
#include <type_traits>

namespace engine::cpu::avx512 {

inline constexpr std::int64_t kPanel = 32;
inline constexpr std::int64_t kPanelUnitBytes = kPanel * 4;

AMAXSCOPE_BEGIN_AVX512

/// The first n of 16, 32 or 64 lanes; n may be negative or too large.
AMAXSCOPE_INLINE std::uint64_t firstLanes(std::int64_t n) {
    return n >= 64 ? ~std::uint64_t{0} : n <= 0 ? 0 : (std::uint64_t{1} << n) - 1;
}

/// Nothing to look up for the wider types.
struct NoTable {
    AMAXSCOPE_INLINE explicit NoTable(Type) {}
};
template <Type T>
using TableFor = std::conditional_t<bytesOf(T) == 1, Fp8Table, NoTable>;

/// 16×16 units in place.
AMAXSCOPE_INLINE void transpose(__m512i (&r)[16]) {
    __m512i t[16];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
        t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        r[4 * i] = _mm512_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
        r[4 * i + 1] = _mm512_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
        r[4 * i + 2] = _mm512_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
        r[4 * i + 3] = _mm512_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        t[i] = _mm512_shuffle_i32x4(r[i], r[4 + i], 0x88);
        t[4 + i] = _mm512_shuffle_i32x4(r[i], r[4 + i], 0xDD);
        t[8 + i] = _mm512_shuffle_i32x4(r[8 + i], r[12 + i], 0x88);
        t[12 + i] = _mm512_shuffle_i32x4(r[8 + i], r[12 + i], 0xDD);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
        r[i] = _mm512_shuffle_i32x4(t[i], t[8 + i], 0x88);
        r[8 + i] = _mm512_shuffle_i32x4(t[i], t[8 + i], 0xDD);
    }
}

AMAXSCOPE_INLINE void storeLines(const __m512i (&r)[16], std::byte* target, std::int64_t step, std::int64_t count) {
    if (count >= 16) {
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) _mm512_storeu_si512(target + i * step, r[i]);
    } else {
        for (std::int64_t i = 0; i < count; ++i) _mm512_storeu_si512(target + i * step, r[i]);
    }
}

// ---------------------------------------------------------------- units of one float

/// 16 elements as floats; lanes from `count` on are zero.
template <Type T>
AMAXSCOPE_INLINE __m512i loadFloats(const TableFor<T>& table, const std::byte* source, std::int64_t count) {
    const auto lanes = static_cast<__mmask16>(firstLanes(count));
    if constexpr (T == Type::F32) {
        return _mm512_maskz_loadu_epi32(lanes, source);
    } else if constexpr (T == Type::Bf16) {
        return _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, source)), 16);
    } else {
        const __m512i codes = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(lanes, source));
        const __m512i upper = _mm512_or_si512(_mm512_slli_epi32(codes, 16), _mm512_slli_epi32(codes, 24));
        const __m512i bytes = _mm512_mask_blend_epi8(0x8888888888888888ULL, table.low(upper), table.high(upper));
        return _mm512_and_si512(bytes, _mm512_set1_epi32(static_cast<int>(0xFFFF0000U)));
    }
}

template <Type T, bool KStrided>
void packFloatRows(const std::byte* source, std::int64_t ld, std::int64_t lines, std::int64_t k, std::byte* packed,
                   std::int64_t stride) {
    const TableFor<T> table(T);
    const std::int64_t size = bytesOf(T);
    if constexpr (KStrided) {
        for (std::int64_t i = 0; i < lines; i += 16)
            for (std::int64_t p = 0; p < k; p += 16) {
                __m512i r[16];
                for (int q = 0; q < 16; ++q)
                    r[q] = p + q < k ? loadFloats<T>(table, source + ((p + q) * ld + i) * size, lines - i)
                                     : _mm512_setzero_si512();
                transpose(r);
                storeLines(r, packed + i * stride + p * 4, stride, lines - i);
            }
    } else {
        for (std::int64_t i = 0; i < lines; ++i)
            for (std::int64_t p = 0; p < k; p += 16)
                _mm512_storeu_si512(packed + i * stride + p * 4,
                                    loadFloats<T>(table, source + (i * ld + p) * size, k - p));
    }
}

template <Type T, bool KStrided>
void packFloatPanels(const std::byte* source, std::int64_t ld, std::int64_t lines, std::int64_t k, std::byte* packed,
                     std::int64_t stride) {
    const TableFor<T> table(T);
    const std::int64_t size = bytesOf(T);
    const std::int64_t columns = (lines + kPanel - 1) / kPanel * kPanel;
    const auto group = [&](std::int64_t j) { return packed + j / kPanel * stride + j % kPanel * 4; };
    if constexpr (KStrided) {
        for (std::int64_t p = 0; p < k; ++p)
            for (std::int64_t j = 0; j < columns; j += 16)
                _mm512_store_si512(group(j) + p * kPanelUnitBytes,
                                   loadFloats<T>(table, source + (p * ld + j) * size, lines - j));
    } else {
        for (std::int64_t j = 0; j < columns; j += 16)
            for (std::int64_t p = 0; p < k; p += 16) {
                __m512i r[16];
                for (int q = 0; q < 16; ++q)
                    r[q] = j + q < lines ? loadFloats<T>(table, source + ((j + q) * ld + p) * size, k - p)
                                         : _mm512_setzero_si512();
                transpose(r);
                storeLines(r, group(j) + p * kPanelUnitBytes, kPanelUnitBytes, k - p);
            }
    }
}

// ---------------------------------------------------------------- units of two BF16

/// One line of `count` elements as BF16, written in whole vectors of 64 elements, zero past the end.
template <Type T>
AMAXSCOPE_INLINE void convertLine(const TableFor<T>& table, const std::byte* source, std::int64_t count,
                                  std::byte* target) {
    for (std::int64_t i = 0; i < count; i += 64, target += 128) {
        if constexpr (T == Type::Bf16) {
            const std::uint64_t lanes = firstLanes(count - i);
            _mm512_storeu_si512(target, _mm512_maskz_loadu_epi16(static_cast<__mmask32>(lanes), source + i * 2));
            _mm512_storeu_si512(target + 64,
                                _mm512_maskz_loadu_epi16(static_cast<__mmask32>(lanes >> 32), source + i * 2 + 64));
        } else {
            const __m512i inOrder = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
            const __m512i codes =
                _mm512_permutexvar_epi64(inOrder, _mm512_maskz_loadu_epi8(firstLanes(count - i), source + i));
            const __m512i low = table.low(codes);
            const __m512i high = table.high(codes);
            _mm512_storeu_si512(target, _mm512_unpacklo_epi8(low, high));
            _mm512_storeu_si512(target + 64, _mm512_unpackhi_epi8(low, high));
        }
    }
}

/// Two lines of `count` ≤ 64 elements side by side as units, in four vectors of 16; zero past the end. `second` may be
/// absent (odd k).
template <Type T>
AMAXSCOPE_INLINE void interleave(const TableFor<T>& table, const std::byte* first, const std::byte* second,
                                 std::int64_t count, __m512i (&units)[4]) {
    const std::uint64_t lanes = firstLanes(count);
    const std::uint64_t secondLanes = second != nullptr ? lanes : 0;
    if (second == nullptr) second = first;
    if constexpr (T == Type::Bf16) {
        const __m512i inOrder = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
            const auto mask = static_cast<__mmask32>(lanes >> (32 * half));
            const auto secondMask = static_cast<__mmask32>(secondLanes >> (32 * half));
            const __m512i x = _mm512_permutexvar_epi64(inOrder, _mm512_maskz_loadu_epi16(mask, first + 64 * half));
            const __m512i y =
                _mm512_permutexvar_epi64(inOrder, _mm512_maskz_loadu_epi16(secondMask, second + 64 * half));
            units[2 * half] = _mm512_unpacklo_epi16(x, y);
            units[2 * half + 1] = _mm512_unpackhi_epi16(x, y);
        }
    } else {
        const __m512i inOrder = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        const __m512i x = _mm512_permutexvar_epi32(inOrder, _mm512_maskz_loadu_epi8(lanes, first));
        const __m512i y = _mm512_permutexvar_epi32(inOrder, _mm512_maskz_loadu_epi8(secondLanes, second));
        const __m512i xLow = table.low(x);
        const __m512i xHigh = table.high(x);
        const __m512i yLow = table.low(y);
        const __m512i yHigh = table.high(y);
        const __m512i x0 = _mm512_unpacklo_epi8(xLow, xHigh);
        const __m512i x1 = _mm512_unpackhi_epi8(xLow, xHigh);
        const __m512i y0 = _mm512_unpacklo_epi8(yLow, yHigh);
        const __m512i y1 = _mm512_unpackhi_epi8(yLow, yHigh);
        units[0] = _mm512_unpacklo_epi16(x0, y0);
        units[1] = _mm512_unpackhi_epi16(x0, y0);
        units[2] = _mm512_unpacklo_epi16(x1, y1);
        units[3] = _mm512_unpackhi_epi16(x1, y1);
    }
}

template <Type T, bool KStrided>
void packPairRows(const std::byte* source, std::int64_t ld, std::int64_t lines, std::int64_t k, std::byte* packed,
                  std::int64_t stride) {
    const TableFor<T> table(T);
    const std::int64_t size = bytesOf(T);
    if constexpr (KStrided) {
        for (std::int64_t i = 0; i < lines; i += 64)
            for (std::int64_t p = 0; p < k; p += 32) {
                __m512i r[4][16];
                for (int q = 0; q < 16; ++q) {
                    __m512i units[4] = {};
                    const std::int64_t line = p + 2 * q;
                    const std::byte* first = source + (line * ld + i) * size;
                    if (line < k)
                        interleave<T>(table, first, line + 1 < k ? first + ld * size : nullptr, lines - i, units);
                    for (int g = 0; g < 4; ++g) r[g][q] = units[g];
                }
                for (int g = 0; g < 4; ++g) {
                    if (i + 16 * g >= lines) break;
                    transpose(r[g]);
                    storeLines(r[g], packed + (i + 16 * g) * stride + p * 2, stride, lines - i - 16 * g);
                }
            }
    } else {
        // Ascending: what a line writes past its end is overwritten by the next one.
        for (std::int64_t i = 0; i < lines; ++i) convertLine<T>(table, source + i * ld * size, k, packed + i * stride);
    }
}

template <Type T, bool KStrided>
void packPairPanels(const std::byte* source, std::int64_t ld, std::int64_t lines, std::int64_t k, std::byte* packed,
                    std::int64_t stride) {
    const TableFor<T> table(T);
    const std::int64_t size = bytesOf(T);
    const auto group = [&](std::int64_t j) { return packed + j / kPanel * stride + j % kPanel * 4; };
    if constexpr (KStrided) {
        for (std::int64_t p = 0; p < k; p += 2)
            for (std::int64_t j = 0; j < lines; j += kPackedColumnStep) {
                const std::byte* first = source + (p * ld + j) * size;
                __m512i units[4];
                interleave<T>(table, first, p + 1 < k ? first + ld * size : nullptr, lines - j, units);
#pragma GCC unroll 4
                for (int g = 0; g < 4; ++g) _mm512_store_si512(group(j + 16 * g) + p / 2 * kPanelUnitBytes, units[g]);
            }
    } else {
        alignas(64) std::byte lineBuffer[16][128];
        const std::int64_t units = (k + 1) / 2;
        for (std::int64_t j = 0; j < (lines + kPanel - 1) / kPanel * kPanel; j += 16)
            for (std::int64_t p = 0; p < k; p += 64) {
                const std::int64_t filled = std::clamp<std::int64_t>(lines - j, 0, 16);
                for (std::int64_t q = 0; q < filled; ++q)
                    convertLine<T>(table, source + ((j + q) * ld + p) * size, std::min<std::int64_t>(64, k - p),
                                   lineBuffer[q]);
                for (std::int64_t q = filled; q < 16; ++q) std::fill_n(lineBuffer[q], 128, std::byte{0});
                for (int half = 0; half < 2; ++half) {
                    __m512i r[16];
                    for (int q = 0; q < 16; ++q) r[q] = _mm512_load_si512(lineBuffer[q] + 64 * half);
                    transpose(r);
                    const std::int64_t unit = p / 2 + 16 * half;
                    storeLines(r, group(j) + unit * kPanelUnitBytes, kPanelUnitBytes, units - unit);
                }
            }
    }
}

AMAXSCOPE_END_ISA

}  // namespace engine::cpu::avx512
