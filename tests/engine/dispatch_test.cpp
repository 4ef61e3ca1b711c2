// Which instruction-set level a run uses. The choice is made once per process, so each test asks in its own.
#include "cpu/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace engine::cpu {
namespace {

class Dispatch : public ::testing::Test {
protected:
    // Runs the test program again for each question instead of forking after the level was chosen.
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using DispatchDeathTest = Dispatch;

[[noreturn]] void exitWithLevel(const char* wanted) {
    setenv("AMAXSCOPE_CPU", wanted, 1);
    const Isa first = activeIsa();
    setenv("AMAXSCOPE_CPU", "ref", 1);  // too late to matter
    std::exit(first == activeIsa() ? static_cast<int>(first) : 99);
}

TEST_F(DispatchDeathTest, theEnvironmentLowersTheLevelButNeverRaisesIt) {
    for (const Isa level : {Isa::Ref, Isa::Avx2, Isa::Avx512, Isa::Avx512Bf16}) {
        const int expected = static_cast<int>(std::min(level, bestIsa()));
        EXPECT_EXIT(exitWithLevel(name(level)), ::testing::ExitedWithCode(expected), "^$") << name(level);
    }
    EXPECT_EXIT(exitWithLevel(""), ::testing::ExitedWithCode(static_cast<int>(bestIsa())), "^$");
}

TEST_F(DispatchDeathTest, anUnknownLevelIsSaidOnceAndLowersNothing) {
    EXPECT_EXIT(exitWithLevel("sse9"), ::testing::ExitedWithCode(static_cast<int>(bestIsa())),
                "^amaxscope: AMAXSCOPE_CPU=sse9: unknown instruction set, [^\n]*\n$");
}

TEST_F(Dispatch, namesEveryFamilyAndNeverPromisesMoreThanItHas) {
    const std::string best = kernelNames(Isa::Avx512Bf16);
    EXPECT_NE(best.find("gemm=avx512_bf16 "), std::string::npos) << best;
    EXPECT_NE(best.find("attention=avx512 "), std::string::npos) << best;
    for (const char* family :
         {"rotary", "quantize", "exponents", "layernorm", "rmsnorm", "activation", "pointwise", "loss", "adamw"})
        EXPECT_NE(best.find(std::string(family) + "=avx512"), std::string::npos) << family;
    EXPECT_EQ(kernelNames(Isa::Ref).find("avx"), std::string::npos);
    EXPECT_NE(kernelNames(Isa::Avx2).find("gemm=avx2 "), std::string::npos);
}

}  // namespace
}  // namespace engine::cpu
