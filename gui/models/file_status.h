// What the status bar says about the open file: the Store's figures and how SQLite keeps it.
#pragma once

#include "profiling/queries.h"

namespace gui {

struct FileStatus {
    profiling::FileInfo info;
    bool wal = false;  // write-ahead log: readable while another program records
};

/// For the worker's thread: it reads the file's header.
FileStatus readFileStatus(profiling::Store& store);

}  // namespace gui
