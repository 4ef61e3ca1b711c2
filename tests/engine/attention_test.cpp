// Causal attention, with and without shared keys and values, of every instruction-set level against a naive version in
// double, and its gradient against central differences.
#include "cpu/kernels.h"
#include "cpu/thread_pool.h"
#include "isa_levels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace engine::cpu {
namespace {

struct Shape {
    std::int64_t batch, seqLen, heads, kvHeads, headDim;

    std::int64_t width() const { return heads * headDim; }
    std::int64_t kvWidth() const { return kvHeads * headDim; }
    std::int64_t qkvWidth() const { return width() + 2 * kvWidth(); }
    std::int64_t tokens() const { return batch * seqLen; }
    std::size_t qkvSize() const { return static_cast<std::size_t>(tokens() * qkvWidth()); }
    std::size_t outSize() const { return static_cast<std::size_t>(tokens() * width()); }
    std::size_t probabilitySize() const { return static_cast<std::size_t>(batch * heads * seqLen * seqLen); }
};

// One token, primes, and lengths around and beyond the block of 64 rows; groups of two, three and all heads.
constexpr std::array kShapes{Shape{1, 1, 1, 1, 4},   Shape{2, 7, 3, 3, 5},    Shape{1, 64, 2, 2, 8},
                             Shape{2, 65, 1, 1, 16}, Shape{1, 131, 2, 2, 24}, Shape{1, 63, 1, 1, 1},
                             Shape{2, 7, 4, 2, 5},   Shape{1, 1, 6, 2, 4},    Shape{2, 65, 6, 2, 8},
                             Shape{1, 131, 4, 1, 16}};

constexpr double kForwardTolerance = 2e-6;   // FP32 products and sums, exp to 4e-7; values of about one
constexpr double kBackwardTolerance = 2e-6;  // as above, of the largest gradient
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> normals(std::size_t n, unsigned seed, float size = 1.0F) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0F, size);
    std::vector<float> values(n);
    for (float& value : values) value = normal(random);
    return values;
}

struct Naive {
    std::vector<double> probabilities, out;
};

/// Index of q (part 0), k (1) or v (2), element e of what query head h reads at a token: query heads 0 … n−1 of a group
/// of n read its one k and v.
std::size_t qkvIndex(const Shape& s, std::int64_t b, std::int64_t t, int part, std::int64_t h, std::int64_t e) {
    const std::int64_t column =
        part == 0 ? h * s.headDim : s.width() + (part - 1) * s.kvWidth() + h * s.kvHeads / s.heads * s.headDim;
    return static_cast<std::size_t>((b * s.seqLen + t) * s.qkvWidth() + column + e);
}
std::size_t outIndex(const Shape& s, std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t e) {
    return static_cast<std::size_t>((b * s.seqLen + t) * s.width() + h * s.headDim + e);
}
std::size_t probabilityIndex(const Shape& s, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(((b * s.heads + h) * s.seqLen + i) * s.seqLen + j);
}

template <typename Body>
void forEachRow(const Shape& s, const Body& body) {
    for (std::int64_t b = 0; b < s.batch; ++b)
        for (std::int64_t h = 0; h < s.heads; ++h)
            for (std::int64_t i = 0; i < s.seqLen; ++i) body(b, h, i);
}

Naive naiveForward(const Shape& s, const std::vector<double>& qkv) {
    Naive result;
    result.probabilities.resize(s.probabilitySize());
    result.out.resize(s.outSize());
    forEachRow(s, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        double sum = 0;
        for (std::int64_t j = 0; j <= i; ++j) {
            double score = 0;
            for (std::int64_t e = 0; e < s.headDim; ++e)
                score += qkv[qkvIndex(s, b, i, 0, h, e)] * qkv[qkvIndex(s, b, j, 1, h, e)];
            const double p = std::exp(score / std::sqrt(static_cast<double>(s.headDim)));
            result.probabilities[probabilityIndex(s, b, h, i, j)] = p;
            sum += p;
        }
        for (std::int64_t j = 0; j <= i; ++j) {
            double& p = result.probabilities[probabilityIndex(s, b, h, i, j)];
            p /= sum;
            for (std::int64_t e = 0; e < s.headDim; ++e)
                result.out[outIndex(s, b, i, h, e)] += p * qkv[qkvIndex(s, b, j, 2, h, e)];
        }
    });
    return result;
}

std::vector<double> naiveBackward(const Shape& s, const std::vector<double>& qkv, const std::vector<float>& dOut) {
    const Naive forward = naiveForward(s, qkv);
    const double scale = 1 / std::sqrt(static_cast<double>(s.headDim));
    std::vector<double> gradient(s.qkvSize());
    forEachRow(s, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        std::vector<double> dP(static_cast<std::size_t>(i + 1));
        double dot = 0;
        for (std::int64_t j = 0; j <= i; ++j) {
            const double p = forward.probabilities[probabilityIndex(s, b, h, i, j)];
            for (std::int64_t e = 0; e < s.headDim; ++e) {
                const double d = dOut[outIndex(s, b, i, h, e)];
                dP[static_cast<std::size_t>(j)] += d * qkv[qkvIndex(s, b, j, 2, h, e)];
                gradient[qkvIndex(s, b, j, 2, h, e)] += p * d;
            }
            dot += p * dP[static_cast<std::size_t>(j)];
        }
        for (std::int64_t j = 0; j <= i; ++j) {
            const double p = forward.probabilities[probabilityIndex(s, b, h, i, j)];
            const double dScore = p * (dP[static_cast<std::size_t>(j)] - dot) * scale;
            for (std::int64_t e = 0; e < s.headDim; ++e) {
                gradient[qkvIndex(s, b, i, 0, h, e)] += dScore * qkv[qkvIndex(s, b, j, 1, h, e)];
                gradient[qkvIndex(s, b, j, 1, h, e)] += dScore * qkv[qkvIndex(s, b, i, 0, h, e)];
            }
        }
    });
    return gradient;
}

struct Result {
    std::vector<float> probabilities, out;
};

/// Outputs start as NaN: an element that the kernel leaves out is seen.
Result forward(const Shape& s, const std::vector<float>& qkv, Isa isa, int threads = 2) {
    ThreadPool pool(threads);
    Result result{std::vector<float>(s.probabilitySize(), kNan), std::vector<float>(s.outSize(), kNan)};
    attentionForward(
        pool,
        {s.batch, s.seqLen, s.heads, s.kvHeads, s.headDim, qkv.data(), result.probabilities.data(), result.out.data()},
        isa);
    return result;
}

std::vector<float> backward(const Shape& s, const std::vector<float>& qkv, const std::vector<float>& dOut, Isa isa,
                            int threads = 2) {
    ThreadPool pool(threads);
    const Result kept = forward(s, qkv, isa, threads);
    std::vector<float> gradient(s.qkvSize(), kNan);
    attentionBackward(pool,
                      {s.batch, s.seqLen, s.heads, s.kvHeads, s.headDim, qkv.data(), kept.probabilities.data(),
                       dOut.data(), gradient.data()},
                      isa);
    return gradient;
}

double worst(const std::vector<float>& got, const std::vector<double>& wanted) {
    double largest = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double error = std::abs(static_cast<double>(got[i]) - wanted[i]);
        if (!(error <= largest)) largest = error;  // NaN stays
    }
    return largest;
}

std::vector<double> widen(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class Attention : public testing_support::IsaTest {};
INSTANTIATE_FOR_ALL_LEVELS(Attention);

TEST_P(Attention, forwardEqualsNaiveAttentionInDouble) {
    for (const Shape& s : kShapes) {
        const std::vector<float> qkv = normals(s.qkvSize(), 21);
        const Result got = forward(s, qkv, isa());
        const Naive wanted = naiveForward(s, widen(qkv));
        EXPECT_LE(worst(got.probabilities, wanted.probabilities), kForwardTolerance) << s.seqLen;
        EXPECT_LE(worst(got.out, wanted.out), 5 * kForwardTolerance) << s.seqLen;
    }
}

TEST_P(Attention, probabilitiesAreExactlyZeroAboveTheDiagonal) {
    const Shape s{2, 130, 2, 2, 8};
    const Result got = forward(s, normals(s.qkvSize(), 22), isa());
    forEachRow(s, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        double sum = 0;
        for (std::int64_t j = 0; j < s.seqLen; ++j) {
            const float p = got.probabilities[probabilityIndex(s, b, h, i, j)];
            sum += static_cast<double>(p);
            if (j > i) {
                ASSERT_EQ(p, 0.0F) << i << ' ' << j;
            }
        }
        ASSERT_NEAR(sum, 1.0, 1e-5);
    });
}

TEST_P(Attention, aLaterTokenChangesNoEarlierOutput) {
    const Shape s{1, 131, 2, 2, 8};
    std::vector<float> qkv = normals(s.qkvSize(), 23);
    const Result before = forward(s, qkv, isa());
    constexpr std::int64_t kChanged = 100;
    const std::size_t first = qkvIndex(s, 0, kChanged, 0, 0, 0);
    for (std::size_t i = first; i < first + static_cast<std::size_t>(s.qkvWidth()); ++i) qkv[i] += 1.0F;
    const Result after = forward(s, qkv, isa());
    const auto split = static_cast<std::ptrdiff_t>(kChanged * s.width());
    EXPECT_TRUE(std::equal(before.out.begin(), before.out.begin() + split, after.out.begin()));
    EXPECT_FALSE(std::equal(before.out.begin() + split, before.out.end(), after.out.begin() + split));
}

TEST_P(Attention, hugeScoresStayFinite) {
    const Shape s{1, 20, 1, 1, 8};
    const Result got = forward(s, normals(s.qkvSize(), 24, 300.0F), isa());
    for (const float value : got.out) ASSERT_TRUE(std::isfinite(value));
}

TEST_P(Attention, aNanInAQueryReachesItsOutput) {
    const Shape s{1, 20, 1, 1, 8};
    std::vector<float> qkv = normals(s.qkvSize(), 25);
    qkv[qkvIndex(s, 0, 17, 0, 0, 3)] = kNan;
    const Result got = forward(s, qkv, isa());
    EXPECT_TRUE(std::isnan(got.out[outIndex(s, 0, 17, 0, 0)]));
    EXPECT_TRUE(std::isfinite(got.out[outIndex(s, 0, 16, 0, 0)]));
}

TEST_P(Attention, backwardEqualsNaiveGradientInDouble) {
    for (const Shape& s : kShapes) {
        const std::vector<float> qkv = normals(s.qkvSize(), 26);
        const std::vector<float> dOut = normals(s.outSize(), 27);
        const std::vector<double> wanted = naiveBackward(s, widen(qkv), dOut);
        double largest = 1;
        for (const double value : wanted) largest = std::max(largest, std::abs(value));
        EXPECT_LE(worst(backward(s, qkv, dOut, isa()), wanted), kBackwardTolerance * largest) << s.seqLen;
    }
}

TEST_P(Attention, backwardAgreesWithCentralDifferences) {
    for (const Shape& s : {Shape{2, 6, 2, 2, 4}, Shape{2, 6, 4, 2, 4}, Shape{1, 5, 3, 1, 2}}) {
        const std::vector<float> qkv = normals(s.qkvSize(), 28);
        const std::vector<float> dOut = normals(s.outSize(), 29);
        const auto loss = [&](const std::vector<double>& values) {
            const Naive result = naiveForward(s, values);
            double sum = 0;
            for (std::size_t i = 0; i < result.out.size(); ++i) sum += result.out[i] * static_cast<double>(dOut[i]);
            return sum;
        };
        const std::vector<float> got = backward(s, qkv, dOut, isa());
        constexpr double kStep = 1e-5;
        for (std::size_t i = 0; i < qkv.size(); ++i) {
            std::vector<double> values = widen(qkv);
            values[i] += kStep;
            const double above = loss(values);
            values[i] -= 2 * kStep;
            ASSERT_NEAR(static_cast<double>(got[i]), (above - loss(values)) / (2 * kStep), 1e-5)
                << s.kvHeads << ' ' << i;
        }
    }
}

/// The rows of `s` with k and v copied for every query head that reads them.
std::vector<float> ungrouped(const Shape& s, const Shape& plain, const std::vector<float>& qkv) {
    std::vector<float> result(plain.qkvSize());
    forEachRow(s, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        for (const int part : {0, 1, 2})
            for (std::int64_t e = 0; e < s.headDim; ++e)
                result[qkvIndex(plain, b, i, part, h, e)] = qkv[qkvIndex(s, b, i, part, h, e)];
    });
    return result;
}

TEST_P(Attention, aGroupGivesTheBitsOfHeadsWithCopiesOfItsKeysAndValues) {
    for (const Shape& s : {Shape{2, 70, 4, 2, 8}, Shape{1, 67, 3, 1, 5}}) {
        const Shape plain{s.batch, s.seqLen, s.heads, s.heads, s.headDim};
        const std::vector<float> qkv = normals(s.qkvSize(), 32);
        const std::vector<float> dOut = normals(s.outSize(), 33);
        const Result grouped = forward(s, qkv, isa());
        const Result copied = forward(plain, ungrouped(s, plain, qkv), isa());
        EXPECT_TRUE(sameBits(grouped.out, copied.out));
        EXPECT_TRUE(sameBits(grouped.probabilities, copied.probabilities));

        // dQ as well; dK and dV are sums, compared with the naive gradient above.
        const std::vector<float> gradient = backward(s, qkv, dOut, isa());
        const std::vector<float> gradientOfCopies = backward(plain, ungrouped(s, plain, qkv), dOut, isa());
        forEachRow(s, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
            for (std::int64_t e = 0; e < s.headDim; ++e)
                ASSERT_EQ(gradient[qkvIndex(s, b, i, 0, h, e)], gradientOfCopies[qkvIndex(plain, b, i, 0, h, e)]);
        });
    }
}

TEST_P(Attention, headsThatDoNotDivideIntoGroupsAreAMistakeOfTheCaller) {
    const Shape s{1, 2, 3, 2, 4};
    EXPECT_THROW(forward(s, normals(s.qkvSize(), 34), isa()), std::logic_error);
    const Shape none{1, 2, 3, 0, 4};
    EXPECT_THROW(forward(none, normals(none.qkvSize(), 34), isa()), std::logic_error);
}

TEST_P(Attention, givesTheSameBitsWithAnyNumberOfThreads) {
    for (const Shape& s : {Shape{2, 70, 2, 2, 8}, Shape{1, 70, 6, 2, 8}, Shape{1, 70, 5, 1, 8}}) {
        const std::vector<float> qkv = normals(s.qkvSize(), 30);
        const std::vector<float> dOut = normals(s.outSize(), 31);
        const Result one = forward(s, qkv, isa(), 1);
        const std::vector<float> gradient = backward(s, qkv, dOut, isa(), 1);
        for (const int threads : {2, 3, 5}) {
            const Result other = forward(s, qkv, isa(), threads);
            EXPECT_TRUE(sameBits(one.out, other.out));
            EXPECT_TRUE(sameBits(one.probabilities, other.probabilities));
            EXPECT_TRUE(sameBits(gradient, backward(s, qkv, dOut, isa(), threads)));
        }
    }
}

}  // namespace
}  // namespace engine::cpu
