// Typed options on top of CLI11: a number that is none, or a word that is not on the list, is reported in our form,
// and the last of a repeated option wins.
#pragma once

#include <CLI/App.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cli {

/// Whole text or UsageError "--steps ten: is not a whole number: …".
std::int64_t wholeNumber(const std::string& what, const std::string& text);
int intNumber(const std::string& what, const std::string& text);
std::uint64_t wholeNumberFromZero(const std::string& what, const std::string& text);
double number(const std::string& what, const std::string& text);
/// Comma- or space-separated token ids; UsageError names the bad one.
std::vector<int> tokenIds(const std::string& what, const std::string& text);

/// `set` is called with the option's text while the command line is read.
CLI::Option* addText(CLI::App& app, const std::string& option, const std::string& placeholder, const std::string& help,
                     const std::function<void(const std::string&)>& set);
CLI::Option* addText(CLI::App& app, const std::string& option, const std::string& placeholder, const std::string& help,
                     std::string& value);
CLI::Option* addInt(CLI::App& app, const std::string& option, const std::string& help, std::optional<int>& value);
CLI::Option* addNumber(CLI::App& app, const std::string& option, const std::string& help, std::optional<double>& value);

/// --db with its default, amaxscope.amax in the current folder.
void addDatabase(CLI::App& app, std::string& path);

/// Run ids given as positional arguments.
std::vector<std::int64_t> runIds(const std::vector<std::string>& texts);

}  // namespace cli
