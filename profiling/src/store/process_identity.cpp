// Reads process start times and the boot id from /proc.
#include "store/process_identity.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <unistd.h>

namespace profiling {

namespace {

constexpr std::int64_t kGone = -1;

std::string readAll(const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

/// Field 22 of /proc/PID/stat. A zombie counts as gone: it will not write again.
std::int64_t startTime(std::int64_t pid) {
    const std::string stat = readAll("/proc/" + std::to_string(pid) + "/stat");
    // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
    const std::size_t close = stat.rfind(')');
    if (close == std::string::npos) return kGone;
    std::istringstream fields(stat.substr(close + 1));
    std::string field;
    fields >> field;
    if (field == "Z" || field == "X") return kGone;
    for (int i = 4; i <= 22; ++i) fields >> field;
    return fields ? std::stoll(field) : kGone;
}

std::string bootId() {
    std::string id = readAll("/proc/sys/kernel/random/boot_id");
    while (!id.empty() && id.back() == '\n') id.pop_back();
    return id;
}

bool haveProc() {
    return std::filesystem::exists("/proc/self/stat");
}

}  // namespace

ProcessIdentity currentProcess() {
    const std::int64_t pid = getpid();
    return {pid, startTime(pid), bootId()};
}

bool isAlive(const ProcessIdentity& process) {
    if (!haveProc()) return true;
    return process.boot == bootId() && process.start != kGone && startTime(process.pid) == process.start;
}

}  // namespace profiling
