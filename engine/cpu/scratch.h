// Working memory of the calling thread: allocated once per purpose, kept until the thread ends, so that a training
// step allocates nothing. Purposes that are in use at the same time have their own entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace engine::cpu {

enum class Scratch : std::uint8_t { GemmA = 0, GemmB = 1, Attention = 2 };

/// At least `bytes` bytes, aligned to 64; contents are undefined. Valid until this thread asks for more of the same
/// purpose. Throws std::bad_alloc.
inline std::byte* threadScratch(Scratch purpose, std::size_t bytes) {
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    struct Block {
        std::unique_ptr<std::byte, Free> memory;
        std::size_t bytes = 0;
    };
    thread_local Block blocks[3];
    Block& block = blocks[static_cast<std::size_t>(purpose)];
    if (block.bytes >= bytes) return block.memory.get();

    constexpr std::size_t kHugePage = std::size_t{2} << 20;
    const std::size_t alignment = bytes >= kHugePage ? kHugePage : std::size_t{64};
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    block.memory.reset();
    block.bytes = 0;
    block.memory.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
    if (block.memory == nullptr) throw std::bad_alloc();
    block.bytes = rounded;
#if defined(__linux__)
    if (rounded >= kHugePage) madvise(block.memory.get(), rounded, MADV_HUGEPAGE);  // advice: failing costs only speed
#endif
    return block.memory.get();
}

}  // namespace engine::cpu
