// One operand of a GEMM in memory: its elements, the scales they were cast with, and where it is watched.
#pragma once

#include "cpu/kernels.h"

#include <cstdint>

namespace engine {

enum class Role : std::uint8_t { Input = 0, Weight = 1, GradOutput = 2 };
const char* roleName(Role role);

/// Which way a product sums over an operand. Along columns: both of fprop, grad_output of dgrad. Along rows: both of
/// wgrad, weight of dgrad.
enum class Along : std::uint8_t { Columns = 0, Rows = 1 };

struct Operand {
    Role role = Role::Input;
    std::int64_t rows = 0;  // that there is memory for
    std::int64_t cols = 0;
    cpu::Type type = cpu::Type::F32;  // of the elements at present
    void* data = nullptr;             // [rows][cols]; in blocks along the columns for recipes with block scales
    float scale = 1.0F;               // of the cast: per tensor, or NVFP4's encode scale of the tensor
    void* scales = nullptr;           // of the blocks
    void* columnData = nullptr;       // cast again in blocks along the rows; nullptr: data serves both ways
    void* columnScales = nullptr;
    float columnScale = 1.0F;
    std::uint64_t noiseKey = 0;  // of the cast, for stochastic rounding
    int slot = -1;               // of the recipe's state and of the step's records; −1: the recipe has no part in it
    cpu::Type recipeType = cpu::Type::F32;  // of the elements when cast by the recipe
    int tensor = -1;                        // in the run's list of tensors; −1: not in it
    bool bothWays = true;                   // the cast fills the copy along the rows too, which evaluation does without
    bool observed = true;                   // counted and put into snapshots

    /// False for FP32 and BF16, by choice or after a fallback.
    bool quantised() const { return type != cpu::Type::F32 && type != cpu::Type::Bf16; }
};

}  // namespace engine
