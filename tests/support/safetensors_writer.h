// Writes safetensors files for tests: good ones from a list of tensors, bad ones from any header and any bytes after
// it.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

struct StoredTensor {
    std::string name;
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::string bytes;
};

template <typename Number>
std::string bytesOf(const std::vector<Number>& numbers) {
    std::string bytes(numbers.size() * sizeof(Number), '\0');
    if (!numbers.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

inline StoredTensor floatTensor(const std::string& name, const std::vector<std::int64_t>& shape,
                                const std::vector<float>& values) {
    return {name, "F32", shape, bytesOf(values)};
}

/// "{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}"
inline std::string headerEntry(const std::string& dtype, const std::vector<std::int64_t>& shape, std::size_t begin,
                               std::size_t end) {
    std::string sizes;
    for (const std::int64_t size : shape) sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
    return R"({"dtype":")" + dtype + R"(","shape":[)" + sizes + R"(],"data_offsets":[)" + std::to_string(begin) + "," +
           std::to_string(end) + "]}";
}

/// The length of the header, the header, the bytes.
inline std::string safetensorsBytes(const std::string& header, const std::string& data) {
    return bytesOf(std::vector<std::uint64_t>{header.size()}) + header + data;
}

inline std::string safetensorsBytes(const std::vector<StoredTensor>& tensors) {
    std::string header = R"({"__metadata__":{"format":"pt"})";
    std::string data;
    for (const StoredTensor& tensor : tensors) {
        header += ",\"" + tensor.name +
                  "\":" + headerEntry(tensor.dtype, tensor.shape, data.size(), data.size() + tensor.bytes.size());
        data += tensor.bytes;
    }
    return safetensorsBytes(header + "}", data);
}

inline void writeFile(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}
