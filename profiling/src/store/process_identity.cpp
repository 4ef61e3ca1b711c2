// Reads process start times, the boot id and the PID namespace from /proc.
#include "store/process_identity.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <sys/stat.h>
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

std::int64_t pidNamespace() {
    struct stat status {};
    return stat("/proc/self/ns/pid", &status) == 0 ? static_cast<std::int64_t>(status.st_ino) : 0;
}

/// The machine id is not to be shown around as it is; a hash (FNV-1a) tells machines apart as well.
std::string hostIdentity() {
    std::array<char, 256> hostName{};
    if (gethostname(hostName.data(), hostName.size() - 1) != 0) hostName[0] = '\0';
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : readAll("/etc/machine-id")) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    }
    std::array<char, 20> digits{};
    std::snprintf(digits.data(), digits.size(), " %016llx", static_cast<unsigned long long>(hash));
    return std::string(hostName.data()) + digits.data();
}

bool haveProc() {
    return std::filesystem::exists("/proc/self/stat");
}

}  // namespace

ProcessIdentity currentProcess() {
    const std::int64_t pid = getpid();
    return {pid, startTime(pid), bootId(), pidNamespace(), hostIdentity()};
}

Liveness liveness(const ProcessIdentity& process, std::int64_t silentNs, const ProcessIdentity& here) {
    if (!haveProc()) return Liveness::Alive;
    const bool sameNamespace = process.pidNamespace == here.pidNamespace;
    if (sameNamespace && process.boot == here.boot) {
        const bool found = process.start != kGone && startTime(process.pid) == process.start;
        return found ? Liveness::Alive : Liveness::Gone;
    }
    if (silentNs <= kSilentNs) return Liveness::Alive;
    // A new boot id on the same machine means that it was restarted, and nothing survives that.
    const bool restarted = sameNamespace && process.boot != here.boot && process.host == here.host;
    return restarted ? Liveness::Gone : Liveness::Silent;
}

Liveness liveness(const ProcessIdentity& process, std::int64_t silentNs) {
    static const ProcessIdentity kHere = currentProcess();
    return liveness(process, silentNs, kHere);
}

}  // namespace profiling
