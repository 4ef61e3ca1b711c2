// The only file of the tests that includes NVIDIA's number headers; see nvidia_reference.h.
#include "nvidia_reference.h"

#include <stdexcept>

#if AMAXSCOPE_TEST_NVIDIA_HEADERS
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#endif

namespace testing_support {

#if AMAXSCOPE_TEST_NVIDIA_HEADERS

namespace {

__nv_fp8_interpretation_t interpretation(engine::Fp8Format format) {
    return format == engine::Fp8Format::E4M3 ? __NV_E4M3 : __NV_E5M2;
}

__nv_saturation_t saturation(engine::Overflow overflow) {
    return overflow == engine::Overflow::Saturate ? __NV_SATFINITE : __NV_NOSAT;
}

}  // namespace

bool haveNvidiaHeaders() {
    return true;
}

void nvidiaFp8(const float* x, std::uint8_t* codes, std::size_t n, engine::Fp8Format format,
               engine::Overflow overflow) {
    const auto to = interpretation(format);
    const auto above = saturation(overflow);
    for (std::size_t i = 0; i < n; ++i) codes[i] = __nv_cvt_float_to_fp8(x[i], above, to);
}

void nvidiaFp8(const double* x, std::uint8_t* codes, std::size_t n, engine::Fp8Format format,
               engine::Overflow overflow) {
    const auto to = interpretation(format);
    const auto above = saturation(overflow);
    for (std::size_t i = 0; i < n; ++i) codes[i] = __nv_cvt_double_to_fp8(x[i], above, to);
}

void nvidiaBf16(const float* x, std::uint16_t* codes, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) codes[i] = static_cast<__nv_bfloat16_raw>(__float2bfloat16(x[i])).x;
}

#else

namespace {

[[noreturn]] void absent() {
    throw std::logic_error("NVIDIA's headers were not found when the tests were configured");
}

}  // namespace

bool haveNvidiaHeaders() {
    return false;
}
void nvidiaFp8(const float*, std::uint8_t*, std::size_t, engine::Fp8Format, engine::Overflow) {
    absent();
}
void nvidiaFp8(const double*, std::uint8_t*, std::size_t, engine::Fp8Format, engine::Overflow) {
    absent();
}
void nvidiaBf16(const float*, std::uint16_t*, std::size_t) {
    absent();
}

#endif

}  // namespace testing_support
