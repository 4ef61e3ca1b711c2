// Implementation of opening, creating and migrating run databases.
#include "store/database_file.h"

#include "embedded_profiling.h"

#include <sqlite3.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace profiling {

namespace fs = std::filesystem;

namespace {

constexpr int kHeaderBytes = 100;
constexpr std::int64_t kOldestReadable = 1;  // versions from here on are read without being migrated

/// What the first bytes of a file say. The schema is committed before the switch to WAL, so they tell ours from foreign
/// files. The version may be an older one: that of a migration can still be in the WAL.
struct Header {
    bool sqlite = false;
    std::int64_t applicationId = 0;
    std::int64_t userVersion = 0;
};

std::int64_t bigEndian32(const char* bytes) {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = (value << 8U) | static_cast<unsigned char>(bytes[i]);
    return value;
}

/// Reads through the connection's own file handle. Opening the file a second time would do harm: closing any handle of
/// a file drops all locks that the process holds on it, and another program could then take away the WAL of a run that
/// is being recorded. It also takes no lock and makes no journal or -shm file beside a foreign file, as a query would.
Header readHeader(const Database& database) {
    sqlite3_file* file = nullptr;
    const int found = sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (found != SQLITE_OK) database.fail(found);
    std::array<char, kHeaderBytes> bytes{};
    const int read = file->pMethods->xRead(file, bytes.data(), kHeaderBytes, 0);
    if (read != SQLITE_OK && read != SQLITE_IOERR_SHORT_READ) database.fail(read);
    Header header;
    header.sqlite = read == SQLITE_OK && std::memcmp(bytes.data(), "SQLite format 3", 16) == 0;
    header.userVersion = bigEndian32(bytes.data() + 60);
    header.applicationId = bigEndian32(bytes.data() + 68);
    return header;
}

std::string hex(std::int64_t value) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%08llX", static_cast<unsigned long long>(value));
    return text.data();
}

[[noreturn]] void failNewer(const std::string& path, std::int64_t version) {
    throw Error(ErrorKind::Usage, path,
                "written by a newer program (schema version " + std::to_string(version) + ", this program knows " +
                    std::to_string(kSchemaVersion) + ")",
                "open it with that program, or update this one");
}

void checkHeader(const std::string& path, const Header& header) {
    if (!header.sqlite) {
        throw Error(ErrorKind::Usage, path, "not a run database (it is not an SQLite file)",
                    "choose a file that ends in .amax");
    }
    if (header.applicationId != kApplicationId) {
        throw Error(ErrorKind::Usage, path,
                    "a database of another program (application id " + hex(header.applicationId) + ", ours is " +
                        hex(kApplicationId) + ")",
                    "choose a file that ends in .amax");
    }
    if (header.userVersion > kSchemaVersion) failNewer(path, header.userVersion);
}

/// Looks at the name only; the file is never opened here, see readHeader.
void checkPath(const std::string& path) {
    std::error_code ignored;
    if (path.empty()) throw Error(ErrorKind::Usage, "database", "no file name", "name a file that ends in .amax");
    if (fs::is_directory(path, ignored)) {
        throw Error(ErrorKind::Usage, path, "is a folder", "name a file inside it");
    }
    if (!fs::exists(path, ignored)) return;
    if (!fs::is_regular_file(path, ignored)) {
        throw Error(ErrorKind::Usage, path, "is not a regular file", "choose a file that ends in .amax");
    }
    if (faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) {
        throw Error(ErrorKind::Failure, path, std::string("cannot be read (") + std::strerror(errno) + ")",
                    "check the permissions of the file and of its folder");
    }
}

/// A WAL-mode file in a folder where its -shm file cannot be made. Without a WAL the file alone is complete.
std::unique_ptr<Database> openImmutable(const std::string& path) {
    std::error_code ignored;
    const auto walBytes = fs::file_size(path + "-wal", ignored);
    if (!ignored && walBytes > 0) {
        throw Error(ErrorKind::Failure, path,
                    "its folder is not writable and newer rows wait in the -wal file beside it",
                    "copy both files to a folder of yours and open the copy");
    }
    return std::make_unique<Database>(path, OpenMode::Immutable, kBusyMs);
}

void createSchema(Database& database) {
    database.exec(kEmbedded_schema_sql);
    database.exec(kEmbedded_views_sql);
    database.exec("PRAGMA application_id = " + std::to_string(kApplicationId));
    database.exec("PRAGMA user_version = " + std::to_string(kSchemaVersion));
}

/// SQLite does not call its busy handler while it changes the journal mode.
void switchToWal(Database& database) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyMs);
    while (true) {
        try {
            database.exec("PRAGMA journal_mode = WAL");
            return;
        } catch (const DatabaseError& error) {
            if (error.code() != SQLITE_BUSY || std::chrono::steady_clock::now() > end) throw;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }
}

void prepareForWriting(Database& database, bool empty) {
    static const std::array<Migration, 1> kMigrations{{{1, kEmbedded_migration_1_sql}}};
    {
        // Lets purging give pages back without rewriting the file. It has to be said before the first page exists, and
        // the setting itself takes the write lock: BEGIN IMMEDIATE would make the page.
        Transaction transaction(database, empty ? "BEGIN; PRAGMA auto_vacuum = INCREMENTAL" : "BEGIN IMMEDIATE");
        const bool fresh = database.queryInt("SELECT count(*) FROM sqlite_schema") == 0;
        const std::int64_t version = database.queryInt("PRAGMA user_version");
        if (fresh) {
            createSchema(database);
        } else if (version > kSchemaVersion) {
            failNewer(database.path(), version);
        } else if (version < kSchemaVersion) {
            migrate(database, kSchemaVersion, kMigrations);
            database.exec(kEmbedded_views_sql);
        }
        transaction.commit();
    }
    switchToWal(database);
    // The WAL is synced with every commit, by the writer thread: what was committed survives a loss of power.
    database.exec("PRAGMA synchronous = FULL");
    database.exec("PRAGMA wal_autocheckpoint = 2000");
}

}  // namespace

void migrate(Database& database, int target, std::span<const Migration> migrations) {
    std::int64_t version = database.queryInt("PRAGMA user_version");
    while (version < target) {
        const Migration* next = nullptr;
        for (const Migration& migration : migrations) {
            if (migration.from == version) next = &migration;
        }
        if (next == nullptr) {
            throw Error(
                ErrorKind::Usage, database.path(),
                "schema version " + std::to_string(version) + " cannot be brought to version " + std::to_string(target),
                "open it with the program that wrote it");
        }
        database.exec(next->sql);
        ++version;
        database.exec("PRAGMA user_version = " + std::to_string(version));
    }
}

std::unique_ptr<Database> openForReading(const std::string& path) {
    checkPath(path);
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
        throw Error(ErrorKind::Usage, path, "no such file", "check the path, or record a run into it first");
    }
    auto database = std::make_unique<Database>(path, OpenMode::ReadOnly, kBusyMs);
    const Header header = readHeader(*database);
    checkHeader(path, header);
    if (header.userVersion < kOldestReadable) {
        throw Error(ErrorKind::Usage, path,
                    "its schema version is " + std::to_string(header.userVersion) + ", this program reads " +
                        std::to_string(kOldestReadable) + " to " + std::to_string(kSchemaVersion),
                    "open it with the program that wrote it");
    }
    try {
        database->queryInt("SELECT count(*) FROM run");
    } catch (const DatabaseError& error) {
        // SQLITE_READONLY is the answer where a WAL exists, SQLITE_CANTOPEN where none does.
        if (error.code() != SQLITE_CANTOPEN && error.code() != SQLITE_READONLY) throw;
        database = openImmutable(path);
        database->queryInt("SELECT count(*) FROM run");
    }
    const std::int64_t version = database->queryInt("PRAGMA user_version");
    if (version > kSchemaVersion) failNewer(path, version);
    database->exec("PRAGMA cache_size = -16384");
    return database;
}

std::unique_ptr<Database> openForWriting(const std::string& path) {
    checkPath(path);
    std::error_code ignored;
    const fs::path folder = fs::absolute(path).parent_path();
    if (!fs::is_directory(folder, ignored)) {
        throw Error(ErrorKind::Usage, path, "its folder does not exist", "create " + folder.string() + " first");
    }
    const bool existed = fs::exists(path, ignored);
    const bool empty = !existed || fs::file_size(path, ignored) == 0;
    try {
        auto database = std::make_unique<Database>(path, OpenMode::ReadWriteCreate, kBusyMs);
        if (!empty) checkHeader(path, readHeader(*database));
        if (sqlite3_db_readonly(database->handle(), "main") == 1) {
            throw Error(ErrorKind::Failure, path, "not writable",
                        "check the permissions of the file and of its folder");
        }
        prepareForWriting(*database, empty);
        return database;
    } catch (const Error&) {
        // A file that could not be filled is not left behind.
        if (!existed && fs::exists(path, ignored) && fs::file_size(path, ignored) == 0) fs::remove(path, ignored);
        throw;
    }
}

}  // namespace profiling
