// NVIDIA's own host conversions (cuda_fp8.h, cuda_fp4.h, cuda_bf16.h, cuda_fp16.h), where the headers were found when
// the build was configured.
#pragma once

#include "engine/formats.h"

#include "number_formats.h"

#include <cstddef>
#include <cstdint>

namespace testing_support {

/// The conversions below may be called only where this is true.
bool haveNvidiaHeaders();
/// E2M1 and E8M0 came with CUDA 12.8; the other formats are in all headers that haveNvidiaHeaders() accepts.
bool haveNvidiaFormat(Narrow format);

void nvidiaFp8(const float* x, std::uint8_t* codes, std::size_t n, engine::Fp8Format format, engine::Overflow overflow);
void nvidiaFp8(const double* x, std::uint8_t* codes, std::size_t n, engine::Fp8Format format,
               engine::Overflow overflow);

/// Saturating where the format saturates; E8M0 rounds up. The sources BF16 and half are given as codes and converted by
/// the header's own constructors from those types.
void nvidiaEncode(Narrow format, const float* x, std::uint16_t* codes, std::size_t n);
void nvidiaEncodeFromBf16(Narrow format, const std::uint16_t* x, std::uint16_t* codes, std::size_t n);
void nvidiaEncodeFromF16(Narrow format, const std::uint16_t* x, std::uint16_t* codes, std::size_t n);
float nvidiaDecode(Narrow format, std::uint16_t code);

}  // namespace testing_support
