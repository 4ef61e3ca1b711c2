// Files of model weights in the safetensors format: what is in them, and their numbers, a piece at a time.
#pragma once

#include "engine/config.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace engine {

/// How a tensor's elements are stored. Everything but the types up to E5M2 can be listed, not read.
enum class WeightType : std::uint8_t {
    F64 = 1,
    F32,
    F16,
    Bf16,
    E4M3,  // F8_E4M3, the "fn" kind
    E5M2,
    E4M3Fnuz,
    E5M2Fnuz,
    E8M0,
    E2M3,  // F6_E2M3
    E3M2,
    E2M1,  // F4
    C64,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool
};

/// As the format spells it: "BF16", "F8_E4M3", "I64".
const char* name(WeightType type);
/// WeightFile::read converts it.
constexpr bool isReadable(WeightType type) {
    return type <= WeightType::E5M2;
}

struct WeightTensor {
    std::string name;  // as in the file; UTF-8 without control characters
    WeightType type = WeightType::F32;
    std::vector<std::int64_t> shape;  // outermost first; empty: a single number
    std::int64_t elements = 0;        // product of the shape
    std::int64_t rows = 0;            // as a matrix: all dimensions but the last taken together,
    std::int64_t cols = 0;            // and the last one. A vector is one row
    std::int64_t bytes = 0;
    std::int64_t offset = 0;  // of its first byte in its file
    std::size_t file = 0;     // index into WeightFile::files()
};

/// "[768][2304]"; "[]" for a single number.
std::string shapeText(const std::vector<std::int64_t>& shape);

/// Part of a tensor as a matrix. firstRow and firstCol are multiples of kWeightTileAlign, and so are rows and cols
/// except at the tensor's edges: a block of up to 128 × 128 that starts at a multiple of its size lies within one tile.
struct WeightTile {
    std::int64_t firstRow;
    std::int64_t firstCol;
    std::int64_t rows;
    std::int64_t cols;
    const float* values;  // [rows][cols], valid during the call
};

inline constexpr std::int64_t kWeightTileAlign = 128;
inline constexpr std::int64_t kWeightTileFloats = std::int64_t{1} << 20;  // the most that a tile holds

/// A safetensors file, or a model in several of them, opened for reading. Opening checks all that can be checked
/// without the numbers; memory follows the number of tensors, never their sizes, so a file may be larger than memory.
/// All functions are const and may be called from several threads. Errors are Error (Failure), naming file and tensor.
class WeightFile {
public:
    /// `path` is a .safetensors file, or the .safetensors.index.json of a model in several files, which lie beside it.
    explicit WeightFile(const std::string& path);
    ~WeightFile();
    WeightFile(WeightFile&&) noexcept;
    WeightFile& operator=(WeightFile&&) noexcept;

    const std::string& path() const { return m_path; }
    /// The files that hold the numbers: `path` itself, or those that the index names, by name.
    const std::vector<std::string>& files() const { return m_files; }
    /// In the order of the files and, within one, of the numbers.
    const std::vector<WeightTensor>& tensors() const { return m_tensors; }
    /// nullptr when there is none of that name.
    const WeightTensor* find(std::string_view name) const;

    /// Converts `count` elements from `first` on (row-major) to float, exactly but for F64, which is rounded to nearest
    /// (infinity beyond float's range). Throws Error for a type that is not readable and when reading fails.
    void read(const WeightTensor& tensor, std::int64_t first, std::int64_t count, float* out) const;

    /// Calls `visit` for each tile, from left to right, then from top to bottom. An exception of `visit` ends it.
    void visitTiles(const WeightTensor& tensor, const std::function<void(const WeightTile&)>& visit) const;

private:
    void openIndex();
    void add(const std::string& path);

    std::string m_path;
    std::vector<std::string> m_files;
    std::vector<std::unique_ptr<class SafetensorsFile>> m_parts;
    std::vector<WeightTensor> m_tensors;
    std::unordered_map<std::string_view, std::size_t> m_byName;
};

/// `base` with everything that a file of GPT-2's or LLaMA's weights says about its model (with the config.json beside
/// it); the number of heads stays where nothing says it, and the sequence length where it is no longer than the file's.
/// Throws Error (Failure) when the file is no such model.
ModelConfig modelOfWeights(const std::string& path, const ModelConfig& base);

}  // namespace engine
