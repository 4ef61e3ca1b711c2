// The walk itself, on nlohmann's event parser, which keeps its own stack on the heap.
#include "src/json_walker.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <unordered_set>
#include <utility>

namespace engine {

namespace {

using nlohmann::json;

class Walker : public nlohmann::json_sax<json> {
public:
    Walker(JsonVisitor& visitor, int depth) : m_visitor(visitor), m_depth(depth) {}

    bool null() override { return pass(std::monostate()); }
    bool boolean(bool value) override { return pass(value); }
    bool number_integer(number_integer_t value) override { return pass(std::int64_t{value}); }
    bool number_unsigned(number_unsigned_t value) override { return pass(std::uint64_t{value}); }
    bool number_float(number_float_t value, const string_t& /*text*/) override { return pass(double{value}); }
    bool string(string_t& value) override { return pass(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return false; }

    bool start_object(std::size_t /*elements*/) override { return open(false); }
    bool start_array(std::size_t /*elements*/) override { return open(true); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& value) override {
        Frame& frame = m_frames.back();
        if (!frame.seen.insert(value).second) {
            throw JsonProblem("names \"" + printable(value) + "\" twice in one object");
        }
        m_place.keys.resize(frame.keys);
        m_place.keys.push_back(std::move(value));
        return true;
    }

    bool parse_error(std::size_t position, const std::string& /*token*/, const json::exception& /*error*/) override {
        throw JsonProblem("is not valid JSON in UTF-8 (byte " + std::to_string(position) + ")");
    }

private:
    struct Frame {
        bool array;
        std::size_t keys;  // that lead to it
        std::unordered_set<std::string> seen;
    };

    bool pass(const JsonValue& value) {
        if (m_frames.empty()) throw JsonProblem("is not a JSON object");
        m_visitor.value(m_place, value);
        return true;
    }

    bool open(bool array) {
        if (m_frames.empty() && array) throw JsonProblem("is not a JSON object");
        if (m_frames.size() == static_cast<std::size_t>(m_depth)) {
            throw JsonProblem("is nested deeper than " + std::to_string(m_depth) + " levels");
        }
        if (!m_frames.empty()) m_visitor.open(m_place, array);
        m_frames.push_back({array, m_place.keys.size(), {}});
        if (array) ++m_place.arrays;
        return true;
    }

    bool close() {
        m_place.keys.resize(m_frames.back().keys);
        if (m_frames.back().array) --m_place.arrays;
        m_frames.pop_back();
        if (!m_frames.empty()) m_visitor.close(m_place);
        return true;
    }

    JsonVisitor& m_visitor;
    int m_depth;
    JsonPlace m_place;
    std::vector<Frame> m_frames;
};

/// Bytes of the control character that begins at `at`; 0 when there is none.
std::size_t controlLength(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte == 0x7F) return 1;
    const bool c1 = byte == 0xC2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0;
    return c1 ? 2 : 0;
}

}  // namespace

void walkJson(std::string_view text, int depth, JsonVisitor& visitor) {
    // The parser takes a byte of zero for the end of the text.
    const std::size_t zero = text.find('\0');
    if (zero != std::string_view::npos) {
        throw JsonProblem("is not valid JSON in UTF-8 (byte " + std::to_string(zero + 1) + ")");
    }
    Walker walker(visitor, depth);
    json::sax_parse(text.begin(), text.end(), &walker);
}

std::string printable(std::string_view text) {
    constexpr std::size_t kLongest = 200;
    std::string shown;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool inCharacter = (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80;
        if (shown.size() >= kLongest && !inCharacter) return shown + "…";
        const std::size_t length = controlLength(text, i);
        if (length == 0) shown += text[i];
        for (std::size_t k = 0; k < length; ++k) {
            char escaped[5];
            std::snprintf(escaped, sizeof escaped, "\\x%02X", static_cast<unsigned>(text[i + k]) & 0xFFU);
            shown += escaped;
        }
        if (length == 2) ++i;
    }
    return shown;
}

bool hasControlCharacters(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (controlLength(text, i) > 0) return true;
    }
    return false;
}

}  // namespace engine
