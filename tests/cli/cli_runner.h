// Starts the real amaxscope-cli in a scratch folder and reads what it says.
#pragma once

#include <nlohmann/json.hpp>

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cli_test {

using nlohmann::json;

struct Outcome {
    int code = -1;  // exit code; 128 + signal when a signal ended it
    std::string out;
    std::string err;
};

/// A program that runs while the test goes on. Its output is read when asked for.
class Process {
public:
    Process(const std::vector<std::string>& command, const std::filesystem::path& folder);
    ~Process();  // kills it when it still runs
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    /// Reads stdout up to and including the first line that holds `text`; false at the end of the output.
    bool readUntil(const std::string& text);
    void signal(int number);
    /// Reads the rest and waits for the end.
    Outcome finish();

private:
    std::filesystem::path m_errorFile;
    pid_t m_pid = -1;
    int m_output = -1;
    Outcome m_outcome;
};

/// A scratch folder, removed at the end, in which the program runs.
class Scratch {
public:
    Scratch();
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::filesystem::path path(const std::string& name) const { return m_folder / name; }
    void write(const std::string& name, const std::string& bytes) const;
    std::string read(const std::string& name) const;
    /// English-like text of about this many bytes, always the same.
    void writeText(const std::string& name, std::size_t bytes) const;

    Outcome run(const std::vector<std::string>& arguments) const;       ///< amaxscope-cli with these
    Outcome runCommand(const std::vector<std::string>& command) const;  ///< any program
    /// amaxscope-cli without root's rights over files; code 126 or 127 when that user cannot start it.
    Outcome runUnprivileged(const std::vector<std::string>& arguments) const;
    std::vector<std::string> cli(const std::vector<std::string>& arguments) const;
    const std::filesystem::path& folder() const { return m_folder; }

    std::vector<json> runs(const std::string& database) const;         ///< as `runs --json` tells, newest first
    std::string exported(const std::string& database, int run) const;  ///< the whole run as JSON text

private:
    std::filesystem::path m_folder;
};

/// The lines of a --json output whose "type" is this.
std::vector<json> linesOfType(const std::string& output, const std::string& type);

/// train with a model that makes a step in about a millisecond; more arguments follow.
std::vector<std::string> tinyTrain(const std::vector<std::string>& more);

}  // namespace cli_test
