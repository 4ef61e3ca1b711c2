// Files that a job or command writes beside its database; see output_files.h.
#include "jobs/output_files.h"

#include "engine/error.h"

#include <cstdio>
#include <cstring>
#include <fstream>

namespace jobs {
namespace {

namespace fs = std::filesystem;

constexpr char kCheckpointMagic[8] = {'A', 'M', 'A', 'X', 'C', 'K', 'P', 'T'};
constexpr int kNamesTried = 100;

/// "text:book.txt" without its kind; "" for data that is no file.
std::string dataFile(const std::string& data) {
    for (const char* kind : {"text:", "tokens:"}) {
        if (data.rfind(kind, 0) == 0) return data.substr(std::strlen(kind));
    }
    return {};
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw engine::Error(engine::ErrorKind::Usage, "--checkpoint " + path, why, "choose another name");
}

/// An empty file is nobody's data (mktemp makes one).
bool isCheckpointOrEmpty(const fs::path& path) {
    char start[sizeof kCheckpointMagic] = {};
    std::ifstream file(path, std::ios::binary);
    file.read(start, sizeof start);
    if (file.gcount() == 0 && file.eof()) return true;
    return file.gcount() == sizeof start && std::memcmp(start, kCheckpointMagic, sizeof start) == 0;
}

void requireReplaceable(const fs::path& path, const std::string& shown) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return;
    if (!fs::is_regular_file(path, ignored)) refuse(shown, "is not a regular file");
    if (!isCheckpointOrEmpty(path)) refuse(shown, "exists and is not a checkpoint, so it is not replaced");
}

}  // namespace

bool sameFile(const fs::path& a, const fs::path& b) {
    std::error_code failed;
    if (fs::equivalent(a, b, failed)) return true;
    // Two names of a file that is not there yet; `failed` is set then.
    const fs::path first = fs::weakly_canonical(fs::absolute(a, failed), failed);
    const fs::path second = fs::weakly_canonical(fs::absolute(b, failed), failed);
    return !first.empty() && first == second;
}

bool belongsToDatabase(const std::string& path, const std::string& database) {
    for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
        if (sameFile(path, database + ending)) return true;
    }
    return false;
}

fs::path reserveBeside(const fs::path& target) {
    for (int i = 0; i < kNamesTried; ++i) {
        fs::path candidate = target;
        candidate += "." + std::to_string(i) + ".part";
        // "x" refuses a name that is taken, so two programs never share one.
        std::FILE* file = std::fopen(candidate.string().c_str(), "wbx");
        if (!file) continue;
        std::fclose(file);
        return candidate;
    }
    return {};
}

void requireCheckpointPath(const std::string& path, const std::string& database, const std::string& data) {
    if (path.empty()) return;
    const std::string subject = "--checkpoint " + path;
    const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) {
        throw engine::Error(engine::ErrorKind::Usage, subject, "its folder does not exist",
                            "create " + folder.string() + " first");
    }
    if (fs::is_directory(path, ignored)) {
        throw engine::Error(engine::ErrorKind::Usage, subject, "is a folder", "name a file inside it");
    }
    // The engine writes "….part" first and renames it, so that name must be free for it as well.
    for (const std::string& written : {path, path + ".part"}) {
        const std::string text = written == path ? path : path + ", written as " + written;
        if (belongsToDatabase(written, database)) refuse(text, "is the run database");
        if (!dataFile(data).empty() && sameFile(written, dataFile(data))) refuse(text, "is the training data");
        requireReplaceable(written, text);
    }
    const fs::path probe = reserveBeside(path);
    if (probe.empty()) {
        throw engine::Error(engine::ErrorKind::Failure, subject, "its folder is not writable", "choose another folder");
    }
    fs::remove(probe, ignored);
}

}  // namespace jobs
