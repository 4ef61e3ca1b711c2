// Runs a kernel test once per instruction-set level, with the level in its name: "Cast/AllLevels.x/Avx512". A level
// that this machine lacks is skipped with the reason.
#pragma once

#include "cpu/kernels.h"

#include <gtest/gtest.h>

#include <string>

namespace testing_support {

inline std::string levelName(engine::cpu::Isa isa) {
    switch (isa) {
        case engine::cpu::Isa::Ref:
            return "Ref";
        case engine::cpu::Isa::Avx2:
            return "Avx2";
        case engine::cpu::Isa::Avx512:
            return "Avx512";
        case engine::cpu::Isa::Avx512Bf16:
            return "Avx512Bf16";
    }
    return "Unknown";
}

/// Base of the kernel tests: isa() is the level to pass to the kernel.
class IsaTest : public ::testing::TestWithParam<engine::cpu::Isa> {
protected:
    void SetUp() override {
        if (isa() > engine::cpu::bestIsa()) GTEST_SKIP() << "this CPU has no " << levelName(isa());
    }
    engine::cpu::Isa isa() const { return GetParam(); }
};

inline auto allLevels() {
    using engine::cpu::Isa;
    return ::testing::Values(Isa::Ref, Isa::Avx2, Isa::Avx512, Isa::Avx512Bf16);
}

inline std::string levelOfParam(const ::testing::TestParamInfo<engine::cpu::Isa>& info) {
    return levelName(info.param);
}

}  // namespace testing_support

#define INSTANTIATE_FOR_ALL_LEVELS(suite) \
    INSTANTIATE_TEST_SUITE_P(AllLevels, suite, ::testing_support::allLevels(), ::testing_support::levelOfParam)
