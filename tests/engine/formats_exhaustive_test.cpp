// All 2^32 floats through the fastest cast, the scalar conversion, the definition of each format and, where the headers
// are, NVIDIA's own. Takes some minutes: label "slow". The dense samples of formats_all_codes_test.cpp and
// cast_test.cpp stand for it in daily runs.
#include "number_formats.h"
#include "nvidia_reference.h"

#include "cpu/kernels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

using testing_support::CodeByDefinition;
using testing_support::Narrow;
using testing_support::NumberFormat;

constexpr std::uint64_t kFloats = std::uint64_t{1} << 32;
constexpr std::uint64_t kChunk = 1U << 14;  // divides the patterns of one sign, so magnitudes ascend within a chunk
constexpr std::uint64_t kThreads = 2;

struct Found {
    std::atomic<std::uint64_t> floats{0};
    std::atomic<std::uint64_t> kernel{0};      // mismatches of the fastest kernel with the scalar conversion
    std::atomic<std::uint64_t> definition{0};  // of the scalar conversion with the definition
    std::atomic<std::uint64_t> nvidia{0};      // of the scalar conversion with NVIDIA's headers
};

std::uint64_t differences(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1U : 0U;
    return count;
}

bool hasKernel(Narrow format) {
    return format == Narrow::E4M3 || format == Narrow::E5M2 || format == Narrow::Bf16;
}

/// Codes of the fastest cast of this machine.
std::vector<std::uint16_t> castByKernel(const std::vector<float>& x, Narrow format) {
    std::vector<std::uint16_t> codes(x.size());
    const auto n = static_cast<std::int64_t>(x.size());
    if (format == Narrow::Bf16) {
        engine::cpu::castBf16(x.data(), codes.data(), n, engine::cpu::bestIsa());
        return codes;
    }
    std::vector<std::uint8_t> bytes(x.size());
    engine::cpu::CastStats stats;
    const auto to = format == Narrow::E4M3 ? engine::Fp8Format::E4M3 : engine::Fp8Format::E5M2;
    engine::cpu::castFp8(x.data(), bytes.data(), n, 1.0F, to, false, stats, engine::cpu::bestIsa());
    codes.assign(bytes.begin(), bytes.end());
    return codes;
}

class AllFloats : public ::testing::TestWithParam<NumberFormat> {
protected:
    void compareChunk(const std::vector<float>& x, Found& found) const {
        std::vector<std::uint16_t> scalar(x.size()), other(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) scalar[i] = GetParam().encode(x[i]);
        m_definition.encodeAscending(x.data(), other.data(), x.size());
        found.definition += differences(scalar, other);
        if (hasKernel(GetParam().id)) found.kernel += differences(scalar, castByKernel(x, GetParam().id));
        if (testing_support::haveNvidiaFormat(GetParam().id)) {
            testing_support::nvidiaEncode(GetParam().id, x.data(), other.data(), x.size());
            found.nvidia += differences(scalar, other);
        }
        found.floats += x.size();
    }

    /// Every bit pattern, in order; the threads take alternate chunks.
    void compareAll(Found& found) const {
        std::vector<std::thread> threads;
        for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
            threads.emplace_back([this, &found, thread] {
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

private:
    const CodeByDefinition m_definition{GetParam()};
};

std::string told(bool compared, std::uint64_t mismatches) {
    return compared ? std::to_string(mismatches) : "not compared";
}

TEST_P(AllFloats, areEncodedAlike) {
    Found found;
    compareAll(found);
    const bool withKernel = hasKernel(GetParam().id);
    const bool withNvidia = testing_support::haveNvidiaFormat(GetParam().id);
    std::printf("%s, %s floats; mismatches with the definition: %s, the fastest kernel (%s): %s, NVIDIA's header: %s\n",
                GetParam().name, std::to_string(found.floats).c_str(), told(true, found.definition).c_str(),
                engine::cpu::name(engine::cpu::bestIsa()), told(withKernel, found.kernel).c_str(),
                told(withNvidia, found.nvidia).c_str());
    EXPECT_EQ(found.floats, kFloats);
    EXPECT_EQ(found.definition, 0U);
    EXPECT_EQ(found.kernel, 0U);
    EXPECT_EQ(found.nvidia, 0U);
}

INSTANTIATE_TEST_SUITE_P(Formats, AllFloats, ::testing::ValuesIn(testing_support::numberFormats()),
                         ::testing::PrintToStringParamName());

}  // namespace
