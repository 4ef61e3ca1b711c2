// All 2^32 floats through the fastest cast, the scalar conversion and, where the headers are, NVIDIA's own. Takes some
// minutes: label "slow". The dense sample of formats_test.cpp and cast_test.cpp stands for it in daily runs.
#include "nvidia_reference.h"

#include "cpu/kernels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

namespace {

using engine::Fp8Format;
using engine::Overflow;

constexpr std::uint64_t kFloats = std::uint64_t{1} << 32;
constexpr std::uint64_t kChunk = 1U << 14;
constexpr std::uint64_t kThreads = 2;

struct Mismatches {
    std::atomic<std::uint64_t> kernel{0};  // fastest kernel against scalar conversion
    std::atomic<std::uint64_t> nvidia{0};  // scalar conversion against NVIDIA's headers
};

using CompareChunk = std::function<void(const std::vector<float>& x, Mismatches& found)>;

/// Feeds every bit pattern, in order, to compareChunk; two threads take alternate chunks.
void overAllFloats(Mismatches& found, const CompareChunk& compareChunk) {
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&found, &compareChunk, thread] {
            std::vector<float> x(kChunk);
            for (std::uint64_t first = thread * kChunk; first < kFloats; first += kThreads * kChunk) {
                for (std::uint64_t i = 0; i < kChunk; ++i) {
                    x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(first + i));
                }
                compareChunk(x, found);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

template <typename Code>
std::uint64_t differences(const std::vector<Code>& a, const std::vector<Code>& b) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1U : 0U;
    return count;
}

void compareFp8(const std::vector<float>& x, Fp8Format format, Mismatches& found) {
    std::vector<std::uint8_t> kernel(x.size()), scalar(x.size()), nvidia(x.size());
    engine::cpu::CastStats stats;
    engine::cpu::castFp8(x.data(), kernel.data(), static_cast<std::int64_t>(x.size()), 1.0F, format, false, stats,
                         engine::cpu::bestIsa());
    for (std::size_t i = 0; i < x.size(); ++i) scalar[i] = engine::encodeFp8(x[i], format);
    found.kernel += differences(kernel, scalar);
    if (!testing_support::haveNvidiaHeaders()) return;
    testing_support::nvidiaFp8(x.data(), nvidia.data(), x.size(), format, Overflow::Saturate);
    found.nvidia += differences(scalar, nvidia);
}

void compareBf16(const std::vector<float>& x, Mismatches& found) {
    std::vector<std::uint16_t> kernel(x.size()), scalar(x.size()), nvidia(x.size());
    engine::cpu::castBf16(x.data(), kernel.data(), static_cast<std::int64_t>(x.size()), engine::cpu::bestIsa());
    for (std::size_t i = 0; i < x.size(); ++i) scalar[i] = engine::encodeBf16(x[i]);
    found.kernel += differences(kernel, scalar);
    if (!testing_support::haveNvidiaHeaders()) return;
    testing_support::nvidiaBf16(x.data(), nvidia.data(), x.size());
    found.nvidia += differences(scalar, nvidia);
}

void expectNone(const Mismatches& found) {
    EXPECT_EQ(found.kernel, 0U) << "fastest kernel (" << engine::cpu::name(engine::cpu::bestIsa())
                                << ") against scalar";
    EXPECT_EQ(found.nvidia, 0U) << "scalar against NVIDIA's headers";
    if (!testing_support::haveNvidiaHeaders()) std::puts("not compared with cuda_fp8.h: it was not found");
}

TEST(AllFloats, e4m3CastsAgree) {
    Mismatches found;
    overAllFloats(found, [](const auto& x, auto& counts) { compareFp8(x, Fp8Format::E4M3, counts); });
    expectNone(found);
}

TEST(AllFloats, e5m2CastsAgree) {
    Mismatches found;
    overAllFloats(found, [](const auto& x, auto& counts) { compareFp8(x, Fp8Format::E5M2, counts); });
    expectNone(found);
}

TEST(AllFloats, bf16CastsAgree) {
    Mismatches found;
    overAllFloats(found, [](const auto& x, auto& counts) { compareBf16(x, counts); });
    expectNone(found);
}

}  // namespace
