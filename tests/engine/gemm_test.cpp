// Matrix products of every instruction-set level against sums in double, over edges in all three dimensions.
#include "cpu/kernels.h"
#include "cpu/thread_pool.h"
#include "engine/formats.h"
#include "isa_levels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace engine::cpu {
namespace {

struct Shape {
    std::int64_t m, n, k;
};

// Ones, primes, tile sizes and their neighbours, and sizes beyond each block of the driver (240, 1024, 384, 512).
constexpr std::array kShapes{Shape{1, 1, 1},    Shape{1, 7, 3},     Shape{2, 1, 64},    Shape{3, 5, 1},
                             Shape{8, 32, 64},  Shape{13, 17, 31},  Shape{31, 33, 65},  Shape{6, 16, 129},
                             Shape{64, 48, 96}, Shape{97, 101, 59}, Shape{9, 35, 1031}, Shape{5, 1030, 37},
                             Shape{247, 65, 34}};

/// Largest error allowed, as a part of Σ|a·b| + |c| + |bias| of the element.
double tolerance(Type type) {
    switch (type) {
        case Type::F32:
            return 1e-6;  // sums of up to 1031 products in FP32, each rounded to 6e-8
        case Type::Bf16:
            return 1e-6;  // products of BF16 are exact in FP32: the sum alone rounds
        case Type::E4M3:
            return 1e-6;  // exact in BF16, as above
        case Type::E5M2:
            return 1e-6;  // exact in BF16, as above
        case Type::E2M1:  // unpacked before a product
            break;
    }
    ADD_FAILURE() << "no tolerance for this type";
    return 0;
}

std::string typeName(Type type) {
    switch (type) {
        case Type::F32:
            return "F32";
        case Type::Bf16:
            return "Bf16";
        case Type::E4M3:
            return "E4M3";
        case Type::E5M2:
            return "E5M2";
        case Type::E2M1:
            break;
    }
    return "?";
}

/// A stored operand and the values that its bytes stand for.
struct Operand {
    Type type = Type::F32;
    std::int64_t ld = 0;
    bool transposed = false;
    std::vector<std::byte> bytes;
    std::vector<float> values;

    void set(std::int64_t index, float value) {
        std::byte* target = bytes.data() + index * bytesOf(type);
        const auto i = static_cast<std::size_t>(index);
        if (type == Type::F32) {
            std::memcpy(target, &value, 4);
            values[i] = value;
        } else if (type == Type::Bf16) {
            const std::uint16_t code = encodeBf16(value);
            std::memcpy(target, &code, 2);
            values[i] = decodeBf16(code);
        } else {
            const Fp8Format format = type == Type::E4M3 ? Fp8Format::E4M3 : Fp8Format::E5M2;
            const std::uint8_t code = encodeFp8(value, format, Overflow::Propagate);
            std::memcpy(target, &code, 1);
            values[i] = decodeFp8(code, format);
        }
    }
    std::int64_t index(std::int64_t row, std::int64_t column) const {
        return transposed ? column * ld + row : row * ld + column;
    }
    double at(std::int64_t row, std::int64_t column) const {
        return values[static_cast<std::size_t>(index(row, column))];
    }
};

/// rows × columns normal values; what lies between the lines is NaN, which no result may contain.
Operand makeOperand(Type type, std::int64_t rows, std::int64_t columns, bool transposed, std::mt19937& random) {
    Operand operand;
    operand.type = type;
    operand.transposed = transposed;
    const std::int64_t lines = transposed ? columns : rows;
    const std::int64_t width = transposed ? rows : columns;
    operand.ld = width + 3;
    operand.bytes.resize(static_cast<std::size_t>(lines * operand.ld * bytesOf(type)));
    operand.values.resize(static_cast<std::size_t>(lines * operand.ld));
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < lines; ++i)
        for (std::int64_t j = 0; j < operand.ld; ++j)
            operand.set(i * operand.ld + j, j < width ? normal(random) : std::numeric_limits<float>::quiet_NaN());
    return operand;
}

GemmArgs makeArgs(const Shape& shape, const Operand& a, const Operand& b, float* c, std::int64_t ldc) {
    return {shape.m,      shape.n, shape.k, a.bytes.data(), a.type, a.ld,   a.transposed, b.bytes.data(), b.type, b.ld,
            b.transposed, c,       ldc,     1.0F,           false,  nullptr};
}

std::vector<std::pair<Type, Type>> typePairs() {
    std::vector<std::pair<Type, Type>> pairs{{Type::F32, Type::F32}};
    for (const Type a : {Type::Bf16, Type::E4M3, Type::E5M2})
        for (const Type b : {Type::Bf16, Type::E4M3, Type::E5M2}) pairs.emplace_back(a, b);
    return pairs;
}

struct Sums {
    std::vector<double> value, magnitude;
};

Sums productInDouble(const Shape& shape, const Operand& a, const Operand& b) {
    Sums sums;
    sums.value.resize(static_cast<std::size_t>(shape.m * shape.n));
    sums.magnitude.resize(sums.value.size());
    for (std::int64_t i = 0; i < shape.m; ++i)
        for (std::int64_t p = 0; p < shape.k; ++p) {
            const double left = a.at(i, p);
            for (std::int64_t j = 0; j < shape.n; ++j) {
                const double product = left * b.at(p, j);
                sums.value[static_cast<std::size_t>(i * shape.n + j)] += product;
                sums.magnitude[static_cast<std::size_t>(i * shape.n + j)] += std::abs(product);
            }
        }
    return sums;
}

/// Runs one product and returns the largest error in units of the tolerance; infinite when C was written outside.
double worstError(const Shape& shape, const Operand& a, const Operand& b, const Sums& sums, bool accumulate,
                  bool withBias, Isa isa) {
    constexpr float kOld = 0.5F;
    constexpr float kAlpha = 0.75F;
    const std::int64_t ldc = shape.n + 2;
    std::vector<float> c(static_cast<std::size_t>(shape.m * ldc), kOld);
    std::vector<float> bias(static_cast<std::size_t>(shape.n));
    for (std::size_t j = 0; j < bias.size(); ++j) bias[j] = static_cast<float>(j % 7) - 3.0F;
    GemmArgs args = makeArgs(shape, a, b, c.data(), ldc);
    args.alpha = kAlpha;
    args.accumulate = accumulate;
    args.bias = withBias ? bias.data() : nullptr;
    gemmSerial(args, isa);

    double worst = 0;
    for (std::int64_t i = 0; i < shape.m; ++i)
        for (std::int64_t j = 0; j < ldc; ++j) {
            const double got = c[static_cast<std::size_t>(i * ldc + j)];
            if (j >= shape.n) {
                if (got != static_cast<double>(kOld)) return std::numeric_limits<double>::infinity();
                continue;
            }
            const auto index = static_cast<std::size_t>(i * shape.n + j);
            const double old = accumulate ? static_cast<double>(kOld) : 0.0;
            const double added = withBias ? static_cast<double>(bias[static_cast<std::size_t>(j)]) : 0.0;
            const double wanted = static_cast<double>(kAlpha) * sums.value[index] + old + added;
            const double size = static_cast<double>(kAlpha) * sums.magnitude[index] + old + std::abs(added);
            const double error = std::abs(got - wanted) / (size * tolerance(a.type) + 1e-30);
            if (!(error <= worst)) worst = error;  // NaN stays
        }
    return worst;
}

class Gemm : public testing_support::IsaTest {};
INSTANTIATE_FOR_ALL_LEVELS(Gemm);

TEST_P(Gemm, equalsDoubleSumForAllShapesTypesTransposesAndEpilogues) {
    std::mt19937 random(11);
    for (const auto& [aType, bType] : typePairs())
        for (const Shape& shape : kShapes)
            for (const int transposes : {0, 1, 2, 3}) {
                const Operand a = makeOperand(aType, shape.m, shape.k, (transposes & 1) != 0, random);
                const Operand b = makeOperand(bType, shape.k, shape.n, (transposes & 2) != 0, random);
                const Sums sums = productInDouble(shape, a, b);
                for (const int epilogue : {0, 1, 2, 3})
                    ASSERT_LE(worstError(shape, a, b, sums, (epilogue & 1) != 0, (epilogue & 2) != 0, isa()), 1.0)
                        << typeName(aType) << "×" << typeName(bType) << ' ' << shape.m << "×" << shape.n << "×"
                        << shape.k << " transposed " << transposes << " epilogue " << epilogue;
            }
}

TEST_P(Gemm, givesTheSameBitsWithOneTwoAndThreeThreads) {
    std::mt19937 random(12);
    ThreadPool one(1), two(2), three(3);
    for (const auto& [aType, bType] : typePairs())
        for (const Shape& shape : {Shape{130, 70, 100}, Shape{40, 611, 77}, Shape{601, 40, 530}, Shape{1, 1025, 521}}) {
            const Operand a = makeOperand(aType, shape.m, shape.k, true, random);
            const Operand b = makeOperand(bType, shape.k, shape.n, true, random);
            std::vector<std::vector<float>> results;
            for (ThreadPool* pool : {&one, &two, &three}) {
                std::vector<float> c(static_cast<std::size_t>(shape.m * shape.n), -1.0F);
                gemm(*pool, makeArgs(shape, a, b, c.data(), shape.n), isa());
                results.push_back(std::move(c));
            }
            const std::size_t bytes = results[0].size() * sizeof(float);
            ASSERT_EQ(std::memcmp(results[0].data(), results[1].data(), bytes), 0) << shape.m << ' ' << shape.n;
            ASSERT_EQ(std::memcmp(results[0].data(), results[2].data(), bytes), 0) << shape.m << ' ' << shape.n;
        }
}

TEST_P(Gemm, addsBiasOfTheRightColumnsInEveryPartOfASplit) {
    std::mt19937 random(13);
    ThreadPool pool(3);
    const Shape shape{70, 333, 64};
    const Operand a = makeOperand(Type::F32, shape.m, shape.k, false, random);
    const Operand b = makeOperand(Type::F32, shape.k, shape.n, true, random);
    std::vector<float> bias(static_cast<std::size_t>(shape.n));
    for (std::size_t j = 0; j < bias.size(); ++j) bias[j] = static_cast<float>(j);
    std::vector<float> c(static_cast<std::size_t>(shape.m * shape.n));
    GemmArgs args = makeArgs(shape, a, b, c.data(), shape.n);
    args.alpha = 0;
    args.bias = bias.data();
    gemm(pool, args, isa());
    for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(c[i], bias[i % bias.size()]) << i;
}

TEST_P(Gemm, carriesNanAndInfinityToTheirRowOrColumnAndNoFurther) {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Shape shape{19, 37, 45};
    for (const auto& [aType, bType] : typePairs()) {
        std::mt19937 random(14);
        Operand a = makeOperand(aType, shape.m, shape.k, false, random);
        Operand b = makeOperand(bType, shape.k, shape.n, true, random);
        a.set(a.index(18, 44), kNan);
        b.set(b.index(44, 36), kNan);
        if (aType != Type::E4M3) {  // E4M3 has no infinity
            a.set(a.index(3, 7), kInfinity);
            b.set(b.index(7, 5), -2.0F);
        }
        std::vector<float> c(static_cast<std::size_t>(shape.m * shape.n));
        gemmSerial(makeArgs(shape, a, b, c.data(), shape.n), isa());
        for (std::int64_t i = 0; i < shape.m; ++i)
            for (std::int64_t j = 0; j < shape.n; ++j) {
                const float got = c[static_cast<std::size_t>(i * shape.n + j)];
                if (i == 18 || j == 36) {
                    ASSERT_TRUE(std::isnan(got)) << i << ' ' << j;
                } else if (i == 3 && aType != Type::E4M3) {
                    ASSERT_FALSE(std::isfinite(got)) << i << ' ' << j;
                    if (j == 5) {
                        ASSERT_EQ(got, -kInfinity);
                    }
                } else {
                    ASSERT_TRUE(std::isfinite(got)) << i << ' ' << j;
                }
            }
    }
}

TEST_P(Gemm, multipliesEveryFp8CodeByOneExactly) {
    for (const Type type : {Type::E4M3, Type::E5M2})
        for (const bool transposed : {false, true}) {
            const Fp8Format format = type == Type::E4M3 ? Fp8Format::E4M3 : Fp8Format::E5M2;
            std::vector<std::uint8_t> codes(256);
            for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i);
            const std::uint8_t one = encodeFp8(1.0F, format);
            std::vector<float> asA(256), asB(256);
            gemmSerial({256, 1, 1, codes.data(), type, transposed ? 256 : 1, transposed, &one, type, 1, false,
                        asA.data(), 1, 1.0F, false, nullptr},
                       isa());
            gemmSerial({1, 256, 1, &one, type, 1, false, codes.data(), type, transposed ? 1 : 256, transposed,
                        asB.data(), 256, 1.0F, false, nullptr},
                       isa());
            for (std::size_t i = 0; i < codes.size(); ++i) {
                const float wanted = decodeFp8(codes[i], format);
                if (std::isnan(wanted)) {
                    EXPECT_TRUE(std::isnan(asA[i]) && std::isnan(asB[i])) << i;
                } else {
                    EXPECT_EQ(asA[i], wanted) << i;
                    EXPECT_EQ(asB[i], wanted) << i;
                }
            }
        }
}

TEST_P(Gemm, ignoresWhatAnEarlierProductLeftInWorkingMemory) {
    std::mt19937 random(15);
    for (const auto& [aType, bType] : typePairs())
        for (const int transposes : {0, 1, 2, 3}) {
            const Shape large{250, 1030, 130};
            Operand a = makeOperand(aType, large.m, large.k, false, random);
            Operand b = makeOperand(bType, large.k, large.n, false, random);
            for (std::int64_t i = 0; i < large.m; ++i) a.set(a.index(i, i % large.k), std::nanf(""));
            for (std::int64_t j = 0; j < large.n; ++j) b.set(b.index(j % large.k, j), std::nanf(""));
            std::vector<float> c(static_cast<std::size_t>(large.m * large.n));
            if (isa() != Isa::Ref) gemmSerial(makeArgs(large, a, b, c.data(), large.n), isa());

            const Shape small{7, 9, 5};
            const Operand x = makeOperand(aType, small.m, small.k, (transposes & 1) != 0, random);
            const Operand y = makeOperand(bType, small.k, small.n, (transposes & 2) != 0, random);
            ASSERT_LE(worstError(small, x, y, productInDouble(small, x, y), false, false, isa()), 1.0);
        }
}

}  // namespace
}  // namespace engine::cpu
