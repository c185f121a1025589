// TableMetadata and what it holds (Iceberg specification, section "Table Metadata"): the model, without any encoding.
// JSON is in table_metadata_json.h. Pure values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "columnar/schema.h"
#include "iceberg/partition_spec.h"

namespace frazil::iceberg {

using Properties = std::map<std::string, std::string>;

struct Snapshot {
  int64_t snapshot_id = 0;
  std::optional<int64_t> parent_snapshot_id;
  int64_t sequence_number = 0;
  int64_t timestamp_ms = 0;
  std::string manifest_list;
  Properties summary;  // "operation" included
  std::optional<int32_t> schema_id;
  // Members that Frazil does not interpret, as JSON text by key.
  std::map<std::string, std::string> unknown_members;

  // What the summary says under `key`; empty when nothing.
  std::string summary_text(const std::string& key) const;
  // The same as a whole number; 0 when it is none.
  int64_t summary_number(const std::string& key) const;
};

struct SnapshotRef {
  int64_t snapshot_id = 0;
  bool is_branch = true;  // else a tag
  std::optional<int32_t> min_snapshots_to_keep;
  std::optional<int64_t> max_snapshot_age_ms;
  std::optional<int64_t> max_ref_age_ms;
  bool operator==(const SnapshotRef&) const = default;
};

struct SnapshotLogEntry {
  int64_t timestamp_ms = 0;
  int64_t snapshot_id = 0;
};

struct MetadataLogEntry {
  int64_t timestamp_ms = 0;
  std::string metadata_file;
};

struct TableMetadata {
  int32_t format_version = 2;
  std::string table_uuid;
  std::string location;  // without trailing slash
  int64_t last_sequence_number = 0;
  int64_t last_updated_ms = 0;
  int32_t last_column_id = 0;
  std::vector<std::shared_ptr<const columnar::Schema>> schemas;
  int32_t current_schema_id = 0;
  std::vector<PartitionSpec> specs;
  int32_t default_spec_id = 0;
  int32_t last_partition_id = 999;
  std::vector<SortOrder> sort_orders;
  int32_t default_sort_order_id = 0;
  Properties properties;
  std::vector<Snapshot> snapshots;
  std::optional<int64_t> current_snapshot_id;
  std::vector<SnapshotLogEntry> snapshot_log;
  std::vector<MetadataLogEntry> metadata_log;
  std::map<std::string, SnapshotRef> refs;
  // Members that Frazil does not interpret (statistics, encryption keys, ...), kept as JSON text by key for rewriting.
  std::map<std::string, std::string> unknown_members;

  const Snapshot* snapshot(int64_t id) const;
  const Snapshot* current_snapshot() const;
  std::shared_ptr<const columnar::Schema> current_schema() const;
  std::shared_ptr<const columnar::Schema> schema(int32_t id) const;  // nullptr when absent
  const PartitionSpec* spec(int32_t id) const;
  const PartitionSpec& default_spec() const;
  // True when `ancestor` is `descendant` or reached from it by parents that are retained.
  bool is_ancestor(int64_t ancestor, int64_t descendant) const;
  std::string property(const std::string& key, const std::string& otherwise = "") const;
};

}  // namespace frazil::iceberg
