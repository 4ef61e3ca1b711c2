// Opens .amax files: recognises them before any query touches them, creates the schema, migrates older files and
// refuses newer or foreign ones.
#pragma once

#include "store/sqlite.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace profiling {

inline constexpr std::int64_t kApplicationId = 0x414D4158;  // "AMAX"
inline constexpr int kSchemaVersion = 2;
inline constexpr int kBusyMs = 5000;

/// SQL that turns a file of version `from` into one of version `from + 1`.
struct Migration {
    int from;
    std::string_view sql;
};

/// Applies the migrations from the file's version on, one after the other; sets user_version. The caller holds the
/// transaction, so that a failure leaves the file as it was. Throws Error when a version cannot be migrated.
void migrate(Database& database, int target, std::span<const Migration> migrations);

std::unique_ptr<Database> openForReading(const std::string& path);
std::unique_ptr<Database> openForWriting(const std::string& path);

}  // namespace profiling
