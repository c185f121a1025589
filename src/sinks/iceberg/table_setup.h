// Creating the target table, and what of its properties Frazil does not honour.
#pragma once

#include "base/result.h"
#include "iceberg/catalog.h"
#include "sinks/iceberg/iceberg_sink_config.h"

namespace frazil::sinks {

// The table as configured, defaults filled in. kNotFound when the configuration has no `create:`.
base::Result<iceberg::CreateTable> new_table_request(const IcebergSinkConfig& config);

// Creates namespace and table as configured. kNotFound when the configuration has no `create:`; when somebody else was
// faster, that table is loaded.
base::Result<iceberg::LoadedTable> create_table(iceberg::Catalog& catalog, const IcebergSinkConfig& config);

// Names each property that is not honoured, once in the log of a process and pipeline.
void tell_what_is_not_honoured(const IcebergSinkConfig& config, const iceberg::TableMetadata& metadata);

}  // namespace frazil::sinks
