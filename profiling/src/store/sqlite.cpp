// Implementation of the RAII layer over SQLite and the translation of its result codes into plain text.
#include "store/sqlite.h"

#include <sqlite3.h>

#include <cmath>
#include <filesystem>
#include <limits>

namespace profiling {

namespace {

bool isUnreserved(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~' || c == '/';
}

DatabaseError translate(const std::string& path, int code, const char* message) {
    const int primary = code & 0xff;
    const auto make = [&](std::string why, std::string fix) {
        return DatabaseError(primary, ErrorKind::Failure, path, std::move(why), std::move(fix));
    };
    if (primary == SQLITE_FULL) {
        return make("the disk is full or a size limit was reached",
                    "free some space; everything committed before is safe");
    }
    if (code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE) {
        // What the system says beyond a full disk (quota, size limit, a broken drive) does not reach us reliably.
        return make("writing failed, the disk may be full or a size limit reached",
                    "free some space; everything committed before is safe");
    }
    switch (primary) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return make("in use by another program", "close that program or wait, then try again");
        case SQLITE_READONLY:
            return make("not writable", "check the permissions of the file and of its folder");
        case SQLITE_PERM:
        case SQLITE_AUTH:
            return make("permission denied", "check the permissions of the file and of its folder");
        case SQLITE_CANTOPEN:
            return make("cannot be opened", "check that the folder exists and that you may use it");
        case SQLITE_NOTADB:
            return make("not a run database", "choose a file that ends in .amax");
        case SQLITE_CORRUPT:
            return make("damaged (" + std::string(message) + ")", "use a copy made earlier");
        case SQLITE_IOERR:
            return make("reading or writing failed (" + std::string(message) + ")",
                        "check the disk or the network drive");
        default:
            return make(std::string(message), "please report this as a bug");
    }
}

}  // namespace

std::string fileUri(const std::string& path, std::string_view query) {
    static constexpr char kHex[] = "0123456789ABCDEF";
    std::string uri = "file://";
    for (const char c : std::filesystem::absolute(path).string()) {
        const auto byte = static_cast<unsigned char>(c);
        if (isUnreserved(byte)) {
            uri += c;
        } else {
            uri += '%';
            uri += kHex[byte >> 4U];
            uri += kHex[byte & 15U];
        }
    }
    return uri + "?" + std::string(query);
}

Database::Database(const std::string& path, OpenMode mode, int busyMs) : m_path(path) {
    const char* query = mode == OpenMode::ReadOnly    ? "mode=ro"
                        : mode == OpenMode::Immutable ? "mode=ro&immutable=1"
                                                      : "mode=rwc";
    const int access =
        mode == OpenMode::ReadWriteCreate ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    const int code = sqlite3_open_v2(fileUri(path, query).c_str(), &m_handle,
                                     access | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
    if (code != SQLITE_OK) {
        sqlite3_close(m_handle);
        throw translate(m_path, code, sqlite3_errstr(code));
    }
    sqlite3_extended_result_codes(m_handle, 1);
    sqlite3_busy_timeout(m_handle, busyMs);
}

Database::~Database() {
    sqlite3_close(m_handle);
}

void Database::fail(int code) const {
    throw translate(m_path, code, sqlite3_errmsg(m_handle));
}

void Database::exec(const char* sql) {
    const int code = sqlite3_exec(m_handle, sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(code);
}

std::int64_t Database::queryInt(const char* sql) {
    Statement statement(*this, sql);
    return statement.step() ? statement.integer(0) : 0;
}

std::int64_t Database::lastInsertId() const {
    return sqlite3_last_insert_rowid(m_handle);
}

Statement::Statement(Database& database, std::string_view sql) : m_database(database) {
    const int code = sqlite3_prepare_v3(database.handle(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &m_statement, nullptr);
    if (code != SQLITE_OK) database.fail(code);
}

Statement::~Statement() {
    sqlite3_finalize(m_statement);
}

bool Statement::step() {
    const int code = sqlite3_step(m_statement);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    m_database.fail(code);
}

void Statement::run() {
    // Resetting at once keeps the statement from holding a read transaction open. The code of a failed step is
    // repeated by the reset, so the error is raised afterwards.
    const int code = sqlite3_step(m_statement);
    sqlite3_reset(m_statement);
    if (code != SQLITE_DONE && code != SQLITE_ROW) m_database.fail(code);
}

void Statement::reset() {
    sqlite3_reset(m_statement);
}

bool Statement::isNull(int column) const {
    return sqlite3_column_type(m_statement, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(m_statement, column);
}

double Statement::real(int column) const {
    return isNull(column) ? std::numeric_limits<double>::quiet_NaN() : sqlite3_column_double(m_statement, column);
}

std::string Statement::text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(m_statement, column));
    if (bytes == nullptr) return {};
    return std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(m_statement, column)));
}

std::span<const unsigned char> Statement::blob(int column) const {
    const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(m_statement, column));
    if (bytes == nullptr) return {};
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(m_statement, column))};
}

void Statement::bindOne(int index, std::int64_t value) {
    const int code = sqlite3_bind_int64(m_statement, index, value);
    if (code != SQLITE_OK) m_database.fail(code);
}

void Statement::bindOne(int index, double value) {
    const int code =
        std::isnan(value) ? sqlite3_bind_null(m_statement, index) : sqlite3_bind_double(m_statement, index, value);
    if (code != SQLITE_OK) m_database.fail(code);
}

void Statement::bindOne(int index, std::string_view value) {
    const char* data = value.data() != nullptr ? value.data() : "";
    const int code = sqlite3_bind_text(m_statement, index, data, static_cast<int>(value.size()), SQLITE_TRANSIENT);
    if (code != SQLITE_OK) m_database.fail(code);
}

void Statement::bindOne(int index, std::span<const unsigned char> value) {
    // A null pointer would bind NULL, not a blob without bytes.
    const void* data = value.empty() ? static_cast<const void*>("") : value.data();
    const int code = sqlite3_bind_blob64(m_statement, index, data, value.size(), SQLITE_TRANSIENT);
    if (code != SQLITE_OK) m_database.fail(code);
}

void Statement::bindOne(int index, std::nullptr_t) {
    const int code = sqlite3_bind_null(m_statement, index);
    if (code != SQLITE_OK) m_database.fail(code);
}

Transaction::Transaction(Database& database, const char* begin) : m_database(database) {
    try {
        m_database.exec(begin);
    } catch (const Error&) {
        // A first statement of several may have begun one.
        rollBack();
        throw;
    }
}

Transaction::~Transaction() {
    if (m_open) rollBack();
}

void Transaction::rollBack() {
    // A failed statement may have rolled back already; then there is nothing left to undo.
    if (sqlite3_get_autocommit(m_database.handle()) == 0) {
        sqlite3_exec(m_database.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    }
}

void Transaction::commit() {
    m_database.exec("COMMIT");
    m_open = false;
}

}  // namespace profiling
