// The schema of the rows that a pipeline writes into a table: the configured columns with the table's field ids. Pure.
#pragma once

#include <memory>

#include "base/result.h"
#include "columnar/schema.h"
#include "engine/position.h"
#include "iceberg/table_metadata.h"
#include "sinks/iceberg/iceberg_sink_config.h"

namespace frazil::sinks {

// Without a configured schema: the table's own. With one: the table's columns that it names, in the table's order; a column that
// either requires is required. kInvalid lists every configured column that the table lacks or has with another type, and
// every required column of the table that the schema lacks.
base::Result<std::shared_ptr<const columnar::Schema>> row_schema_for(const IcebergSinkConfig& config,
                                                                     const columnar::Schema& table);

// write.distribution-mode: hash (the default of partitioned tables) or none.
bool is_distributed_by_hash(const iceberg::TableMetadata& metadata);

// True when both speak of the same cluster and of at least one common topic.
bool have_common_source(const engine::SourcePositions& a, const engine::SourcePositions& b);

}  // namespace frazil::sinks
