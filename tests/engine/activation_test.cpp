// Activations, plain and gated, and their derivatives at every instruction-set level against FP64 formulas.
#include "elementwise_tolerances.h"
#include "isa_levels.h"

#include <gtest/gtest.h>

#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

namespace cpu = engine::cpu;
using cpu::Activation;
using testing_support::tolerance;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kGuard = 77.0F;  // follows each output: a write past the end changes it

/// A plain kind, its gated one, and what both are in double.
struct Case {
    Activation plain, gated;
    double (*value)(double x);
    /// Largest error of the value at x, and of the slope anywhere.
    double (*valueBound)(double x);
    double slopeBound;
};

double geluOf(double x) {
    return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
}
double reluOf(double x) {
    return x > 0 ? x : 0;
}
double siluOf(double x) {
    return x / (1.0 + std::exp(-x));
}

const std::array kCases{
    Case{Activation::Gelu, Activation::GeGlu, geluOf,
         [](double x) { return tolerance("gelu, per max(1,|x|)") * std::max(1.0, std::fabs(x)); },
         tolerance("geluBackward, per |dy|")},
    Case{Activation::Relu, Activation::ReGlu, reluOf, [](double) { return tolerance("relu"); }, tolerance("relu")},
    Case{Activation::Silu, Activation::SwiGlu, siluOf,
         [](double x) { return tolerance("silu, relative") * std::fabs(siluOf(x)); },
         tolerance("siluBackward, per |dy|")},
};

/// By central differences: shares no formula with the kernels. Error about 1e-10, none for the straight parts of ReLU.
double slopeOf(const Case& kind, double x) {
    if (kind.plain == Activation::Relu) return x > 0 ? 1 : 0;
    const double h = 1e-5;
    return (kind.value(x + h) - kind.value(x - h)) / (2 * h);
}

std::int64_t sizeOf(const std::vector<float>& values) {
    return static_cast<std::int64_t>(values.size());
}

/// ±0 and a grid over [low, high]; the length is no multiple of a vector.
std::vector<float> grid(double low, double high) {
    std::vector<float> values{0.0F, -0.0F};
    for (int i = 0; i < 20011; ++i) values.push_back(static_cast<float>(low + (high - low) * i / 20010));
    return values;
}

std::vector<float> joined(std::vector<float> first, const std::vector<float>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

std::vector<float> normals(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0F, 2.0F);
    std::vector<float> values(n);
    for (float& value : values) value = normal(random);
    return values;
}

class Activations : public testing_support::IsaTest {
protected:
    std::vector<float> forward(Activation kind, const std::vector<float>& x) const {
        const std::size_t n = cpu::isGated(kind) ? x.size() / 2 : x.size();
        std::vector<float> y(n + 16, kGuard);
        cpu::activate(kind, x.data(), y.data(), static_cast<std::int64_t>(n), isa());
        return withoutGuard(std::move(y));
    }
    std::vector<float> backward(Activation kind, const std::vector<float>& x, const std::vector<float>& dy) const {
        std::vector<float> dx(x.size() + 16, kGuard);
        cpu::activateBackward(kind, x.data(), dy.data(), dx.data(), sizeOf(dy), isa());
        return withoutGuard(std::move(dx));
    }

private:
    static std::vector<float> withoutGuard(std::vector<float> values) {
        for (std::size_t i = values.size() - 16; i < values.size(); ++i) EXPECT_EQ(values[i], kGuard);
        values.resize(values.size() - 16);
        return values;
    }
};
INSTANTIATE_FOR_ALL_LEVELS(Activations);

TEST_P(Activations, valuesFollowTheirFormulas) {
    const std::vector<float> x = grid(-40, 40);
    for (const Case& kind : kCases) {
        const std::vector<float> y = forward(kind.plain, x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double at = static_cast<double>(x[i]);
            ASSERT_NEAR(y[i], kind.value(at), kind.valueBound(at)) << "kind " << int(kind.plain) << " x " << x[i];
        }
    }
}

TEST_P(Activations, backwardIsTheSlopeTimesTheGradient) {
    const std::vector<float> x = grid(-40, 40);
    std::vector<float> dy(x.size());
    for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = i % 2 == 0 ? 1.5F : -0.25F;
    for (const Case& kind : kCases) {
        const std::vector<float> dx = backward(kind.plain, x, dy);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double gradient = static_cast<double>(dy[i]);
            ASSERT_NEAR(dx[i], gradient * slopeOf(kind, static_cast<double>(x[i])),
                        kind.slopeBound * std::fabs(gradient))
                << "kind " << int(kind.plain) << " x " << x[i];
        }
    }
}

TEST_P(Activations, aGateMultipliesTheActivationOfTheFirstHalf) {
    for (const Case& kind : kCases) {
        for (const std::size_t n : {0U, 1U, 7U, 8U, 15U, 16U, 17U, 31U, 33U, 100U}) {
            const std::vector<float> a = normals(n, 40);
            const std::vector<float> gate = normals(n, 41);
            const std::vector<float> y = forward(kind.gated, joined(a, gate));
            ASSERT_EQ(y.size(), n);
            for (std::size_t i = 0; i < n; ++i) {
                const double at = static_cast<double>(a[i]);
                const double by = static_cast<double>(gate[i]);
                // The product is rounded once more.
                const double expected = kind.value(at) * by;
                const double bound = kind.valueBound(at) * std::fabs(by) + testing_support::kUlp * std::fabs(expected);
                ASSERT_NEAR(y[i], expected, bound) << "kind " << int(kind.gated) << " n " << n << " i " << i;
            }
        }
    }
}

TEST_P(Activations, backwardThroughAGateAgreesWithCentralDifferences) {
    for (const Case& kind : kCases) {
        for (const std::size_t n : {1U, 7U, 8U, 15U, 16U, 17U, 31U, 33U, 100U}) {
            const std::vector<float> a = normals(n, 42);
            const std::vector<float> gate = normals(n, 43);
            const std::vector<float> dy = normals(n, 44);
            const std::vector<float> dx = backward(kind.gated, joined(a, gate), dy);
            ASSERT_EQ(dx.size(), 2 * n);
            for (std::size_t i = 0; i < n; ++i) {
                const auto objective = [&](double da, double dGate) {
                    return static_cast<double>(dy[i]) * kind.value(static_cast<double>(a[i]) + da) *
                           (static_cast<double>(gate[i]) + dGate);
                };
                const double h = 1e-5;
                const double scale = std::fabs(static_cast<double>(dy[i]) * static_cast<double>(gate[i]));
                // Two more products than without a gate; 1e-9 for the difference quotient.
                ASSERT_NEAR(dx[i], (objective(h, 0) - objective(-h, 0)) / (2 * h),
                            (kind.slopeBound + 2 * testing_support::kUlp) * scale + 1e-9)
                    << "kind " << int(kind.gated) << " n " << n << " i " << i;
                const double at = static_cast<double>(a[i]);
                const double expected = (objective(0, h) - objective(0, -h)) / (2 * h);
                ASSERT_NEAR(dx[n + i], expected,
                            kind.valueBound(at) * std::fabs(static_cast<double>(dy[i])) +
                                testing_support::kUlp * std::fabs(expected) + 1e-9)
                    << "kind " << int(kind.gated) << " n " << n << " i " << i;
            }
        }
    }
}

TEST_P(Activations, farLeftIsFlatFarRightIsTheIdentityAndNanStays) {
    const std::vector<float> left{-kInfinity, -FLT_MAX, -1e36F, -1e20F, -1e12F, -1000.0F, -100.0F};
    const std::vector<float> right{100.0F, 1000.0F, 1e12F, 1e20F, 1e36F, FLT_MAX, kInfinity};
    for (const Case& kind : kCases) {
        const std::vector<float> low = forward(kind.plain, left);
        const std::vector<float> slopeLow = backward(kind.plain, left, std::vector<float>(left.size(), 2.0F));
        for (std::size_t i = 0; i < left.size(); ++i) {
            // e^−100 is below the normal range: the exponential may flush it.
            ASSERT_NEAR(low[i], 0.0F, FLT_MIN) << "kind " << int(kind.plain) << " x " << left[i];
            ASSERT_NEAR(slopeLow[i], 0.0F, FLT_MIN) << "kind " << int(kind.plain) << " x " << left[i];
        }
        ASSERT_EQ(forward(kind.plain, right), right) << int(kind.plain);
        ASSERT_EQ(backward(kind.plain, right, std::vector<float>(right.size(), 2.0F)),
                  std::vector<float>(right.size(), 2.0F))
            << int(kind.plain);
        ASSERT_TRUE(std::isnan(forward(kind.plain, {kNan})[0])) << int(kind.plain);
        ASSERT_TRUE(std::isnan(backward(kind.plain, {kNan}, {1.0F})[0])) << int(kind.plain);
        ASSERT_TRUE(std::isnan(backward(kind.plain, {1.0F}, {kNan})[0])) << int(kind.plain);
    }
}

TEST_P(Activations, specialValuesPassAGate) {
    for (const Case& kind : kCases) {
        // Activation 0, gate and gradient near the limits of FP32.
        ASSERT_EQ(forward(kind.gated, {-1e36F, FLT_MAX})[0], 0.0F) << int(kind.gated);
        const std::vector<float> flat = backward(kind.gated, {-1e36F, FLT_MAX}, {FLT_MAX});
        ASSERT_EQ(flat[0], 0.0F) << int(kind.gated);
        ASSERT_EQ(flat[1], 0.0F) << int(kind.gated);
        // Activation x, slope 1.
        for (const float x : {100.0F, 1000.0F, 1e30F}) {
            ASSERT_EQ(forward(kind.gated, {x, 0.5F})[0], 0.5F * x) << int(kind.gated);
            ASSERT_EQ(backward(kind.gated, {x, 0.5F}, {2.0F}), (std::vector<float>{1.0F, 2.0F * x})) << int(kind.gated);
        }
        ASSERT_TRUE(std::isnan(forward(kind.gated, {kNan, 1.0F})[0])) << int(kind.gated);
        ASSERT_TRUE(std::isnan(forward(kind.gated, {1.0F, kNan})[0])) << int(kind.gated);
        const std::vector<float> ofNan = backward(kind.gated, {kNan, 1.0F}, {1.0F});
        ASSERT_TRUE(std::isnan(ofNan[0]) && std::isnan(ofNan[1])) << int(kind.gated);
        ASSERT_TRUE(std::isnan(backward(kind.gated, {1.0F, kNan}, {1.0F})[0])) << int(kind.gated);
        const std::vector<float> fromNan = backward(kind.gated, {1.0F, 1.0F}, {kNan});
        ASSERT_TRUE(std::isnan(fromNan[0]) && std::isnan(fromNan[1])) << int(kind.gated);
    }
}

TEST_P(Activations, anInfiniteGradientStaysVisible) {
    for (const Case& kind : kCases) {
        for (const float x : {-1000.0F, -1.0F, 0.0F, 1.0F, 1000.0F}) {
            ASSERT_FALSE(std::isfinite(backward(kind.plain, {x}, {kInfinity})[0])) << int(kind.plain) << ' ' << x;
        }
    }
}

TEST_P(Activations, theGradientMayBeReplacedInPlace) {
    for (const Case& kind : kCases) {
        for (const std::size_t n : {1U, 7U, 16U, 33U, 100U}) {
            const std::vector<float> x = normals(n, 45);
            std::vector<float> gradient = normals(n, 46);
            const std::vector<float> apart = backward(kind.plain, x, gradient);
            cpu::activateBackward(kind.plain, x.data(), gradient.data(), gradient.data(), sizeOf(x), isa());
            ASSERT_EQ(gradient, apart) << int(kind.plain) << ' ' << n;
        }
    }
}

}  // namespace
