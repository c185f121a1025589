// TableReport: what `frazil inspect` tells about a table: schema, partitioning, snapshots, files, and the pipelines
// that keep their positions in it. Read from one metadata file and what it names; nothing is written.
#pragma once

#include <string>

#include "base/result.h"
#include "iceberg/table_metadata.h"
#include "io/file_io.h"

namespace frazil::app {

struct TableReport {
  std::string json;
  std::string text;
};

// `name` as the user called the table.
base::Result<TableReport> report_table(io::FileIO& io, const iceberg::TableMetadata& metadata,
                                       const std::string& metadata_location, const std::string& name);

}  // namespace frazil::app
