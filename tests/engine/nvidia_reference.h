// NVIDIA's own host conversions (cuda_fp8.h, cuda_bf16.h), where the headers were found when the build was configured.
#pragma once

#include "engine/formats.h"

#include <cstddef>
#include <cstdint>

namespace testing_support {

/// The conversions below may be called only where this is true.
bool haveNvidiaHeaders();
void nvidiaFp8(const float* x, std::uint8_t* codes, std::size_t n, engine::Fp8Format format, engine::Overflow overflow);
void nvidiaFp8(const double* x, std::uint8_t* codes, std::size_t n, engine::Fp8Format format,
               engine::Overflow overflow);
void nvidiaBf16(const float* x, std::uint16_t* codes, std::size_t n);

}  // namespace testing_support
