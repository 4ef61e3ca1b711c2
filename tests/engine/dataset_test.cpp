// Data: what a batch holds, what is held out, and what is wrong with a file.
#include "src/dataset.h"
#include "engine/error.h"

#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace {

using engine::Dataset;
using engine::RunConfig;

class DataFile : public testing::Test {
protected:
    RunConfig config(const std::string& kind, const std::string& bytes) {
        const std::string path = m_folder.path() + "/data";
        std::ofstream(path, std::ios::binary) << bytes;
        RunConfig result;
        result.model.seqLen = 8;
        result.train.batch = 2;
        result.train.data = kind + ":" + path;
        return result;
    }
    static std::string failure(const RunConfig& config) {
        try {
            Dataset::open(config);
        } catch (const engine::Error& error) {
            return error.what();
        }
        return "";
    }
    static std::string words16(const std::vector<int>& tokens) {
        std::string bytes;
        for (int token : tokens) {
            bytes += static_cast<char>(token & 0xFF);
            bytes += static_cast<char>(token >> 8);
        }
        return bytes;
    }
    TemporaryFolder m_folder;
};

std::vector<int> ramp(int count) {
    std::vector<int> tokens;
    for (int i = 0; i < count; ++i) tokens.push_back(i % 300);
    return tokens;
}

TEST(StrideData, everySequenceHasOneStride) {
    RunConfig config;
    const auto data = Dataset::open(config);
    std::vector<int> in(64 * 16);
    std::vector<int> out(64 * 16);
    data->trainBatch(3, 64, 16, in.data(), out.data());
    for (std::size_t row = 0; row < 64; ++row) {
        const int stride = (in[row * 16 + 1] - in[row * 16] + 64) % 64;
        EXPECT_GE(stride, 1);
        EXPECT_LE(stride, 8);
        for (std::size_t t = 0; t < 16; ++t) EXPECT_EQ((in[row * 16 + t] + stride) % 64, out[row * 16 + t]);
    }
}

TEST(StrideData, trainingNeverShowsAPrompt) {
    RunConfig config;
    const auto data = Dataset::open(config);
    std::set<std::pair<int, int>> shown;
    std::vector<int> in(512 * 2);
    std::vector<int> out(512 * 2);
    for (int step = 0; step < 20; ++step) {
        data->trainBatch(step, 512, 2, in.data(), out.data());
        for (std::size_t row = 0; row < 512; ++row) shown.emplace(in[2 * row], in[2 * row + 1]);
    }
    EXPECT_GT(shown.size(), 400U);
    const auto prompts = data->prompts(20, 4, 12);
    ASSERT_EQ(prompts.size(), 20U);
    for (const auto& prompt : prompts) EXPECT_FALSE(shown.contains({prompt.start[0], prompt.start[1]}));
}

TEST(StrideData, asksNoPromptTwice) {
    RunConfig config;
    config.model.vocab = 16;
    std::set<std::vector<int>> starts;
    const auto prompts = Dataset::open(config)->prompts(20, 4, 8);
    for (const auto& prompt : prompts) EXPECT_TRUE(starts.insert(prompt.start).second);
    EXPECT_GE(prompts.size(), 1U);
    EXPECT_LT(prompts.size(), 20U) << "16 tokens and 4 strides have fewer held-out pairs";
}

TEST(StrideData, batchesDependOnSeedAndStepAlone) {
    RunConfig config;
    std::vector<int> a(64), b(64), c(64), scratch(64);
    Dataset::open(config)->trainBatch(5, 4, 16, a.data(), scratch.data());
    const auto again = Dataset::open(config);
    again->trainBatch(4, 4, 16, scratch.data(), scratch.data());
    again->trainBatch(5, 4, 16, b.data(), scratch.data());
    config.train.seed = 9;
    Dataset::open(config)->trainBatch(5, 4, 16, c.data(), scratch.data());
    EXPECT_EQ(a, b);
    EXPECT_NE(a, c);
}

TEST_F(DataFile, textGivesBytesAndHoldsOutTheLastTenth) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += static_cast<char>(i < 900 ? 'a' : 'z');
    const auto data = Dataset::open(config("text", text));
    EXPECT_EQ(data->vocab(), 256);
    std::vector<int> in(8), out(8);
    for (int step = 0; step < 200; ++step) {
        data->trainBatch(step, 1, 8, in.data(), out.data());
        for (int token : out) ASSERT_EQ(token, 'a');
    }
    for (int row = 0; row < data->validationRows(8); ++row) {
        data->validationRow(row, 8, in.data(), out.data());
        for (int token : in) ASSERT_EQ(token, 'z');
    }
    EXPECT_EQ(data->validationRows(8), 12);
}

TEST_F(DataFile, readsNanoGptAndLlmcTokens) {
    const std::vector<int> tokens = ramp(400);
    EXPECT_EQ(Dataset::open(config("tokens", words16(tokens)))->vocab(), 304) << "299 rounded up to sixteens";
    std::string header(1024, '\0');
    const std::uint32_t words[3] = {20240520, 1, 400};
    for (std::size_t i = 0; i < 12; ++i) header[i] = static_cast<char>(words[i / 4] >> (8 * (i % 4)));
    const auto data = Dataset::open(config("tokens", header + words16(tokens)));
    std::vector<int> in(8), out(8);
    data->validationRow(0, 8, in.data(), out.data());
    EXPECT_EQ(in[0], tokens[360]);
    EXPECT_EQ(out[7], tokens[368]);
    EXPECT_NE(failure(config("tokens", header + words16(ramp(399)))).find("promises 400"), std::string::npos);
}

TEST_F(DataFile, saysWhatIsWrongWithAFile) {
    RunConfig missing = config("text", "x");
    missing.train.data = "text:" + m_folder.path() + "/none";
    EXPECT_NE(failure(missing).find("No such file"), std::string::npos);
    missing.train.data = "text:" + m_folder.path();
    EXPECT_NE(failure(missing).find("folder"), std::string::npos);
    missing.train.data = "text:/proc/self/mem";
    EXPECT_NE(failure(missing).find("reading broke off"), std::string::npos) << failure(missing);
    EXPECT_NE(failure(config("text", "")).find("empty"), std::string::npos);
    EXPECT_NE(failure(config("text", std::string(50, 'a'))).find("too few for --seq-len 8"), std::string::npos);
    RunConfig wide = config("text", std::string(100, 'a'));
    wide.train.batch = 64;
    EXPECT_NE(failure(wide).find("less than one batch of 64 × 8"), std::string::npos);
    EXPECT_NE(failure(config("tokens", std::string(401, 'a'))).find("multiple of 2"), std::string::npos);
    RunConfig small = config("tokens", words16(ramp(400)));
    small.model.vocab = 100;
    EXPECT_NE(failure(small).find("at least 300"), std::string::npos);
}

}  // namespace
