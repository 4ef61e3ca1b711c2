// FP8 codes to BF16 with AVX-512 VBMI: a 128-entry table by magnitude gives both bytes of a value (vpermi2b), the sign
// is carried over.
#pragma once

#include "cpu/gemm_kernels.h"
#include "cpu/isa.h"

#if AMAXSCOPE_X86

#include <bit>
#include <cmath>

namespace engine::cpu::avx512 {

/// BF16 patterns of the 128 magnitudes of an FP8 format, low and high bytes apart.
struct alignas(64) Fp8Bytes {
    std::uint8_t low[128];
    std::uint8_t high[128];
};

inline const Fp8Bytes& fp8Bytes(Type type) {
    const auto make = [](Type format) {
        Fp8Bytes bytes{};
        const float* values = fp8Values(format);
        for (std::size_t code = 0; code < 128; ++code) {
            const std::uint32_t bits =
                std::isnan(values[code]) ? 0x7FC00000U : std::bit_cast<std::uint32_t>(values[code]);
            bytes.low[code] = static_cast<std::uint8_t>(bits >> 16);
            bytes.high[code] = static_cast<std::uint8_t>(bits >> 24);
        }
        return bytes;
    };
    static const Fp8Bytes e4m3 = make(Type::E4M3);
    static const Fp8Bytes e5m2 = make(Type::E5M2);
    return type == Type::E4M3 ? e4m3 : e5m2;
}

AMAXSCOPE_BEGIN_AVX512

struct Fp8Table {
    __m512i low0, low1, high0, high1;

    AMAXSCOPE_INLINE explicit Fp8Table(Type type) {
        const Fp8Bytes& bytes = fp8Bytes(type);
        low0 = _mm512_load_si512(bytes.low);
        low1 = _mm512_load_si512(bytes.low + 64);
        high0 = _mm512_load_si512(bytes.high);
        high1 = _mm512_load_si512(bytes.high + 64);
    }
    AMAXSCOPE_INLINE __m512i low(__m512i codes) const { return _mm512_permutex2var_epi8(low0, codes, low1); }
    AMAXSCOPE_INLINE __m512i high(__m512i codes) const {
        const __m512i magnitude = _mm512_permutex2var_epi8(high0, codes, high1);
        const __m512i signs = _mm512_set1_epi8(static_cast<char>(0x80));
        return _mm512_ternarylogic_epi32(magnitude, codes, signs, 0xF8);  // magnitude | (codes & signs)
    }
};

AMAXSCOPE_END_ISA

}  // namespace engine::cpu::avx512

#endif
