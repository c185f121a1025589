// The Parquet schema of a columnar::Schema, by appendix A of the Iceberg specification.
//
// Field ids sit on every node that Iceberg names: fields, list element, map key and value, never on the repeated group
// between. Lists are `list`/`element`, maps `key_value`/`key`/`value`. Decimals are int32 up to 9 digits, int64 up to 18,
// above that the shortest fixed array. Pure; heavy headers stay in the source.
#pragma once

#include <memory>

#include "base/result.h"
#include "columnar/schema.h"

namespace parquet::schema {
class GroupNode;
}

namespace frazil::format {

// kInvalid for what Parquet cannot hold: a struct without fields, a schema without columns.
base::Result<std::shared_ptr<parquet::schema::GroupNode>> parquet_schema_of(const columnar::Schema& schema);

}  // namespace frazil::format
