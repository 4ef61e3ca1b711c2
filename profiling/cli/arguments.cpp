// Typed options on top of CLI11; see arguments.h.
#include "arguments.h"

#include "messages.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace cli {
namespace {

template <typename T>
bool parseAll(const std::string& text, T& value) {
    const char* end = text.data() + text.size();
    const std::from_chars_result result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc() && result.ptr == end;
}

}  // namespace

std::int64_t wholeNumber(const std::string& what, const std::string& text) {
    std::int64_t value = 0;
    if (!parseAll(text, value)) throw UsageError(what + " " + text, "is not a whole number", "write digits only");
    return value;
}

int intNumber(const std::string& what, const std::string& text) {
    const std::int64_t value = wholeNumber(what, text);
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
        throw UsageError(what + " " + text, "is out of range", "use a smaller number");
    }
    return static_cast<int>(value);
}

std::uint64_t wholeNumberFromZero(const std::string& what, const std::string& text) {
    std::uint64_t value = 0;
    if (!parseAll(text, value)) {
        throw UsageError(what + " " + text, "is not a whole number from 0", "write digits only");
    }
    return value;
}

double number(const std::string& what, const std::string& text) {
    double value = 0;
    if (!parseAll(text, value)) throw UsageError(what + " " + text, "is not a number", "write it like 0.001 or 1e-3");
    if (!std::isfinite(value)) {
        throw UsageError(what + " " + text, "is not a finite number", "write it like 0.001 or 1e-3");
    }
    return value;
}

std::vector<int> tokenIds(const std::string& what, const std::string& text) {
    std::vector<int> ids;
    std::size_t start = 0;
    while (start < text.size()) {
        const std::size_t end = std::min(text.find_first_of(", ", start), text.size());
        const std::string word = text.substr(start, end - start);
        start = end + 1;
        if (word.empty()) continue;
        int id = 0;
        if (!parseAll(word, id)) {
            throw UsageError(what + " \"" + text + "\"", "\"" + word + "\" is not a token id",
                             "write ids with commas, like 0,3,6,9");
        }
        ids.push_back(id);
    }
    return ids;
}

CLI::Option* addText(CLI::App& app, const std::string& option, const std::string& placeholder, const std::string& help,
                     const std::function<void(const std::string&)>& set) {
    return app.add_option_function<std::string>(option, set, help)
        ->type_name(placeholder)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CLI::Option* addText(CLI::App& app, const std::string& option, const std::string& placeholder, const std::string& help,
                     std::string& value) {
    return addText(app, option, placeholder, help, [&value](const std::string& text) { value = text; });
}

CLI::Option* addInt(CLI::App& app, const std::string& option, const std::string& help, std::optional<int>& value) {
    return addText(app, option, "N", help,
                   [&value, option](const std::string& text) { value = intNumber(option, text); });
}

CLI::Option* addNumber(CLI::App& app, const std::string& option, const std::string& help,
                       std::optional<double>& value) {
    return addText(app, option, "X", help, [&value, option](const std::string& text) { value = number(option, text); });
}

void addDatabase(CLI::App& app, std::string& path) {
    path = "amaxscope.amax";
    addText(app, "--db", "PATH", "run database (default: amaxscope.amax in the current folder)", path);
}

std::vector<std::int64_t> runIds(const std::vector<std::string>& texts) {
    std::vector<std::int64_t> ids;
    for (const std::string& text : texts) ids.push_back(wholeNumber("run", text));
    return ids;
}

}  // namespace cli
