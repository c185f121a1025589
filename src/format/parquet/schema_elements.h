// The Parquet schema as the footer holds it: appendix A of the Iceberg specification, node by node.
//
// The same nodes, ids and annotations as parquet_schema.h gives to Arrow's writer; a test compares them. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "columnar/schema.h"
#include "format/parquet/thrift_writer.h"

namespace frazil::format {

// kInvalid for what Parquet cannot hold: a schema without columns, a struct without fields, a fixed type of no bytes, a
// decimal outside 1 to 38 digits.
base::Status check_parquet_schema(const columnar::Schema& schema);

// Writes field `id`: the list of SchemaElement, the root first.
void write_schema_elements(const columnar::Schema& schema, int16_t id, ThriftWriter& writer);

// The names from the root to each leaf, those of the repeated groups included, in the order of the file's columns.
std::vector<std::vector<std::string>> leaf_paths(const columnar::Schema& schema);

}  // namespace frazil::format
