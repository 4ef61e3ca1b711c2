// Opening and reading plain files by offset.
#include "src/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace engine {

namespace {

// Linux moves less than 2 GiB with one call.
constexpr std::int64_t kLargestRead = std::int64_t{1} << 30;

const char* openAdvice(int code) {
    switch (code) {
        case ENOENT:
        case ENOTDIR:
        case ENAMETOOLONG:
            return "check the path";
        case ELOOP:
            return "its symbolic links lead in a circle: name the file itself";
        case EMFILE:
        case ENFILE:
            return "raise the limit of open files (ulimit -n)";
        default:
            return "check the file's permissions";
    }
}

const char* kindOf(mode_t mode) {
    if (S_ISDIR(mode)) return "it is a folder";
    if (S_ISFIFO(mode)) return "it is a pipe";
    return "it is a device";
}

}  // namespace

InputFile::InputFile(std::string path) : m_path(std::move(path)) {
    // Without O_NONBLOCK, opening a pipe would wait for its other end.
    m_descriptor = ::open(m_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (m_descriptor < 0) {
        const int code = errno;
        throw failure(code == ENXIO ? "it is a socket or a device" : std::strerror(code), openAdvice(code));
    }
    struct stat status {};
    const int code = ::fstat(m_descriptor, &status) == 0 ? 0 : errno;
    if (code != 0 || !S_ISREG(status.st_mode)) {
        ::close(m_descriptor);
        if (code != 0) throw failure(std::strerror(code), "check the disk");
        throw failure(kindOf(status.st_mode), "name a .safetensors file or its .safetensors.index.json");
    }
    m_size = status.st_size;
}

InputFile::~InputFile() {
    ::close(m_descriptor);
}

void InputFile::readAt(std::int64_t offset, void* out, std::int64_t count) const {
    auto* target = static_cast<std::byte*>(out);
    while (count > 0) {
        const auto wanted = static_cast<std::size_t>(std::min(count, kLargestRead));
        const ssize_t done = ::pread(m_descriptor, target, wanted, offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) throw failure(std::strerror(errno), "check the disk");
        if (done == 0) throw failure("it became shorter while it was read", "read it again when nobody writes to it");
        target += done;
        offset += done;
        count -= done;
    }
}

std::string InputFile::readText(std::int64_t limit) const {
    if (m_size > limit) {
        throw failure("it is " + std::to_string(m_size) + " bytes long, more than the " + std::to_string(limit) +
                          " that such a file may have",
                      "name another file");
    }
    std::string text(static_cast<std::size_t>(m_size), '\0');
    readAt(0, text.data(), m_size);
    return text;
}

Error InputFile::failure(const std::string& why, const std::string& fix) const {
    return {ErrorKind::Failure, "weights " + m_path, why, fix};
}

}  // namespace engine
