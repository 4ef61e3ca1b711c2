// Instruction-set regions: AVX code is compiled only between these macros, so that the library as a whole runs on
// any x86-64 and the dispatch lists decide at run time. Never pass -mavx… for a whole file: inline functions of the
// standard library compiled there could replace the portable copies everywhere.
//
//   AMAXSCOPE_BEGIN_AVX2          AVX2 and FMA
//   AMAXSCOPE_BEGIN_AVX512        the above and AVX-512 F, BW, VL, DQ, VBMI
//   AMAXSCOPE_BEGIN_AVX512_BF16   the above and AVX-512 BF16
//   AMAXSCOPE_END_ISA             ends any of them; regions do not nest
//
// Use them at namespace scope around whole function definitions, after all includes. AMAXSCOPE_X86 is 1 where the
// regions exist; elsewhere only the Ref kernels are compiled.
#pragma once

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#define AMAXSCOPE_X86 1

#include <immintrin.h>

// avx512vbmi implies avx512bw, avx512f, avx2, fma and f16c for both compilers.
#if defined(__clang__)

#define AMAXSCOPE_BEGIN_AVX2 _Pragma("clang attribute push(__attribute__((target(\"avx2,fma\"))), apply_to=function)")
#define AMAXSCOPE_BEGIN_AVX512 \
    _Pragma("clang attribute push(__attribute__((target(\"avx512vbmi,avx512vl,avx512dq\"))), apply_to=function)")
// clang-format off
#define AMAXSCOPE_BEGIN_AVX512_BF16 \
    _Pragma("clang attribute push(__attribute__((target(\"avx512vbmi,avx512vl,avx512dq,avx512bf16\"))), apply_to=function)")
// clang-format on
#define AMAXSCOPE_END_ISA _Pragma("clang attribute pop")

#else

// The AVX-512 headers of g++ 12 read deliberately undefined registers and trip these warnings in our functions.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#define AMAXSCOPE_BEGIN_AVX2 _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,fma\")")
#define AMAXSCOPE_BEGIN_AVX512 \
    _Pragma("GCC push_options") _Pragma("GCC target(\"avx512vbmi,avx512vl,avx512dq,avx2,fma\")")
#define AMAXSCOPE_BEGIN_AVX512_BF16 \
    _Pragma("GCC push_options") _Pragma("GCC target(\"avx512vbmi,avx512vl,avx512dq,avx512bf16,avx2,fma\")")
#define AMAXSCOPE_END_ISA _Pragma("GCC pop_options")

#endif

/// For the small helpers inside a region that must vanish in their caller.
#define AMAXSCOPE_INLINE inline __attribute__((always_inline))

#else
#define AMAXSCOPE_X86 0
#define AMAXSCOPE_INLINE inline
#endif
