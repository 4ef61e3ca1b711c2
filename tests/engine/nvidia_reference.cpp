// The only file of the tests that includes NVIDIA's number headers; see nvidia_reference.h.
#include "nvidia_reference.h"

#include <stdexcept>

#if AMAXSCOPE_TEST_NVIDIA_HEADERS
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#if __has_include(<cuda_fp4.h>)
#include <cuda_fp4.h>
#define AMAXSCOPE_TEST_NVIDIA_FP4 1
#endif
#endif

namespace testing_support {

namespace {

[[noreturn]] void absent() {
    throw std::logic_error("NVIDIA's headers for this format were not found when the tests were configured");
}

}  // namespace

#if AMAXSCOPE_TEST_NVIDIA_HEADERS

namespace {

__nv_fp8_interpretation_t interpretation(engine::Fp8Format format) {
    return format == engine::Fp8Format::E4M3 ? __NV_E4M3 : __NV_E5M2;
}

__nv_saturation_t saturation(engine::Overflow overflow) {
    return overflow == engine::Overflow::Saturate ? __NV_SATFINITE : __NV_NOSAT;
}

float load(float x) {
    return x;
}
__nv_bfloat16 load(__nv_bfloat16_raw x) {
    return x;
}
__half load(__half_raw x) {
    return x;
}
float widen(float x) {
    return x;
}
float widen(__nv_bfloat16 x) {
    return __bfloat162float(x);
}
float widen(__half x) {
    return __half2float(x);
}

/// `raw(i)` gives the i-th source; the constructors of NVIDIA's types choose the conversion by its type.
template <typename Raw>
void encodeEach(Narrow format, Raw raw, std::uint16_t* codes, std::size_t n) {
    const auto each = [&](auto convert) {
        for (std::size_t i = 0; i < n; ++i) codes[i] = convert(load(raw(i)));
    };
    switch (format) {
        case Narrow::E4M3:
            return each([](auto x) { return __nv_fp8_e4m3(x).__x; });
        case Narrow::E5M2:
            return each([](auto x) { return __nv_fp8_e5m2(x).__x; });
#if AMAXSCOPE_TEST_NVIDIA_FP4
        case Narrow::E2M1:
            return each([](auto x) { return __nv_fp4_e2m1(x).__x; });
        case Narrow::E8M0:
            return each([](auto x) { return __nv_fp8_e8m0(x).__x; });
#else
        case Narrow::E2M1:
        case Narrow::E8M0:
            absent();
#endif
        case Narrow::Bf16:
            return each([](auto x) { return __nv_bfloat16_raw(__float2bfloat16(widen(x))).x; });
        case Narrow::F16:
            return each([](auto x) { return __half_raw(__float2half_rn(widen(x))).x; });
    }
}

__nv_bfloat16_raw rawBf16(std::uint16_t bits) {
    __nv_bfloat16_raw raw;
    raw.x = bits;
    return raw;
}

__half_raw rawF16(std::uint16_t bits) {
    __half_raw raw;
    raw.x = bits;
    return raw;
}

template <typename Type>
float decodeAs(std::uint16_t code) {
    Type value;
    value.__x = static_cast<decltype(value.__x)>(code);
    return static_cast<float>(value);
}

}  // namespace

bool haveNvidiaHeaders() {
    return true;
}

bool haveNvidiaFormat([[maybe_unused]] Narrow format) {
#if AMAXSCOPE_TEST_NVIDIA_FP4
    return true;
#else
    return format != Narrow::E2M1 && format != Narrow::E8M0;
#endif
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

void nvidiaEncode(Narrow format, const float* x, std::uint16_t* codes, std::size_t n) {
    encodeEach(
        format, [x](std::size_t i) { return x[i]; }, codes, n);
}

void nvidiaEncodeFromBf16(Narrow format, const std::uint16_t* x, std::uint16_t* codes, std::size_t n) {
    encodeEach(
        format, [x](std::size_t i) { return rawBf16(x[i]); }, codes, n);
}

void nvidiaEncodeFromF16(Narrow format, const std::uint16_t* x, std::uint16_t* codes, std::size_t n) {
    encodeEach(
        format, [x](std::size_t i) { return rawF16(x[i]); }, codes, n);
}

float nvidiaDecode(Narrow format, std::uint16_t code) {
    switch (format) {
        case Narrow::E4M3:
            return decodeAs<__nv_fp8_e4m3>(code);
        case Narrow::E5M2:
            return decodeAs<__nv_fp8_e5m2>(code);
#if AMAXSCOPE_TEST_NVIDIA_FP4
        case Narrow::E2M1:
            return decodeAs<__nv_fp4_e2m1>(code);
        case Narrow::E8M0:
            return decodeAs<__nv_fp8_e8m0>(code);
#else
        case Narrow::E2M1:
        case Narrow::E8M0:
            absent();
#endif
        case Narrow::Bf16:
            return __bfloat162float(rawBf16(code));
        case Narrow::F16:
            return __half2float(rawF16(code));
    }
    absent();
}

#else

bool haveNvidiaHeaders() {
    return false;
}
bool haveNvidiaFormat(Narrow) {
    return false;
}
void nvidiaFp8(const float*, std::uint8_t*, std::size_t, engine::Fp8Format, engine::Overflow) {
    absent();
}
void nvidiaFp8(const double*, std::uint8_t*, std::size_t, engine::Fp8Format, engine::Overflow) {
    absent();
}
void nvidiaEncode(Narrow, const float*, std::uint16_t*, std::size_t) {
    absent();
}
void nvidiaEncodeFromBf16(Narrow, const std::uint16_t*, std::uint16_t*, std::size_t) {
    absent();
}
void nvidiaEncodeFromF16(Narrow, const std::uint16_t*, std::uint16_t*, std::size_t) {
    absent();
}
float nvidiaDecode(Narrow, std::uint16_t) {
    absent();
}

#endif

}  // namespace testing_support
