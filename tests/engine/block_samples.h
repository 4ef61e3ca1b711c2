// Block-scaled casts for tests: the casts of the recipes, matrices with everything in them that can go wrong, and a
// cast into memory of exactly the right size with guards around it.
#pragma once

#include "cpu/block_cast.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace testing_support {

using engine::cpu::BlockCast;
using engine::cpu::BlockScale;
using engine::cpu::CastStats;
using engine::cpu::Isa;
using engine::cpu::Type;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline BlockCast mxFp8(std::int64_t blockRows, std::int64_t blockCols, Type type = Type::E4M3) {
    BlockCast cast;
    cast.type = type;
    cast.blockRows = blockRows;
    cast.blockCols = blockCols;
    return cast;
}

inline BlockCast blockScaling(std::int64_t blockRows, std::int64_t blockCols, bool powerOfTwo, Type type = Type::E4M3) {
    BlockCast cast = mxFp8(blockRows, blockCols, type);
    cast.scaleType = BlockScale::F32;
    cast.powerOfTwo = powerOfTwo;
    return cast;
}

inline BlockCast nvFp4(std::int64_t blockRows, std::int64_t blockCols, float globalEncode = 1,
                       bool stochastic = false) {
    BlockCast cast = mxFp8(blockRows, blockCols, Type::E2M1);
    cast.scaleType = BlockScale::E4M3;
    cast.globalEncode = globalEncode;
    cast.stochastic = stochastic;
    cast.noiseKey = 20251203;
    return cast;
}

/// Every kind of cast with every shape of block that a recipe uses.
inline std::vector<BlockCast> recipeCasts() {
    std::vector<BlockCast> casts;
    for (const Type type : {Type::E4M3, Type::E5M2}) {
        for (const auto& [rows, cols] : {std::pair<int, int>{1, 32}, {32, 1}, {32, 32}}) {
            casts.push_back(mxFp8(rows, cols, type));
        }
        for (const auto& [rows, cols] : {std::pair<int, int>{1, 128}, {128, 1}, {128, 128}}) {
            for (const bool powerOfTwo : {true, false}) casts.push_back(blockScaling(rows, cols, powerOfTwo, type));
        }
    }
    for (const auto& [rows, cols] : {std::pair<int, int>{1, 16}, {16, 1}, {16, 16}}) {
        for (const bool stochastic : {false, true}) casts.push_back(nvFp4(rows, cols, 37.5F, stochastic));
    }
    casts.push_back(blockScaling(1, 64, true));
    casts.push_back(blockScaling(3, 256, false));
    casts.back().amaxEpsilon = 0.01F;
    casts.push_back(nvFp4(1, 16, FLT_MAX));
    return casts;
}

inline std::string describe(const BlockCast& cast) {
    return "type " + std::to_string(static_cast<int>(cast.type)) + " scale " +
           std::to_string(static_cast<int>(cast.scaleType)) + " block " + std::to_string(cast.blockRows) + "x" +
           std::to_string(cast.blockCols) + (cast.powerOfTwo ? " pow2" : "") + (cast.stochastic ? " stochastic" : "");
}

inline std::int64_t blocksAcross(std::int64_t size, std::int64_t block) {
    return (size + block - 1) / block;
}

/// Magnitudes over many binades, and now and then zeros, NaN, infinities, the largest and the smallest floats.
inline std::vector<float> roughMatrix(std::int64_t rows, std::int64_t cols, unsigned seed) {
    constexpr float kOdd[] = {0.0F,    -0.0F,        kNan,    -kNan,  kInfinity, -kInfinity, FLT_MAX, -FLT_MAX,
                              FLT_MIN, FLT_TRUE_MIN, -1e-41F, 1e-30F, 3e-36F,    448.0F,     6.0F,    -1.0F};
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, 1);
    std::uniform_int_distribution<int> binade(-12, 12);
    std::vector<float> x(static_cast<std::size_t>(rows * cols));
    for (float& value : x) value = std::ldexp(normal(random), binade(random));
    // Some blocks stay free of oddities: an infinity takes everything else in its block to zero.
    for (std::size_t i = 0; i < x.size(); i += 1 + random() % 160) x[i] = kOdd[random() % std::size(kOdd)];
    for (std::size_t i = x.size() / 2; i < x.size() / 2 + x.size() / 8; ++i) x[i] = i % 3 == 0 ? -0.0F : 0.0F;
    return x;
}

constexpr std::size_t kGuard = 64;
constexpr std::uint8_t kGuardByte = 0xA5;

/// Codes and scales of a tensor between guards.
struct Quantised {
    BlockCast cast;
    std::int64_t rows;
    std::int64_t cols;
    std::vector<std::uint8_t> codeMemory;
    std::vector<std::uint8_t> scaleMemory;
    CastStats stats;

    Quantised(const BlockCast& how, std::int64_t tensorRows, std::int64_t tensorCols)
        : cast(how), rows(tensorRows), cols(tensorCols) {
        const std::int64_t scaleCount = blocksAcross(rows, cast.blockRows) * blocksAcross(cols, cast.blockCols);
        const std::int64_t scaleBytes = scaleCount * (cast.scaleType == BlockScale::F32 ? 4 : 1);
        codeMemory.assign(static_cast<std::size_t>(bytesFor(cast.type, rows * cols)) + 2 * kGuard, kGuardByte);
        scaleMemory.assign(static_cast<std::size_t>(scaleBytes) + 2 * kGuard, kGuardByte);
    }

    std::uint8_t* codes() { return codeMemory.data() + kGuard; }
    std::uint8_t* scales() { return scaleMemory.data() + kGuard; }
    int code(std::int64_t row, std::int64_t col) const {
        const std::int64_t index = row * cols + col;
        if (cast.type != Type::E2M1) return codeMemory[kGuard + static_cast<std::size_t>(index)];
        return (codeMemory[kGuard + static_cast<std::size_t>(index / 2)] >> (index % 2 == 0 ? 0 : 4)) & 0xF;
    }
    std::size_t slot(std::int64_t row, std::int64_t col) const {
        return static_cast<std::size_t>(row / cast.blockRows * blocksAcross(cols, cast.blockCols) +
                                        col / cast.blockCols);
    }
    /// Of the block that an element is in.
    int scaleByte(std::int64_t row, std::int64_t col) const { return scaleMemory[kGuard + slot(row, col)]; }
    float scaleInv(std::int64_t row, std::int64_t col) const {
        float value = 0;
        std::memcpy(&value, scaleMemory.data() + kGuard + 4 * slot(row, col), sizeof value);
        return value;
    }
    void expectGuardsIntact() const {
        for (std::size_t i = 0; i < kGuard; ++i) {
            ASSERT_EQ(codeMemory[i], kGuardByte);
            ASSERT_EQ(codeMemory[codeMemory.size() - 1 - i], kGuardByte);
            ASSERT_EQ(scaleMemory[i], kGuardByte);
            ASSERT_EQ(scaleMemory[scaleMemory.size() - 1 - i], kGuardByte);
        }
    }
};

inline Quantised quantise(const BlockCast& cast, const std::vector<float>& x, std::int64_t cols, Isa isa,
                          bool counting = true) {
    Quantised result(cast, static_cast<std::int64_t>(x.size()) / cols, cols);
    castBlocks(cast, x.data(), 0, result.rows, cols, result.codes(), result.scales(), counting, result.stats, isa);
    result.expectGuardsIntact();
    return result;
}

}  // namespace testing_support
