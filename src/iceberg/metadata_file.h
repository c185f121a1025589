// Metadata files: <location>/metadata/<version>-<uuid>.metadata.json, plain or gzip-compressed, one for each commit.
// Any thread. Errors are those of the FileIO, or kCorrupt (not metadata) and kUnsupported (a format version Frazil lacks).
#pragma once

#include <string>

#include "base/result.h"
#include "io/file_io.h"
#include "iceberg/table_metadata.h"

namespace frazil::iceberg {

// Reads a metadata file of any writer. Gzip is recognised by its content, whatever the name says.
base::Result<TableMetadata> read_metadata(io::FileIO& io, const std::string& location);

// Writes the successor of the metadata file at `previous_location` (empty: the first of a table) under a name of its own and
// returns its location. `metadata` gains `previous_location` in its metadata log, stamped with `previous_updated_ms` (the
// predecessor's last_updated_ms; 0 for the first); the log is cut to write.metadata.previous-versions-max. Compressed as
// write.metadata.compression-codec says. The file is an orphan until a catalog names it; nothing is ever removed here.
base::Result<std::string> write_metadata(io::FileIO& io, TableMetadata& metadata, const std::string& previous_location,
                                         int64_t previous_updated_ms);

// The version in front of a metadata file's name: 12 for ".../00012-<uuid>.metadata.json"; -1 when there is none.
int metadata_version(const std::string& location);

}  // namespace frazil::iceberg
