// TableReport: what `frazil inspect` tells about a table: schema, partitioning, snapshots, files, and the pipelines
// that keep their positions in it. Read from one metadata file and what it names; nothing is written.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "iceberg/table_metadata.h"
#include "io/file_io.h"

namespace frazil::app {

struct TableReport {
  std::string json;
  std::string text;
};

// Another table that a pipeline writes to, as it is now.
struct OtherTable {
  bool exists = false;
  int64_t applied = 0;  // highest epoch of the pipeline that it has applied of what it was owed
  int64_t rows = 0;
  int64_t files = 0;
};
// Looks at a table; nothing when that cannot be found out. It tells owed entries that still wait from those that were applied since.
using LookAtTable = std::function<std::optional<OtherTable>(const std::string& table, const std::string& pipeline)>;

// `name` as the user called the table. Without `look` every entry of the last commit is shown as owed by it.
base::Result<TableReport> report_table(io::FileIO& io, const iceberg::TableMetadata& metadata,
                                       const std::string& metadata_location, const std::string& name,
                                       const LookAtTable& look = nullptr);

// The short form, from the metadata alone: no manifest is read, no file is listed.
base::Result<TableReport> describe_table(const iceberg::TableMetadata& metadata, const std::string& metadata_location,
                                         const std::string& name);

}  // namespace frazil::app
