// Implementation: which SQLite codes mean a lock.
#include "store/write_health.h"

#include "store/sqlite.h"

#include <sqlite3.h>

namespace profiling {

bool isTransient(const std::exception& error) {
    const auto* failure = dynamic_cast<const DatabaseError*>(&error);
    if (failure == nullptr) return false;
    return failure->code() == SQLITE_BUSY || failure->code() == SQLITE_LOCKED || failure->code() == SQLITE_PROTOCOL;
}

}  // namespace profiling
