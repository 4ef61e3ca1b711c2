// A thin RAII layer over the SQLite C API: Database, Statement, Transaction. Every failure becomes a
// profiling::Error that names the file, the cause and what to do.
// None of these objects is thread-safe; callers keep one thread at a time per Database.
#pragma once

#include "profiling/error.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace profiling {

enum class OpenMode { ReadOnly = 1, Immutable = 2, ReadWriteCreate = 3 };

/// An Error whose SQLite result code is still known, for callers that can react to it.
class DatabaseError : public Error {
public:
    DatabaseError(int code, ErrorKind kind, std::string subject, std::string why, std::string fix)
        : Error(kind, std::move(subject), std::move(why), std::move(fix)), m_code(code) {}
    int code() const { return m_code; }  ///< primary result code

private:
    int m_code;
};

class Database {
public:
    Database(const std::string& path, OpenMode mode, int busyMs);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    void exec(const char* sql);
    void exec(std::string_view sql) { exec(std::string(sql).c_str()); }
    std::int64_t queryInt(const char* sql);
    std::int64_t lastInsertId() const;
    const std::string& path() const { return m_path; }
    sqlite3* handle() const { return m_handle; }
    [[noreturn]] void fail(int code) const;

private:
    std::string m_path;
    sqlite3* m_handle = nullptr;
};

class Statement {
public:
    Statement(Database& database, std::string_view sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    /// Resets the statement and binds its parameters from the first on. NaN is bound as NULL.
    template <typename... Values>
    Statement& bind(const Values&... values) {
        reset();
        int index = 0;
        (bindOne(++index, values), ...);
        return *this;
    }
    /// True while there is a row.
    bool step();
    /// Runs a statement that gives no rows.
    void run();
    void reset();

    bool isNull(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;  ///< NULL reads as NaN
    std::string text(int column) const;
    std::span<const unsigned char> blob(int column) const;  ///< valid until the next step or reset

private:
    void bindOne(int index, std::int64_t value);
    void bindOne(int index, int value) { bindOne(index, static_cast<std::int64_t>(value)); }
    void bindOne(int index, std::uint32_t value) { bindOne(index, static_cast<std::int64_t>(value)); }
    void bindOne(int index, bool value) { bindOne(index, static_cast<std::int64_t>(value)); }
    void bindOne(int index, double value);
    void bindOne(int index, std::string_view value);
    void bindOne(int index, const std::string& value) { bindOne(index, std::string_view(value)); }
    void bindOne(int index, const char* value) { bindOne(index, std::string_view(value)); }
    void bindOne(int index, std::span<const unsigned char> value);
    void bindOne(int index, std::nullptr_t value);

    Database& m_database;
    sqlite3_stmt* m_statement = nullptr;
};

/// Takes the write lock at once, so that a busy file is noticed before any work is done. Rolls back unless committed.
class Transaction {
public:
    explicit Transaction(Database& database, const char* begin = "BEGIN IMMEDIATE");
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

private:
    void rollBack();
    Database& m_database;
    bool m_open = true;
};

/// A file: URI with everything but unreserved characters percent-encoded.
std::string fileUri(const std::string& path, std::string_view query);

}  // namespace profiling
