// Small tables and commits for the catalog suites.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/random.h"
#include "iceberg/catalog.h"

namespace frazil::conformance {

inline columnar::Field field(int32_t id, std::string name, columnar::TypeId type, bool required) {
  return {.id = id, .name = std::move(name), .required = required, .type = columnar::Type::primitive(type)};
}

// (id long required, ts timestamptz, text string), partitioned by bucket[4](id).
inline iceberg::CreateTable sample_table() {
  iceberg::CreateTable request;
  request.schema.fields = {field(1, "id", columnar::TypeId::kLong, true),
                           field(2, "ts", columnar::TypeId::kTimestamptz, false),
                           field(3, "text", columnar::TypeId::kString, false)};
  request.spec.fields = {{.source_id = 1,
                          .field_id = 1000,
                          .name = "id_bucket",
                          .transform = {.kind = iceberg::Transform::Kind::kBucket, .width = 4, .unknown = ""}}};
  return request;
}

// A snapshot without files that follows the head of `table`.
inline iceberg::Snapshot next_snapshot(const iceberg::TableMetadata& table) {
  iceberg::Snapshot snapshot;
  snapshot.snapshot_id = base::random_snapshot_id();
  snapshot.parent_snapshot_id = table.current_snapshot_id;
  snapshot.sequence_number = table.last_sequence_number + 1;
  snapshot.timestamp_ms = std::max(base::wall_millis(), table.last_updated_ms);
  snapshot.manifest_list =
      table.location + "/metadata/snap-" + std::to_string(snapshot.snapshot_id) + "-0-" + base::random_uuid() + ".avro";
  snapshot.summary = {{"operation", "append"}};
  snapshot.schema_id = table.current_schema_id;
  return snapshot;
}

inline iceberg::SetSnapshotRef move_ref(const std::string& name, int64_t snapshot_id, bool is_branch) {
  iceberg::SnapshotRef ref;
  ref.snapshot_id = snapshot_id;
  ref.is_branch = is_branch;
  return {name, ref};
}
inline iceberg::SetSnapshotRef move_branch(int64_t snapshot_id) {
  return move_ref("main", snapshot_id, true);
}
inline iceberg::SetSnapshotRef move_tag(const std::string& name, int64_t snapshot_id) {
  return move_ref(name, snapshot_id, false);
}

// Appends `snapshot` on the head of `table`, asserting that head.
inline iceberg::TableCommit append(const iceberg::TableMetadata& table, const iceberg::Snapshot& snapshot) {
  return {.requirements = {iceberg::AssertTableUuid{table.table_uuid},
                           iceberg::AssertRefSnapshotId{"main", table.current_snapshot_id}},
          .updates = {iceberg::AddSnapshot{snapshot}, move_branch(snapshot.snapshot_id)}};
}

inline iceberg::TableCommit set_property(const std::string& key, const std::string& value) {
  return {.requirements = {}, .updates = {iceberg::SetProperties{{{key, value}}}}};
}

}  // namespace frazil::conformance
