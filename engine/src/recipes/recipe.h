// What a recipe is to the engine: how one operand turns into low precision and back, and what state that leaves.
// Every recipe is one file beside this one; list.cpp is the one list of them.
//
// An operand is cast in strips of rows, by several threads. Recipes that need the amax of the whole tensor first say
// so: measure() sees every strip before begin() fixes the scales, and castStrip() sees them again.
#pragma once

#include "engine/config.h"
#include "src/arena.h"
#include "src/operand.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace engine {

/// Largest |x| of a tensor as each of its two copies sees it; NaN elements are passed over.
struct TensorAmax {
    float data = 0;
    float columnData = 0;  // differs where the copy along the rows is transformed first
    void add(const TensorAmax& other);
};

/// The elements of an operand as a GEMM takes them: value = element · factor.
struct ProductOperand {
    const void* data;
    cpu::Type type;
    float factor;
};

class Recipe {
public:
    virtual ~Recipe() = default;

    virtual cpu::Type elementType(Role role) const = 0;
    /// Gives the operand its memory (`elementBytes` at least, for each element of data) and its type.
    virtual void layout(Operand& operand, Arena& arena, std::int64_t elementBytes) const;

    /// The bytes that hold an operand as it was cast: what a checkpoint keeps of a stored weight.
    virtual std::vector<std::span<std::byte>> memory(const Operand& operand) const;

    /// Rows that have to be cast together; strips begin at multiples of it.
    virtual std::int64_t stripRows() const { return 1; }
    virtual bool needsAmax() const { return false; }
    virtual void measure(const Operand& operand, const float* x, std::int64_t rows, TensorAmax& amax,
                         cpu::Isa isa) const;
    /// Fixes the scales of the cast that follows. `noiseKey` differs from cast to cast.
    virtual void begin(Operand& operand, const TensorAmax& amax, std::uint64_t noiseKey) = 0;
    /// Rows [firstRow, firstRow + rows) from x [rows][cols].
    virtual void castStrip(const Operand& operand, std::int64_t firstRow, std::int64_t rows, const float* x,
                           bool counting, cpu::CastStats& stats, cpu::Isa isa) const = 0;

    /// True: a product reads what unpackStrip() writes; false: it reads `data` as it is, times 1/scale.
    virtual bool unpacksForProducts() const { return false; }
    /// F32 where the values are not exact in BF16.
    virtual cpu::Type unpackedType() const { return cpu::Type::Bf16; }
    /// What unpacked values are still to be multiplied with.
    virtual float unpackedFactor(const Operand& operand, Along along) const;
    virtual void unpackStrip(const Operand& operand, Along along, std::int64_t firstRow, std::int64_t rows, void* out,
                             cpu::Isa isa) const;
    /// Dequantised rows in FP32: what the optimizer updates where there are no FP32 weights.
    virtual void dequantiseStrip(const Operand& operand, std::int64_t firstRow, std::int64_t rows, float* x,
                                 cpu::Isa isa) const = 0;

    /// State from step to step. Nothing for recipes that look at the tensor alone.
    virtual void record(int /*slot*/, float /*amax*/) {}
    virtual void update() {}
    virtual std::vector<float> state() const { return {}; }
    virtual void restore(const std::vector<float>& state);
};

/// `formats`: element type per slot.
std::unique_ptr<Recipe> makeRecipe(const Fp8Recipe& recipe, const std::vector<cpu::Type>& formats);

/// Element type without an instance.
cpu::Type elementType(const Fp8Recipe& recipe, Role role);

/// Which dimensions a recipe's products can take.
struct ShapeRule {
    int multiple;        // of rows, in and out alike
    const char* reason;  // continues "…, which": "FP8 products need"
};
ShapeRule shapeRule(RecipeKind kind);

/// "" or why the product of an operand [rows][in] and a weight [out][in] cannot run by the recipe, with the rule and
/// the next size that can.
std::string shapeProblem(RecipeKind kind, std::int64_t rows, std::int64_t out, std::int64_t in);

const char* formatName(cpu::Type type);
/// Largest finite value of an element type; 0 for FP32 and BF16.
float largestValue(cpu::Type type);

// The makers that list.cpp lists.
std::unique_ptr<Recipe> makeDelayed(const Fp8Recipe& recipe, const std::vector<cpu::Type>& formats);
std::unique_ptr<Recipe> makeCurrent(const Fp8Recipe& recipe, const std::vector<cpu::Type>& formats);
std::unique_ptr<Recipe> makeBlock(const Fp8Recipe& recipe, const std::vector<cpu::Type>& formats);
std::unique_ptr<Recipe> makeMxFp8(const Fp8Recipe& recipe, const std::vector<cpu::Type>& formats);
std::unique_ptr<Recipe> makeNvFp4(const Fp8Recipe& recipe, const std::vector<cpu::Type>& formats);

}  // namespace engine
