// What the block-scaled kernels of one call share: the arguments, the constants that follow from them, and the scalar
// definitions of scale and value that the Ref versions use and the vector versions must match.
#pragma once

#include "cpu/block_cast.h"

#include <cstdint>

namespace engine::cpu {

struct BlockWork {
    const BlockCast& cast;
    std::int64_t firstRow;
    std::int64_t rows;
    std::int64_t cols;
    int colShift;             // blockCols = 2^colShift
    std::int64_t scaleCols;   // scales in a row of blocks
    float typeMax;            // largest finite value of the type
    float inverseMax;         // E8M0: fl32(1/typeMax)
    float encodeFactor;       // E4M3 scales: fl32(globalEncode · fl32(1/6))
    float globalDecode;       // E4M3 scales: fl32(1/globalEncode), else 1
    std::uint64_t noise;      // mixed noiseKey
    const float* scaleTable;  // byte scales: value by byte; else nullptr
};

/// Checks the arguments, a broken one being a mistake in the program.
BlockWork blockWork(const BlockCast& cast, std::int64_t firstRow, std::int64_t rows, std::int64_t cols);

/// Value of an element's code.
float blockValue(Type type, std::uint8_t code);

/// Code number `index` of a tensor's array.
inline std::uint8_t codeAt(Type type, const std::uint8_t* codes, std::int64_t index) {
    if (type != Type::E2M1) return codes[index];
    return static_cast<std::uint8_t>((codes[index / 2] >> (index % 2 * 4)) & 0xF);
}

}  // namespace engine::cpu
