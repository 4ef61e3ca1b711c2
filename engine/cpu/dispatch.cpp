// Which instruction sets this machine has, which of them a run uses, and what the kernel families make of it.
#include "cpu/isa.h"
#include "cpu/kernels.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace engine::cpu {

namespace {

constexpr std::array kLevels{Isa::Ref, Isa::Avx2, Isa::Avx512, Isa::Avx512Bf16};

/// Each family with its best implementation; a run uses the lower of that and its own level.
struct Family {
    const char* name;
    Isa best;
};
constexpr std::array kFamilies{
    Family{"gemm", Isa::Avx512Bf16}, Family{"attention", Isa::Avx512},  Family{"rotary", Isa::Avx512},
    Family{"quantize", Isa::Avx512}, Family{"exponents", Isa::Avx512},  Family{"layernorm", Isa::Avx512},
    Family{"rmsnorm", Isa::Avx512},  Family{"activation", Isa::Avx512}, Family{"pointwise", Isa::Avx512},
    Family{"loss", Isa::Avx512},     Family{"adamw", Isa::Avx512},
};

Isa detect() {
#if AMAXSCOPE_X86
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::Ref;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vbmi"))
        return Isa::Avx2;
    return __builtin_cpu_supports("avx512bf16") ? Isa::Avx512Bf16 : Isa::Avx512;
#else
    return Isa::Ref;
#endif
}

Isa lowered() {
    const Isa best = bestIsa();
    const char* wanted = std::getenv("AMAXSCOPE_CPU");
    if (wanted == nullptr || *wanted == '\0') return best;
    for (const Isa level : kLevels)
        if (std::strcmp(wanted, name(level)) == 0) return std::min(level, best);
    std::fprintf(stderr,
                 "amaxscope: AMAXSCOPE_CPU=%s: unknown instruction set, so nothing was lowered: "
                 "use ref, avx2, avx512 or avx512_bf16\n",
                 wanted);
    return best;
}

}  // namespace

const char* name(Isa isa) {
    switch (isa) {
        case Isa::Ref:
            return "ref";
        case Isa::Avx2:
            return "avx2";
        case Isa::Avx512:
            return "avx512";
        case Isa::Avx512Bf16:
            return "avx512_bf16";
    }
    return "unknown";
}

Isa bestIsa() {
    static const Isa best = detect();
    return best;
}

Isa activeIsa() {
    static const Isa active = lowered();
    return active;
}

std::string kernelNames(Isa isa) {
    std::string text;
    for (const Family& family : kFamilies) {
        if (!text.empty()) text += ' ';
        text += std::string(family.name) + '=' + name(std::min(isa, family.best));
    }
    return text;
}

}  // namespace engine::cpu
