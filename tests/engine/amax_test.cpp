// The largest magnitude, on every level.
#include "cpu/kernels.h"
#include "isa_levels.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace {

namespace cpu = engine::cpu;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class Amax : public testing_support::IsaTest {};

TEST_P(Amax, passesOverNanButNotInfinity) {
    for (const std::size_t n : {1U, 7U, 16U, 31U, 33U, 100U}) {
        const auto amaxOf = [&](const std::vector<float>& values) {
            return cpu::amaxOf(values.data(), static_cast<std::int64_t>(n), isa());
        };
        const std::vector<float> x(n, -0.25F);
        EXPECT_EQ(amaxOf(x), 0.25F);
        for (std::size_t at = 0; at < n; ++at) {
            std::vector<float> y = x;
            y[at] = kNan;
            EXPECT_EQ(amaxOf(y), n == 1 ? 0.0F : 0.25F);
            y[at] = -3.0F;
            EXPECT_EQ(amaxOf(y), 3.0F);
            y[at] = -kInf;
            EXPECT_EQ(amaxOf(y), kInf);
        }
    }
}
INSTANTIATE_FOR_ALL_LEVELS(Amax);

}  // namespace
