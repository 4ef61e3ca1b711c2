// One aligned allocation per kind of memory. A layout function runs twice: first against a measuring arena that hands
// out null pointers and adds up sizes, then against the real one; so sizes are written down once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace engine {

class Arena {
public:
    /// Measures only: take() returns nullptr.
    Arena() = default;
    /// Zeroed, 64-byte aligned, huge-page advised. Throws Error (Failure) when the machine has not that much memory.
    explicit Arena(std::int64_t bytes);
    /// Hands out parts of memory that somebody else owns.
    static Arena over(std::byte* memory, std::int64_t bytes);
    ~Arena();
    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&& other) noexcept;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    template <typename T>
    T* take(std::int64_t count) {
        return static_cast<T*>(takeBytes(count * static_cast<std::int64_t>(sizeof(T))));
    }
    void* takeBytes(std::int64_t bytes);

    std::int64_t used() const { return m_used; }

private:
    std::byte* m_memory = nullptr;
    std::int64_t m_capacity = 0;
    std::int64_t m_used = 0;
    bool m_owned = true;
};

}  // namespace engine
