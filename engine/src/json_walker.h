// Walks through a JSON document of unknown origin without building it: a visitor sees each value with the keys that
// lead to it. Nesting is limited and a key that appears twice in one object is an error, which a parser that
// builds the document would hide.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace engine {

/// What is wrong with a document, to follow its name: "is not a JSON object". Who knows that name makes an Error of it.
class JsonProblem : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Where a value stands: the keys from the root down, and how many arrays are open around it.
struct JsonPlace {
    std::vector<std::string> keys;
    int arrays = 0;
};

/// null, true or false, a whole number (negative, then not), any other number, text.
using JsonValue = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string>;

class JsonVisitor {
public:
    virtual ~JsonVisitor() = default;
    /// An array or object begins or ends; the root object is not reported.
    virtual void open(const JsonPlace& place, bool array) = 0;
    virtual void close(const JsonPlace& place) = 0;
    virtual void value(const JsonPlace& place, const JsonValue& value) = 0;
};

/// Throws JsonProblem when the text is not one JSON object in UTF-8, is nested deeper than `depth` (the root counts),
/// or names a key twice in one object. What the visitor throws passes through.
void walkJson(std::string_view text, int depth, JsonVisitor& visitor);

/// Text from a file as it can be shown: control characters as \xNN, cut after some 200 bytes.
std::string printable(std::string_view text);
/// C0 and C1 control characters and DEL, in UTF-8.
bool hasControlCharacters(std::string_view text);

}  // namespace engine
