// Aligned, huge-page advised memory: page faults in a step are what makes CPU training slow on virtual machines.
#include "src/arena.h"

#include "engine/error.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace engine {

namespace {

constexpr std::int64_t kAlignment = 64;
constexpr std::int64_t kHugePage = std::int64_t{2} << 20;

std::int64_t roundUp(std::int64_t value, std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

Arena::Arena(std::int64_t bytes) : m_capacity(roundUp(bytes, kHugePage)) {
    void* memory = nullptr;
    const auto size = static_cast<std::size_t>(m_capacity);
    if (size > 0 && posix_memalign(&memory, static_cast<std::size_t>(kHugePage), size) != 0) {
        throw Error(ErrorKind::Failure, "memory", std::to_string(bytes >> 20) + " MiB could not be allocated",
                    "use a smaller model, batch or sequence length");
    }
    m_memory = static_cast<std::byte*>(memory);
    if (size > 0) {
        madvise(m_memory, size, MADV_HUGEPAGE);
        std::memset(m_memory, 0, size);
    }
}

Arena Arena::over(std::byte* memory, std::int64_t bytes) {
    Arena arena;
    arena.m_memory = memory;
    arena.m_capacity = roundUp(bytes, kAlignment);
    arena.m_owned = false;
    return arena;
}

Arena::~Arena() {
    if (m_owned) std::free(m_memory);
}

Arena::Arena(Arena&& other) noexcept {
    *this = std::move(other);
}

Arena& Arena::operator=(Arena&& other) noexcept {
    std::swap(m_memory, other.m_memory);
    std::swap(m_capacity, other.m_capacity);
    std::swap(m_used, other.m_used);
    std::swap(m_owned, other.m_owned);
    return *this;
}

void* Arena::takeBytes(std::int64_t bytes) {
    const std::int64_t offset = m_used;
    m_used += roundUp(bytes, kAlignment);
    if (m_capacity == 0) return nullptr;
    ENGINE_CHECK(m_used <= m_capacity, "the arena is larger than it was measured");
    return m_memory + offset;
}

}  // namespace engine
