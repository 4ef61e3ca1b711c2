// One safetensors file: 8 bytes with the length of the header, the header (JSON: type, shape and place of each tensor),
// then the numbers. Format: https://github.com/huggingface/safetensors#format
#pragma once

#include "engine/weights.h"
#include "src/input_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace engine {

class SafetensorsFile {
public:
    /// Checks the whole header before anything of it is handed out; throws Error (Failure) naming file and tensor.
    explicit SafetensorsFile(const std::string& path);

    /// The tensors by offset, once; `file` is left 0.
    std::vector<WeightTensor> takeTensors() { return std::move(m_tensors); }

    /// As WeightFile::read. `tensor` is one of this file's.
    void read(const WeightTensor& tensor, std::int64_t first, std::int64_t count, float* out) const;

private:
    InputFile m_file;
    std::vector<WeightTensor> m_tensors;
};

/// An error about one tensor: "weights PATH, tensor NAME: why: fix".
Error tensorFailure(const std::string& path, const std::string& tensor, const std::string& why, const std::string& fix);

/// Headers, and JSON files beside weights, are not longer than this (the reference implementation's own limit).
inline constexpr std::int64_t kLongestHeader = 100'000'000;

}  // namespace engine
