// Histogram of FP32 exponents and the smallest magnitude: what a tensor's dynamic range is read from.
//   Ref     plain loop
//   Avx2    exponents.inl compiled for 8 lanes: fields split off in vectors, counted in several tables
//   Avx512  the same for 16 lanes
// All levels give the same numbers.
#include "cpu/isa.h"
#include "cpu/kernels.h"

#include <bit>
#include <cmath>

namespace engine::cpu {

namespace {

[[maybe_unused]] constexpr std::int64_t kTables = 4;
[[maybe_unused]] constexpr std::int64_t kBlock = 1024;

// ------------------------------------------------------------------------------------------------ Ref

void countExponentsRef(const float* x, std::int64_t n, std::uint32_t* counts, float& smallest) {
    for (std::int64_t i = 0; i < n; ++i) {
        ++counts[(std::bit_cast<std::uint32_t>(x[i]) >> 23) & 0xFFU];
        const float magnitude = std::fabs(x[i]);
        if (magnitude > 0 && magnitude < smallest) smallest = magnitude;
    }
}

}  // namespace
}  // namespace engine::cpu

#if AMAXSCOPE_X86

// ------------------------------------------------------------------------------------------------ Avx2
AMAXSCOPE_BEGIN_AVX2
namespace engine::cpu::avx2 {
namespace {
#include "cpu/exponents.inl"
}  // namespace
}  // namespace engine::cpu::avx2
AMAXSCOPE_END_ISA

// ------------------------------------------------------------------------------------------------ Avx512
AMAXSCOPE_BEGIN_AVX512
namespace engine::cpu::avx512 {
namespace {
#include "cpu/exponents.inl"
}  // namespace
}  // namespace engine::cpu::avx512
AMAXSCOPE_END_ISA

#endif

// ------------------------------------------------------------------------------------------------ dispatch
namespace engine::cpu {

void countExponents(const float* x, std::int64_t n, std::uint32_t* counts, float& smallest, Isa isa) {
#if AMAXSCOPE_X86
    if (isa >= Isa::Avx512) return avx512::countExponents(x, n, counts, smallest);
    if (isa >= Isa::Avx2) return avx2::countExponents(x, n, counts, smallest);
#endif
    countExponentsRef(x, n, counts, smallest);
}

}  // namespace engine::cpu
