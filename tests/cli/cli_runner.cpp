// Starts the real amaxscope-cli in a scratch folder; see cli_runner.h.
#include "cli_runner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

namespace cli_test {
namespace {

std::string readFile(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

[[noreturn]] void becomeProgram(const std::vector<std::string>& command, const char* folder, int output,
                                const char* errorFile) {
    const int error = open(errorFile, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (error < 0 || chdir(folder) != 0) _exit(126);
    dup2(output, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
}

}  // namespace

Process::Process(const std::vector<std::string>& command, const std::filesystem::path& folder) {
    static int counter = 0;
    m_errorFile = folder / (".stderr" + std::to_string(counter++));
    int ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
    m_pid = fork();
    if (m_pid == 0) becomeProgram(command, folder.c_str(), ends[1], m_errorFile.c_str());
    close(ends[1]);
    m_output = ends[0];
}

Process::~Process() {
    if (m_pid > 0) {
        kill(m_pid, SIGKILL);
        waitpid(m_pid, nullptr, 0);
    }
    if (m_output >= 0) close(m_output);
}

bool Process::readUntil(const std::string& text) {
    std::size_t from = m_outcome.out.size();
    for (;;) {
        const std::size_t found = m_outcome.out.find(text, from);
        if (found != std::string::npos && m_outcome.out.find('\n', found) != std::string::npos) return true;
        char buffer[4096];
        const ssize_t count = ::read(m_output, buffer, sizeof buffer);
        if (count <= 0) return false;
        m_outcome.out.append(buffer, static_cast<std::size_t>(count));
    }
}

void Process::signal(int number) {
    kill(m_pid, number);
}

Outcome Process::finish() {
    char buffer[4096];
    for (ssize_t count = 0; (count = ::read(m_output, buffer, sizeof buffer)) > 0;) {
        m_outcome.out.append(buffer, static_cast<std::size_t>(count));
    }
    int status = 0;
    waitpid(m_pid, &status, 0);
    m_pid = -1;
    m_outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    m_outcome.err = readFile(m_errorFile);
    return m_outcome;
}

Scratch::Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "amaxscope-cli-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
    m_folder = name;
}

Scratch::~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(m_folder, ignored);
}

void Scratch::write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
}

std::string Scratch::read(const std::string& name) const {
    return readFile(path(name));
}

void Scratch::writeText(const std::string& name, std::size_t bytes) const {
    constexpr const char* kWords[] = {"the ", "run ", "keeps ", "every ", "scale ", "of ", "each ", "tensor.\n"};
    std::string text;
    for (unsigned state = 12345; text.size() < bytes;) {
        state = state * 1664525U + 1013904223U;
        text += kWords[state >> 29U];
    }
    write(name, text);
}

std::vector<std::string> Scratch::cli(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = {AMAXSCOPE_CLI};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
}

Outcome Scratch::run(const std::vector<std::string>& arguments) const {
    return runCommand(cli(arguments));
}

Outcome Scratch::runCommand(const std::vector<std::string>& command) const {
    return Process(command, m_folder).finish();
}

Outcome Scratch::runUnprivileged(const std::vector<std::string>& arguments) const {
    if (geteuid() != 0) return run(arguments);
    constexpr uid_t kNobody = 65534;
    const auto give = [](const std::filesystem::path& path) {
        if (chown(path.c_str(), kNobody, kNobody) != 0) throw std::runtime_error("chown failed");
    };
    give(m_folder);
    for (const auto& entry : std::filesystem::directory_iterator(m_folder)) give(entry.path());
    std::vector<std::string> command = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    for (const std::string& argument : cli(arguments)) command.push_back(argument);
    return runCommand(command);
}

std::vector<json> Scratch::runs(const std::string& database) const {
    const Outcome outcome = run({"runs", "--json", "--db", database});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return linesOfType(outcome.out, "run");
}

std::string Scratch::exported(const std::string& database, int run_) const {
    const Outcome outcome = run({"export", std::to_string(run_), "--format", "json", "--db", database});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
}

std::vector<json> linesOfType(const std::string& output, const std::string& type) {
    std::vector<json> found;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        json object = json::parse(line, nullptr, false);
        if (object.is_object() && object.value("type", "") == type) found.push_back(std::move(object));
    }
    return found;
}

std::vector<std::string> tinyTrain(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"train", "--layers",  "1",  "--d-model", "32",     "--heads",
                                          "2",     "--seq-len", "32", "--batch",   "4",      "--threads",
                                          "1",     "--seed",    "1",  "--db",      "a.amax", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

}  // namespace cli_test
