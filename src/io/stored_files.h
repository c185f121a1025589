// Looks whether files that a store has reported as written are there, whole: one stat() each, several at a time.
//
// A commit that names a file which is missing or short breaks the table for every reader, and no retry mends it. Stores have
// answered success and shown nothing (a proxy that lost the upload, a full disk behind a gateway), and a cleaner may remove a
// file while its commit waits. So the committer asks before it names files. Any thread; ends when all lanes have ended.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/file_io.h"

namespace frazil::io {

// What is wrong with the first file that is not as `expected` (location and bytes count, not the time), nullopt if all are
// well. An error is that of a store which could not be asked: it tells nothing about the files.
base::Result<std::optional<std::string>> damage_among(FileIO& io, const std::vector<FileStatus>& expected);
// kUnavailable with what is wrong: for those who write all of them anew under other names.
base::Status demand_stored(FileIO& io, const std::vector<FileStatus>& expected);

}  // namespace frazil::io
