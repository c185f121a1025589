// JSON of table metadata (Iceberg specification, appendix C "Table Metadata and Snapshots"). Pure; any thread.
//
// Versions 1 and 2 are read, version 2 is written (kUnsupported otherwise). 64-bit integers keep all their digits. What Frazil
// does not interpret (statistics, unknown members) is written back as it was read.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "iceberg/json_view.h"
#include "iceberg/table_metadata.h"

namespace frazil::iceberg {

base::Result<std::string> table_metadata_to_json(const TableMetadata& metadata);
// kCorrupt names the offending member; kUnsupported names the format version.
base::Result<TableMetadata> table_metadata_from_json(std::string_view json);
// The same, of a value inside a document: a catalog's answer holds metadata among other things.
base::Result<TableMetadata> table_metadata_from_json(const JsonView& view);
// Single snapshots and references, as commits to a REST catalog carry them.
std::string snapshot_to_json(const Snapshot& snapshot);
std::string snapshot_ref_to_json(const SnapshotRef& ref);

}  // namespace frazil::iceberg
