// Reads the journal mode off SQLite's file header, where byte 18 is 2 for a write-ahead log.
#include "models/file_status.h"

#include <fstream>

namespace gui {

FileStatus readFileStatus(profiling::Store& store) {
    constexpr std::streamoff kWriteVersion = 18;
    constexpr int kWal = 2;
    FileStatus status{store.fileInfo(), false};
    std::ifstream file(status.info.path, std::ios::binary);
    status.wal = file.seekg(kWriteVersion) && file.get() == kWal;
    return status;
}

}  // namespace gui
