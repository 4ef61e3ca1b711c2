// Totals of whole tensors against a Python script that shares no code with the program, on a file with every
// floating-point type, and on a real model: AMAXSCOPE_TEST_WEIGHTS=FILE.safetensors names one.
#include "engine/weights.h"
#include "safetensors_writer.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

namespace {

using engine::WeightFile;
using engine::WeightTensor;
using engine::WeightTile;

struct Totals {
    std::int64_t elements = 0;
    double amax = 0;
    double sumOfSquares = 0;
};

std::map<std::string, Totals> ours(const std::string& path) {
    const WeightFile file(path);
    std::map<std::string, Totals> all;
    for (const WeightTensor& tensor : file.tensors()) {
        if (!isReadable(tensor.type)) continue;
        Totals& totals = all[tensor.name];
        file.visitTiles(tensor, [&](const WeightTile& tile) {
            totals.elements += tile.rows * tile.cols;
            for (std::int64_t i = 0; i < tile.rows * tile.cols; ++i) {
                const double value = tile.values[i];
                totals.amax = std::max(totals.amax, std::abs(value));
                totals.sumOfSquares += value * value;
            }
        });
    }
    return all;
}

std::map<std::string, Totals> pythons(const std::string& path) {
    const std::string command = std::string(PYTHON3) + " " + WEIGHT_TOTALS + " '" + path + "'";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("no pipe to " + command);
    std::string output;
    char buffer[4096];
    while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, count);
    EXPECT_EQ(pclose(pipe), 0) << command;
    std::map<std::string, Totals> all;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        Totals totals;
        std::string name;
        words >> totals.elements >> totals.amax >> totals.sumOfSquares;
        words.ignore();
        std::getline(words, name);
        all[name] = totals;
    }
    return all;
}

void compare(const std::string& path) {
    const auto expected = pythons(path);
    const auto found = ours(path);
    ASSERT_EQ(found.size(), expected.size());
    ASSERT_FALSE(found.empty());
    for (const auto& [name, totals] : expected) {
        ASSERT_TRUE(found.contains(name)) << name;
        const Totals& mine = found.at(name);
        EXPECT_EQ(mine.elements, totals.elements) << name;
        EXPECT_EQ(mine.amax, totals.amax) << name;
        // Each of the n additions in double may err by 2^−53 of the sum; the script's sum is exact.
        const double tolerance = totals.sumOfSquares * static_cast<double>(totals.elements) * 0x1p-53;
        EXPECT_NEAR(mine.sumOfSquares, totals.sumOfSquares, tolerance) << name;
    }
}

class WeightTotals : public testing::Test {
protected:
    void SetUp() override {
        if (std::string(PYTHON3).empty()) GTEST_SKIP() << "there is no python3";
    }
    TemporaryFolder m_folder;
};

TEST_F(WeightTotals, everyTypeAddsUpAsInPython) {
    // Bit patterns from a linear congruential generator, with a bit cleared that infinities and NaNs have set.
    std::uint64_t state = 7;
    const auto next = [&] { return state = state * 6364136223846793005ULL + 1442695040888963407ULL; };
    std::vector<double> f64(3001);
    std::vector<std::uint32_t> f32(130 * 97);
    std::vector<std::uint16_t> f16(5000);
    std::vector<std::uint16_t> bf16(5000);
    std::vector<std::uint8_t> f8(5000);
    // Kept within float's range, and exact there: the script does not round to float.
    for (auto& value : f64) value = static_cast<float>(static_cast<double>(next() >> 40U) * 0x1p-20 - 8);
    for (auto& bits : f32)
        bits = static_cast<std::uint32_t>(next() >> 32U) & 0xBF7FFFFFU;  // below 2, squares stay small
    for (auto& bits : f16) bits = static_cast<std::uint16_t>(next() >> 48U) & 0xFBFFU;
    for (auto& bits : bf16) bits = static_cast<std::uint16_t>(next() >> 48U) & 0xBF7FU;
    for (auto& bits : f8) bits = static_cast<std::uint8_t>(next() >> 56U) & 0xFBU;
    const std::string path = m_folder.path() + "/all.safetensors";
    writeFile(path, safetensorsBytes({StoredTensor{"a f64", "F64", {3001}, bytesOf(f64)},
                                      StoredTensor{"layer.0.f32", "F32", {130, 97}, bytesOf(f32)},
                                      StoredTensor{"f16", "F16", {50, 10, 10}, bytesOf(f16)},
                                      StoredTensor{"bf16", "BF16", {1, 5000}, bytesOf(bf16)},
                                      StoredTensor{"e4m3", "F8_E4M3", {5000}, bytesOf(f8)},
                                      StoredTensor{"e5m2", "F8_E5M2", {5000, 1}, bytesOf(f8)},
                                      StoredTensor{"none", "F32", {0, 3}, ""},
                                      StoredTensor{"i8", "I8", {5000}, bytesOf(f8)}}));
    compare(path);
}

TEST_F(WeightTotals, aRealModelAddsUpAsInPython) {
    const char* path = std::getenv("AMAXSCOPE_TEST_WEIGHTS");
    if (path == nullptr) GTEST_SKIP() << "AMAXSCOPE_TEST_WEIGHTS names no model";
    compare(path);
}

}  // namespace
