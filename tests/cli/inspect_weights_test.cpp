// amaxscope-cli inspect on a file of weights: figures by hand, what is stored, and files and words that are refused.
#include "cli_runner.h"
#include "safetensors_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

namespace {

using cli_test::json;
using cli_test::linesOfType;
using cli_test::Outcome;
using cli_test::Scratch;

// 16 × 32: 448 once, 1 in all other places of the first row, zeros below but for one 2^-12.
std::string sampleFile() {
    std::vector<float> values(16 * 32, 0.0F);
    for (std::size_t i = 0; i < 32; ++i) values[i] = 1.0F;
    values[5] = 448.0F;
    values[100] = 0x1p-12F;
    const StoredTensor tensor = floatTensor("w", {16, 32}, values);
    return safetensorsBytes("{\"w\":" + headerEntry("F32", {16, 32}, 0, tensor.bytes.size()) + "}", tensor.bytes);
}

TEST(InspectWeights, tellsWhatEachRecipeDoes) {
    const Scratch scratch;
    scratch.write("a.safetensors", sampleFile());
    const Outcome outcome = scratch.run({"inspect", "a.safetensors", "--recipes", "delayed,mxfp8", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const std::vector<json> lines = linesOfType(outcome.out, "tensor");
    ASSERT_EQ(lines.size(), 2U);
    // Delayed: scale 448 / 448 = 1, so 2^-12 is below half of E4M3's smallest 2^-9. MXFP8: its block holds nothing
    // else.
    EXPECT_EQ(lines[0]["recipe"], "delayed");
    EXPECT_EQ(lines[0]["amax"], 448.0);
    EXPECT_EQ(lines[0]["scale_inv_max"], 1.0);
    EXPECT_EQ(lines[0]["underflowed"], 1);
    EXPECT_EQ(lines[1]["recipe"], "mxfp8");
    EXPECT_EQ(lines[1]["underflowed"], 0);
    for (const json& line : lines) {
        EXPECT_EQ(line["count"], 512);
        EXPECT_EQ(line["zeros"], 512 - 33);
        EXPECT_EQ(line["saturated"], 0);
        EXPECT_EQ(line["smallest"], 0x1p-12);
    }
}

TEST(InspectWeights, storesAndListsWhatItTold) {
    const Scratch scratch;
    scratch.write("a.safetensors", sampleFile());
    ASSERT_EQ(scratch.run({"inspect", "a.safetensors", "--recipes", "current,nvfp4", "--db", "b.amax"}).code, 0);
    const Outcome outcome = scratch.run({"inspect", "b.amax"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("a.safetensors"), std::string::npos) << outcome.out;
}

TEST(InspectWeights, refusesBadFilesAndUnknownRecipesWithoutWriting) {
    const Scratch scratch;
    const std::string good = sampleFile();
    scratch.write("good.safetensors", good);
    scratch.write("cut.safetensors", good.substr(0, good.size() - 7));
    const Outcome cut = scratch.run({"inspect", "cut.safetensors", "--recipes", "delayed", "--db", "c.amax"});
    EXPECT_EQ(cut.code, 1);
    EXPECT_NE(cut.err.find("cut.safetensors"), std::string::npos) << cut.err;
    const Outcome word = scratch.run({"inspect", "good.safetensors", "--recipes", "fp3", "--db", "c.amax"});
    EXPECT_EQ(word.code, 2);
    EXPECT_NE(word.err.find("mxfp8"), std::string::npos) << "the choices: " << word.err;
    EXPECT_FALSE(std::filesystem::exists(scratch.path("c.amax")));
}

}  // namespace
