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

// The highest epoch of a pipeline that another table has applied of what it was owed; nothing when that is not to be found
// out. It tells owed entries that still wait from those that were applied since.
using AppliedEpoch = std::function<std::optional<int64_t>(const std::string& table, const std::string& pipeline)>;

// `name` as the user called the table. Without `applied` every entry of the last commit is shown as owed by it.
base::Result<TableReport> report_table(io::FileIO& io, const iceberg::TableMetadata& metadata,
                                       const std::string& metadata_location, const std::string& name,
                                       const AppliedEpoch& applied = nullptr);

// The short form, from the metadata alone: no manifest is read, no file is listed.
base::Result<TableReport> describe_table(const iceberg::TableMetadata& metadata, const std::string& metadata_location,
                                         const std::string& name);

}  // namespace frazil::app
