// A plain file opened for reading at any place, and nothing else: no folder, pipe or device, which could block or never
// end. Weight files and the JSON beside them are read through it.
#pragma once

#include "engine/error.h"

#include <cstdint>
#include <string>

namespace engine {

class InputFile {
public:
    /// Throws Error (Failure) when there is no such plain file or it cannot be read.
    explicit InputFile(std::string path);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    const std::string& path() const { return m_path; }
    std::int64_t size() const { return m_size; }  ///< bytes, when it was opened

    /// Fills `out` or throws Error (Failure): short reads are an error. May be called from several threads.
    void readAt(std::int64_t offset, void* out, std::int64_t count) const;
    /// The whole file; throws Error (Failure) when it is longer than `limit` bytes.
    std::string readText(std::int64_t limit) const;

    /// An error about this file: "weights PATH: why: fix".
    Error failure(const std::string& why, const std::string& fix) const;

private:
    std::string m_path;
    int m_descriptor = -1;
    std::int64_t m_size = 0;
};

}  // namespace engine
