// The three kinds of data. Files are read whole; the last tenth is held out.
#include "src/dataset.h"

#include "engine/error.h"
#include "src/random.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace engine {

std::vector<Dataset::Prompt> Dataset::prompts(int /*count*/, int /*startLength*/, int /*length*/) const {
    return {};
}

namespace {

// ---------------------------------------------------------------- stride
// x[t] = (start + stride·t) mod vocab, stride 1 … 8. A tenth of the (start, stride) pairs is held out: no training
// sequence begins with one. (Parts of it do occur further on in sequences of the same stride, which wrap around.)
class StrideDataset : public Dataset {
public:
    StrideDataset(int vocab, std::uint64_t seed) : m_vocab(vocab), m_seed(seed) {
        const int pairs = vocab * strides();
        for (int pair = 0; pair < pairs; ++pair) {
            const bool heldOut = randomBelow(kSplitKey, static_cast<std::uint64_t>(pair), 10) == 0;
            (heldOut ? m_heldOut : m_train).push_back(pair);
        }
        if (m_heldOut.empty()) {
            m_heldOut.push_back(m_train.back());
            if (m_train.size() > 1) m_train.pop_back();
        }
    }

    int vocab() const override { return m_vocab; }

    void trainBatch(std::int64_t step, int rows, int seqLen, int* inputs, int* targets) const override {
        for (int row = 0; row < rows; ++row) {
            const auto index =
                static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(rows) + static_cast<std::uint64_t>(row);
            const std::size_t pick = randomBelow(m_seed ^ kBatchKey, index, m_train.size());
            fill(m_train[pick], seqLen, inputs + std::ptrdiff_t{row} * seqLen, targets + std::ptrdiff_t{row} * seqLen);
        }
    }

    int validationRows(int /*seqLen*/) const override { return static_cast<int>(m_heldOut.size()); }

    void validationRow(int row, int seqLen, int* inputs, int* targets) const override {
        fill(m_heldOut[static_cast<std::size_t>(row) % m_heldOut.size()], seqLen, inputs, targets);
    }

    std::vector<Prompt> prompts(int count, int startLength, int length) const override {
        std::vector<Prompt> result;
        const std::size_t distinct = std::min(static_cast<std::size_t>(count), m_heldOut.size());
        for (std::size_t i = 0; i < distinct; ++i) {
            const int pair = m_heldOut[i * m_heldOut.size() / distinct];
            Prompt prompt;
            for (int t = 0; t < startLength; ++t) prompt.start.push_back(token(pair, t));
            for (int t = startLength; t < startLength + length; ++t) prompt.expected.push_back(token(pair, t));
            result.push_back(std::move(prompt));
        }
        return result;
    }

private:
    static constexpr std::uint64_t kSplitKey = 0x73706C6974;  // the split is the same for every seed
    static constexpr std::uint64_t kBatchKey = 0x6261746368;

    int strides() const { return std::clamp(m_vocab / 4, 1, 8); }
    int token(int pair, int t) const {
        const int start = pair % m_vocab;
        const int stride = 1 + pair / m_vocab;
        return static_cast<int>((start + std::int64_t{stride} * t) % m_vocab);
    }
    void fill(int pair, int seqLen, int* inputs, int* targets) const {
        for (int t = 0; t < seqLen; ++t) {
            inputs[t] = token(pair, t);
            targets[t] = token(pair, t + 1);
        }
    }

    int m_vocab;
    std::uint64_t m_seed;
    std::vector<int> m_train;
    std::vector<int> m_heldOut;
};

// ---------------------------------------------------------------- files
class TokenDataset : public Dataset {
public:
    TokenDataset(std::vector<std::uint32_t> tokens, int vocab, std::uint64_t seed)
        : m_tokens(std::move(tokens)),
          m_vocab(vocab),
          m_seed(seed),
          m_trainEnd(m_tokens.size() - m_tokens.size() / 10) {}

    int vocab() const override { return m_vocab; }

    void trainBatch(std::int64_t step, int rows, int seqLen, int* inputs, int* targets) const override {
        const std::uint64_t starts = m_trainEnd - static_cast<std::size_t>(seqLen);
        for (int row = 0; row < rows; ++row) {
            const auto index =
                static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(rows) + static_cast<std::uint64_t>(row);
            copy(randomBelow(m_seed ^ kBatchKey, index, starts), seqLen, inputs + std::ptrdiff_t{row} * seqLen,
                 targets + std::ptrdiff_t{row} * seqLen);
        }
    }

    int validationRows(int seqLen) const override {
        return static_cast<int>((m_tokens.size() - m_trainEnd - 1) / static_cast<std::size_t>(seqLen));
    }

    void validationRow(int row, int seqLen, int* inputs, int* targets) const override {
        const auto wrapped = static_cast<std::size_t>(row % validationRows(seqLen));
        copy(m_trainEnd + wrapped * static_cast<std::size_t>(seqLen), seqLen, inputs, targets);
    }

private:
    static constexpr std::uint64_t kBatchKey = 0x6261746368;

    void copy(std::size_t at, int seqLen, int* inputs, int* targets) const {
        for (int t = 0; t < seqLen; ++t) {
            inputs[t] = static_cast<int>(m_tokens[at + static_cast<std::size_t>(t)]);
            targets[t] = static_cast<int>(m_tokens[at + static_cast<std::size_t>(t) + 1]);
        }
    }

    std::vector<std::uint32_t> m_tokens;
    int m_vocab;
    std::uint64_t m_seed;
    std::size_t m_trainEnd;
};

std::vector<unsigned char> readFile(const std::string& option, const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        throw Error(ErrorKind::Failure, option, "it is a folder", "name a file");
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        const int code = errno;
        throw Error(ErrorKind::Failure, option, std::strerror(code),
                    code == ENOENT ? "check the path" : "check the file's permissions");
    }
    std::vector<unsigned char> bytes;
    try {
        bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    } catch (const std::ios_base::failure&) {  // the stream's buffer throws whatever the stream was told
        throw Error(ErrorKind::Failure, option, "reading broke off", "check that it is a plain file on a sound disk");
    }
    if (bytes.empty()) throw Error(ErrorKind::Failure, option, "the file is empty", "name a file with text or tokens");
    return bytes;
}

std::uint32_t readWord(const std::vector<unsigned char>& bytes, std::size_t at, std::size_t width) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < width; ++i) word |= static_cast<std::uint32_t>(bytes[at + i]) << (8 * i);
    return word;
}

// Raw little-endian uint16 (nanoGPT), or llm.c's file: a header of 256 int32 with magic, version and token count,
// then uint16 (magic 20240520) or uint32 (magic 20240801).
std::vector<std::uint32_t> parseTokens(const std::string& option, const std::vector<unsigned char>& bytes) {
    constexpr std::uint32_t kMagic16 = 20240520;
    constexpr std::uint32_t kMagic32 = 20240801;
    constexpr std::size_t kHeaderBytes = 1024;
    std::size_t at = 0;
    std::size_t width = 2;
    const std::uint32_t magic = bytes.size() >= kHeaderBytes ? readWord(bytes, 0, 4) : 0;
    if (magic == kMagic16 || magic == kMagic32) {
        at = kHeaderBytes;
        width = magic == kMagic16 ? 2 : 4;
        const std::size_t promised = readWord(bytes, 8, 4);
        const std::size_t present = (bytes.size() - kHeaderBytes) / width;
        if (promised != present) {
            throw Error(ErrorKind::Failure, option,
                        "its header promises " + std::to_string(promised) + " tokens but " + std::to_string(present) +
                            " follow",
                        "the file is cut short or damaged: write it again");
        }
    }
    if ((bytes.size() - at) % width != 0) {
        throw Error(ErrorKind::Failure, option, "its size is not a multiple of " + std::to_string(width) + " bytes",
                    "name a file of uint16 tokens, or one with llm.c's header");
    }
    std::vector<std::uint32_t> tokens;
    tokens.reserve((bytes.size() - at) / width);
    for (; at < bytes.size(); at += width) tokens.push_back(readWord(bytes, at, width));
    return tokens;
}

void requireLength(const std::string& option, std::size_t tokens, const RunConfig& config) {
    const auto seqLen = static_cast<std::size_t>(config.model.seqLen);
    const std::size_t train = tokens - tokens / 10;
    const std::size_t heldOut = tokens / 10;
    const std::string have = std::to_string(tokens) + " tokens";
    if (heldOut < seqLen + 1 || train < seqLen + 1) {
        throw Error(ErrorKind::Usage, option,
                    "it has " + have + ", too few for --seq-len " + std::to_string(seqLen) +
                        " (the held-out tenth must hold one sequence)",
                    "use at least " + std::to_string(10 * (seqLen + 1)) + " tokens, or a shorter --seq-len");
    }
    const std::size_t batch = seqLen * static_cast<std::size_t>(config.train.batch);
    if (train < batch + 1) {
        throw Error(ErrorKind::Usage, option,
                    "it has " + have + ", less than one batch of " + std::to_string(config.train.batch) + " × " +
                        std::to_string(seqLen),
                    "use a longer file, or a smaller --batch or --seq-len");
    }
}

constexpr int kStrideVocab = 64;
constexpr int kByteVocab = 256;

std::unique_ptr<Dataset> openFile(const RunConfig& config, bool text, const std::string& path) {
    const std::string option = "--data " + config.train.data;
    if (path.empty()) throw Error(ErrorKind::Usage, option, "the path is missing", "write text:PATH or tokens:PATH");
    const std::vector<unsigned char> bytes = readFile(option, path);
    std::vector<std::uint32_t> tokens =
        text ? std::vector<std::uint32_t>(bytes.begin(), bytes.end()) : parseTokens(option, bytes);
    requireLength(option, tokens.size(), config);
    const std::uint32_t largest = *std::max_element(tokens.begin(), tokens.end());
    // A vocabulary that is a multiple of 16 lets the head run in FP8.
    const std::uint32_t needed = text ? kByteVocab : (largest / 16 + 1) * 16;
    if (needed > (1U << 24)) {
        throw Error(ErrorKind::Failure, option, "token " + std::to_string(largest) + " is larger than any vocabulary",
                    "name a file of uint16 tokens, or one with llm.c's header");
    }
    const int vocab = config.model.vocab > 0 ? config.model.vocab : static_cast<int>(needed);
    if (largest >= static_cast<std::uint32_t>(vocab)) {
        throw Error(ErrorKind::Usage, "--vocab " + std::to_string(vocab),
                    "the data holds token " + std::to_string(largest),
                    "use at least " + std::to_string(largest + 1) + ", or leave it out");
    }
    return std::make_unique<TokenDataset>(std::move(tokens), vocab, config.train.seed);
}

}  // namespace

std::unique_ptr<Dataset> Dataset::open(const RunConfig& config) {
    const std::string& data = config.train.data;
    if (data == "stride") {
        const int vocab = config.model.vocab > 0 ? config.model.vocab : kStrideVocab;
        return std::make_unique<StrideDataset>(vocab, config.train.seed);
    }
    if (data.starts_with("text:")) return openFile(config, true, data.substr(5));
    if (data.starts_with("tokens:")) return openFile(config, false, data.substr(7));
    throw Error(ErrorKind::Usage, "--data " + data, "this is no kind of data", "use stride, text:PATH or tokens:PATH");
}

}  // namespace engine
