// Creating the target table, what of its properties Frazil does not honour, and the expiry that travels with commits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "iceberg/catalog.h"
#include "sinks/iceberg/iceberg_sink_config.h"

namespace frazil::sinks {

// Creates namespace and table as configured. kNotFound when the configuration has no `create:`; when somebody else was
// faster, that table is loaded.
base::Result<iceberg::LoadedTable> create_table(iceberg::Catalog& catalog, const IcebergSinkConfig& config);

// Names each property that is not honoured, once in the log of a process and pipeline.
void tell_what_is_not_honoured(const IcebergSinkConfig& config, const iceberg::TableMetadata& metadata);

// Snapshots that the table would hold in the long run at one commit per interval; nothing when it never expires any.
std::optional<int64_t> snapshots_in_the_long_run(const iceberg::TableMetadata& metadata, int64_t commit_interval_ms);
// Warns, once in a process and pipeline, when that would be more than 2,000, and names the property to set.
void tell_what_retention_costs(const IcebergSinkConfig& config, const iceberg::TableMetadata& metadata);

// Snapshots that the next commit removes: only where the table itself says how long to keep them
// (history.expire.max-snapshot-age-ms is set, as in tables that Frazil creates), oldest first, at most `at_most`.
std::vector<int64_t> snapshots_to_expire(const iceberg::TableMetadata& metadata, size_t at_most);

}  // namespace frazil::sinks
