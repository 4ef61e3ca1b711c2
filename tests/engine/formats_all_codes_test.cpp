// Every code and every 16-bit input of the six narrow formats, against the definition (number_formats.h), committed
// digests of NVIDIA's output, and NVIDIA's headers themselves where they are.
#include "number_formats.h"

#include "dense_sample.h"
#include "nvidia_reference.h"

#include <gtest/gtest.h>

#include <bit>

namespace {

using testing_support::CodeByDefinition;
using testing_support::denseSampleWithHalves;
using testing_support::digest;
using testing_support::Narrow;
using testing_support::NumberFormat;
using testing_support::numberFormat;

/// Equal bits, which tells −0 from 0; any NaN equals any NaN, since no format keeps a payload.
bool same(float a, float b) {
    return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

std::vector<std::uint16_t> encodeAll(const NumberFormat& format, const std::vector<float>& sample) {
    std::vector<std::uint16_t> codes;
    codes.reserve(sample.size());
    for (const float x : sample) codes.push_back(format.encode(x));
    return codes;
}

std::vector<std::uint16_t> allShorts() {
    std::vector<std::uint16_t> all;
    for (std::uint32_t code = 0; code < 0x10000U; ++code) all.push_back(static_cast<std::uint16_t>(code));
    return all;
}

/// The 65,536 numbers of a 16-bit format, as floats.
std::vector<float> allNumbers(Narrow source) {
    std::vector<float> numbers;
    for (const std::uint16_t code : allShorts()) numbers.push_back(numberFormat(source).decode(code));
    return numbers;
}

struct Digests {
    std::uint64_t dense;     // denseSampleWithHalves()
    std::uint64_t fromBf16;  // all BF16 numbers
};

// Made on 2026-12-03 from the output of CUDA 13's headers (host code) by NvidiaAllCodes.haveTheCommittedDigests. In the
// order of Narrow. Make them again only when the sample changes.
constexpr Digests kDigests[] = {
    {0xF5316DC6F852178DULL, 0x99BF2B138C184CA5ULL},  // E4M3
    {0xE6B0BC5A4449D7BDULL, 0xAC312CB821782125ULL},  // E5M2
    {0x508F87F7657D33EDULL, 0xE58DAE1F519B122DULL},  // E2M1
    {0x1BA79156751B4D4DULL, 0x5F9D8788D74F5F25ULL},  // E8M0
    {0x27BDF1A2CDD9CD59ULL, 0xDBB51090B96257A5ULL},  // BF16
    {0x27EFDEB2DB4A0E29ULL, 0x71F38F992E6CE0B9ULL},  // F16
};

const Digests& digestsOf(Narrow format) {
    return kDigests[static_cast<std::size_t>(format)];
}

class AllCodes : public ::testing::TestWithParam<NumberFormat> {
protected:
    const NumberFormat& format() const { return GetParam(); }
};

TEST_P(AllCodes, decodeToTheirDefinition) {
    for (int code = 0; code < format().codes; ++code) {
        const float expected = static_cast<float>(testing_support::valueByDefinition(format(), code));
        const float found = format().decode(static_cast<std::uint16_t>(code));
        EXPECT_TRUE(same(found, expected)) << code << ": " << found << ", not " << expected;
    }
}

TEST_P(AllCodes, surviveDecodeEncodeDecode) {
    int mismatches = 0;
    for (int code = 0; code < format().codes; ++code) {
        const float value = format().decode(static_cast<std::uint16_t>(code));
        const std::uint16_t again = format().encode(value);
        // A saturating format has no way to keep an infinity: it comes back as the largest value.
        const bool saturated = std::isinf(value) && format().saturates;
        const int sign = code & format().signBit;
        const int expected = std::isnan(value) ? format().nanCode : saturated ? sign | format().maxCode : code;
        if (again != expected) ++mismatches;
        if (!saturated && !same(format().decode(again), value)) ++mismatches;
    }
    EXPECT_EQ(mismatches, 0) << "of " << format().codes;
}

TEST_P(AllCodes, areReachedFromEveryBf16AndHalfNumberByDefinition) {
    const CodeByDefinition right(format());
    for (const Narrow source : {Narrow::Bf16, Narrow::F16}) {
        int mismatches = 0;
        for (const float x : allNumbers(source)) mismatches += format().encode(x) != right(x) ? 1 : 0;
        EXPECT_EQ(mismatches, 0) << "of 65536 from " << numberFormat(source).name;
    }
}

TEST_P(AllCodes, areReachedFromTheDenseSampleByDefinition) {
    const CodeByDefinition right(format());
    int mismatches = 0;
    for (const float x : denseSampleWithHalves()) mismatches += format().encode(x) != right(x) ? 1 : 0;
    EXPECT_EQ(mismatches, 0);
}

TEST_P(AllCodes, haveTheDigestsOfNvidiasConversions) {
    EXPECT_EQ(digest(encodeAll(format(), denseSampleWithHalves())), digestsOf(format().id).dense);
    EXPECT_EQ(digest(encodeAll(format(), allNumbers(Narrow::Bf16))), digestsOf(format().id).fromBf16);
}

class NvidiaAllCodes : public AllCodes {
protected:
    void SetUp() override {
        if (!testing_support::haveNvidiaFormat(format().id)) {
            GTEST_SKIP() << "NVIDIA's header for " << format().name
                         << " was not found when the tests were configured; the digests stand in for it";
        }
    }
};

TEST_P(NvidiaAllCodes, haveTheCommittedDigests) {
    const std::vector<float> sample = denseSampleWithHalves();
    std::vector<std::uint16_t> dense(sample.size());
    testing_support::nvidiaEncode(format().id, sample.data(), dense.data(), sample.size());
    EXPECT_EQ(digest(dense), digestsOf(format().id).dense);
    const std::vector<std::uint16_t> all = allShorts();
    std::vector<std::uint16_t> fromBf16(all.size());
    testing_support::nvidiaEncodeFromBf16(format().id, all.data(), fromBf16.data(), all.size());
    EXPECT_EQ(digest(fromBf16), digestsOf(format().id).fromBf16);
}

TEST_P(NvidiaAllCodes, decodeAlike) {
    int mismatches = 0;
    for (int code = 0; code < format().codes; ++code) {
        const auto bits = static_cast<std::uint16_t>(code);
        if (!same(format().decode(bits), testing_support::nvidiaDecode(format().id, bits))) ++mismatches;
    }
    EXPECT_EQ(mismatches, 0) << "of " << format().codes;
}

TEST_P(NvidiaAllCodes, areReachedAlikeFromEveryBf16AndHalfNumber) {
    const std::vector<std::uint16_t> all = allShorts();
    std::vector<std::uint16_t> theirs(all.size());
    testing_support::nvidiaEncodeFromBf16(format().id, all.data(), theirs.data(), all.size());
    EXPECT_EQ(encodeAll(format(), allNumbers(Narrow::Bf16)), theirs);
    testing_support::nvidiaEncodeFromF16(format().id, all.data(), theirs.data(), all.size());
    EXPECT_EQ(encodeAll(format(), allNumbers(Narrow::F16)), theirs);
}

INSTANTIATE_TEST_SUITE_P(Formats, AllCodes, ::testing::ValuesIn(testing_support::numberFormats()),
                         ::testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Formats, NvidiaAllCodes, ::testing::ValuesIn(testing_support::numberFormats()),
                         ::testing::PrintToStringParamName());

}  // namespace
