// Files that a job or command writes beside its database: what they may replace, and how they are written so that
// nothing is lost half-way. Nothing here opens, truncates or removes a file that was there before.
#pragma once

#include <filesystem>
#include <string>

namespace jobs {

/// True when both name one file, by whatever links and folders, existing or not.
bool sameFile(const std::filesystem::path& a, const std::filesystem::path& b);

/// True when `path` is the run database or one of the files that SQLite keeps beside it.
bool belongsToDatabase(const std::string& path, const std::string& database);

/// Creates an empty file of a new name in the folder of `target` and returns its path; "" when that cannot be done.
std::filesystem::path reserveBeside(const std::filesystem::path& target);

/// Throws engine::Error unless a checkpoint may be written there: hours of training must not end with that, and no
/// other file may be lost for it. `data` as in TrainConfig.
void requireCheckpointPath(const std::string& path, const std::string& database, const std::string& data);

}  // namespace jobs
