// Errors as the command line prints them: "amaxscope-cli: what: why: what to do", and the nearest name for a typo.
#pragma once

#include <CLI/App.hpp>

#include <exception>
#include <string>
#include <vector>

namespace cli {

enum ExitCode : int { kDone = 0, kFailure = 1, kBadUsage = 2, kInterrupted = 130 };

/// Thrown by the commands themselves; what() reads "what: why: what to do".
class UsageError : public std::runtime_error {
public:
    UsageError(const std::string& what, const std::string& why, const std::string& fix)
        : std::runtime_error(what + ": " + why + ": " + fix) {}
};

/// The candidate nearest to `word` by edit distance, "" when none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// Throws UsageError for what CLI11 could not place: an unknown command, option or surplus argument.
void rejectExtras(const CLI::App& app);

/// CLI11's own complaints in our form.
std::string describe(const CLI::ParseError& error);

/// Prints one line to stderr.
void printError(const std::string& text);

/// Flushes stdout; throws when what a command printed did not all get through.
void requireOutputWritten();

/// Prints the exception at hand and returns the exit code for it. Call inside a catch block.
int reportCurrentException();

}  // namespace cli
