// Tokens as people read them; see token_text.h.
#include "token_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cli {
namespace {

/// Length of the valid UTF-8 sequence that starts at `at`; 0 when there is none.
std::size_t sequenceLength(const std::string& bytes, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const unsigned char lead = byte(at);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || at + length > bytes.size()) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xC0U) != 0x80U) return 0;
    }
    const unsigned char second = byte(at + 1);
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool tooHigh = (lead == 0xED && second >= 0xA0) || (lead == 0xF4 && second >= 0x90);
    const bool c1Control = lead == 0xC2 && second < 0xA0;  // some terminals obey these like escape sequences
    return overlong || tooHigh || c1Control ? 0 : length;
}

bool isControl(unsigned char byte) {
    return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F;
}

}  // namespace

std::string printable(const std::string& bytes) {
    std::string out;
    for (std::size_t i = 0; i < bytes.size();) {
        const std::size_t length = sequenceLength(bytes, i);
        if (length == 0 || isControl(static_cast<unsigned char>(bytes[i]))) {
            out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(bytes[i])));
            i += 1;
        } else {
            out.append(bytes, i, length);
            i += length;
        }
    }
    return out;
}

std::string oneLine(const std::string& text) {
    std::string out;
    for (const char c : printable(text)) {
        if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else {
            out += c;
        }
    }
    return out;
}

bool isTextData(const std::string& data) {
    return data.rfind("text:", 0) == 0;
}

std::vector<int> bytesToTokens(const std::string& text) {
    std::vector<int> tokens;
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
    return tokens;
}

std::string tokensToBytes(const std::vector<int>& tokens) {
    std::string bytes;
    for (const int token : tokens) bytes.push_back(static_cast<char>(static_cast<unsigned char>(token)));
    return bytes;
}

std::string tokensToIds(const std::vector<int>& tokens) {
    return fmt::format("{}", fmt::join(tokens, ","));
}

}  // namespace cli
