// Requirements and updates of a table commit, as in the REST specification ("UpdateTableRequest"), and their application.
//
// Every catalog speaks in them: a REST catalog sends them, catalogs that keep metadata files themselves apply them here.
// Pure; any thread.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "iceberg/table_metadata.h"

namespace frazil::iceberg {

struct AssertCreate {};
struct AssertTableUuid { std::string uuid; };
struct AssertRefSnapshotId { std::string ref; std::optional<int64_t> snapshot_id; };  // nullopt: the ref must not exist
struct AssertCurrentSchemaId { int32_t schema_id; };
struct AssertDefaultSpecId { int32_t spec_id; };
using Requirement = std::variant<AssertCreate, AssertTableUuid, AssertRefSnapshotId, AssertCurrentSchemaId, AssertDefaultSpecId>;

struct AddSnapshot { Snapshot snapshot; };
struct SetSnapshotRef { std::string name; SnapshotRef ref; };
struct RemoveSnapshotRef { std::string name; };
struct RemoveSnapshots { std::vector<int64_t> snapshot_ids; };
struct SetProperties { Properties properties; };
struct RemoveProperties { std::vector<std::string> keys; };
struct AddSchema { columnar::Schema schema; };
struct SetCurrentSchema { int32_t schema_id; };  // -1: the last added
using Update = std::variant<AddSnapshot, SetSnapshotRef, RemoveSnapshotRef, RemoveSnapshots, SetProperties, RemoveProperties, AddSchema, SetCurrentSchema>;

struct TableCommit {
  std::vector<Requirement> requirements;
  std::vector<Update> updates;
};

// kConflict with the reason ("expected main at 17, found 19") when a requirement fails.
base::Status check(const std::vector<Requirement>& requirements, const TableMetadata* base);
// The metadata after the updates. Enforces the specification: sequence numbers grow (kConflict otherwise), snapshot ids are
// unique, refs point to snapshots, setting `main` sets current-snapshot-id and (only for the update's last value) the
// snapshot log; timestamps never go back: last_updated_ms = max(now, previous + 0, snapshot's). Removing snapshots drops them
// from the snapshot log as the specification says. `now_ms`: wall clock.
base::Result<TableMetadata> apply(const TableMetadata& base, const std::vector<Update>& updates, int64_t now_ms);

}  // namespace frazil::iceberg
