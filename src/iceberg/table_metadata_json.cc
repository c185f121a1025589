#include "iceberg/table_metadata_json.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>

#include "iceberg/json_view.h"
#include "iceberg/partition_spec_json.h"
#include "iceberg/schema_json.h"

namespace frazil::iceberg {

using columnar::Schema;

namespace {

// Far above what commits can reach, and far enough below the end of the numbers to count on from.
constexpr int64_t kLastSequenceNumber = int64_t{1} << 56;

constexpr std::array kKnownMembers = {
    "format-version", "table-uuid", "location", "last-sequence-number", "last-updated-ms", "last-column-id", "schema", "schemas",
    "current-schema-id", "partition-spec", "partition-specs", "default-spec-id", "last-partition-id", "properties",
    "current-snapshot-id", "snapshots", "snapshot-log", "metadata-log", "sort-orders", "default-sort-order-id", "refs",
};
constexpr std::array kKnownSnapshotMembers = {
    "snapshot-id", "parent-snapshot-id", "sequence-number", "timestamp-ms", "manifest-list", "summary", "schema-id",
};

// Writing --------------------------------------------------------------------------------------------------------------

void write_properties(JsonText& json, const Properties& properties) {
  json.open('{');
  for (const auto& [key, value] : properties) json.key(key).value(value);
  json.close('}');
}

void write_snapshot(JsonText& json, const Snapshot& snapshot) {
  json.open('{').key("sequence-number").value(snapshot.sequence_number).key("snapshot-id").value(snapshot.snapshot_id);
  if (snapshot.parent_snapshot_id) json.key("parent-snapshot-id").value(*snapshot.parent_snapshot_id);
  json.key("timestamp-ms").value(snapshot.timestamp_ms);
  json.key("summary");
  write_properties(json, snapshot.summary);
  json.key("manifest-list").value(snapshot.manifest_list);
  if (snapshot.schema_id) json.key("schema-id").value(*snapshot.schema_id);
  for (const auto& [key, value] : snapshot.unknown_members) json.key(key).raw(value);
  json.close('}');
}

void write_ref(JsonText& json, const SnapshotRef& ref) {
  json.open('{').key("snapshot-id").value(ref.snapshot_id).key("type").value(ref.is_branch ? "branch" : "tag");
  if (ref.min_snapshots_to_keep) json.key("min-snapshots-to-keep").value(*ref.min_snapshots_to_keep);
  if (ref.max_snapshot_age_ms) json.key("max-snapshot-age-ms").value(*ref.max_snapshot_age_ms);
  if (ref.max_ref_age_ms) json.key("max-ref-age-ms").value(*ref.max_ref_age_ms);
  json.close('}');
}

template <typename Items, typename Write>
void write_array(JsonText& json, const char* key, const Items& items, Write write) {
  json.key(key).open('[');
  for (const auto& item : items) write(item);
  json.close(']');
}

void write_layout(JsonText& json, const TableMetadata& metadata) {
  json.key("current-schema-id").value(metadata.current_schema_id);
  write_array(json, "schemas", metadata.schemas, [&](const auto& schema) { json.raw(schema_to_json(*schema)); });
  json.key("default-spec-id").value(metadata.default_spec_id);
  write_array(json, "partition-specs", metadata.specs, [&](const PartitionSpec& spec) { json.raw(spec_to_json(spec)); });
  json.key("last-partition-id").value(metadata.last_partition_id);
  json.key("default-sort-order-id").value(metadata.default_sort_order_id);
  write_array(json, "sort-orders", metadata.sort_orders, [&](const SortOrder& order) { json.raw(sort_order_to_json(order)); });
}

void write_history(JsonText& json, const TableMetadata& metadata) {
  json.key("current-snapshot-id").value(metadata.current_snapshot_id.value_or(-1));
  json.key("refs").open('{');
  for (const auto& [name, ref] : metadata.refs) {
    json.key(name);
    write_ref(json, ref);
  }
  json.close('}');
  write_array(json, "snapshots", metadata.snapshots, [&](const Snapshot& snapshot) { write_snapshot(json, snapshot); });
  for (const auto& [key, value] : metadata.unknown_members) json.key(key).raw(value);
  write_array(json, "snapshot-log", metadata.snapshot_log, [&](const SnapshotLogEntry& entry) {
    json.open('{').key("timestamp-ms").value(entry.timestamp_ms).key("snapshot-id").value(entry.snapshot_id).close('}');
  });
  write_array(json, "metadata-log", metadata.metadata_log, [&](const MetadataLogEntry& entry) {
    json.open('{').key("timestamp-ms").value(entry.timestamp_ms).key("metadata-file").value(entry.metadata_file).close('}');
  });
}

// Reading --------------------------------------------------------------------------------------------------------------

base::Result<Properties> read_properties(const JsonView& view) {
  Properties properties;
  for (const auto& [key, value] : view.members()) {
    if (!value.is_string()) return base::corrupt("property \"" + key + "\" is not a string");
    TRY_ASSIGN(properties[key], value.as_text());
  }
  return properties;
}

template <typename Known>
std::map<std::string, std::string> read_unknown(const JsonView& view, const Known& known) {
  std::map<std::string, std::string> unknown;
  for (const auto& [key, value] : view.members()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) unknown[key] = value.dump();
  }
  return unknown;
}

base::Result<Snapshot> read_snapshot(const JsonView& view, int32_t format_version) {
  Snapshot snapshot;
  TRY_ASSIGN(snapshot.snapshot_id, view.long_member("snapshot-id"));
  TRY_ASSIGN(snapshot.parent_snapshot_id, view.optional_long("parent-snapshot-id"));
  TRY_ASSIGN(snapshot.timestamp_ms, view.long_member("timestamp-ms"));
  TRY_ASSIGN(const auto sequence_number, view.optional_long("sequence-number"));
  snapshot.sequence_number = sequence_number.value_or(0);
  // Version 1 may name manifests in place of a list.
  if (format_version > 1 || view.member("manifest-list").is_set()) {
    TRY_ASSIGN(snapshot.manifest_list, view.text_member("manifest-list"));
  }
  TRY_ASSIGN(snapshot.summary, read_properties(view.member("summary")));
  TRY_ASSIGN(snapshot.schema_id, view.optional_int("schema-id"));
  snapshot.unknown_members = read_unknown(view, kKnownSnapshotMembers);
  return snapshot;
}

base::Result<SnapshotRef> read_ref(const JsonView& view) {
  SnapshotRef ref;
  TRY_ASSIGN(ref.snapshot_id, view.long_member("snapshot-id"));
  TRY_ASSIGN(const std::string type, view.text_member("type"));
  if (type != "branch" && type != "tag") return base::corrupt("reference type \"" + type + "\" is not known");
  ref.is_branch = type == "branch";
  TRY_ASSIGN(ref.min_snapshots_to_keep, view.optional_int("min-snapshots-to-keep"));
  TRY_ASSIGN(ref.max_snapshot_age_ms, view.optional_long("max-snapshot-age-ms"));
  TRY_ASSIGN(ref.max_ref_age_ms, view.optional_long("max-ref-age-ms"));
  return ref;
}

base::Status add_schema(TableMetadata& metadata, const JsonView& view) {
  TRY_ASSIGN(Schema schema, schema_from_json(view.dump()));
  metadata.schemas.push_back(std::make_shared<const Schema>(std::move(schema)));
  return {};
}

base::Status read_schemas(TableMetadata& metadata, const JsonView& root) {
  if (!root.member("schemas").is_set()) {
    if (metadata.format_version > 1) return base::corrupt("JSON member \"schemas\" is missing");
    TRY(add_schema(metadata, root.member("schema")));
    metadata.current_schema_id = metadata.schemas.back()->schema_id;
    return {};
  }
  TRY_ASSIGN(const auto views, root.array_member("schemas"));
  for (const JsonView& view : views) TRY(add_schema(metadata, view));
  TRY_ASSIGN(metadata.current_schema_id, root.int_member("current-schema-id"));
  return {};
}

int32_t highest_partition_field(const TableMetadata& metadata) {
  int32_t highest = 999;
  for (const PartitionSpec& spec : metadata.specs) {
    for (const PartitionField& field : spec.fields) highest = std::max(highest, field.field_id);
  }
  return highest;
}

base::Status read_specs(TableMetadata& metadata, const JsonView& root) {
  if (!root.member("partition-specs").is_set() && metadata.format_version == 1) {
    TRY_ASSIGN(PartitionSpec spec, spec_fields_from_json(root.member("partition-spec").dump(), 0));
    metadata.specs.push_back(std::move(spec));
  } else {
    if (!root.member("partition-specs").is_set()) return base::corrupt("JSON member \"partition-specs\" is missing");
    TRY_ASSIGN(const auto views, root.array_member("partition-specs"));
    for (const JsonView& view : views) {
      TRY_ASSIGN(PartitionSpec spec, spec_from_json(view.dump()));
      metadata.specs.push_back(std::move(spec));
    }
    TRY_ASSIGN(metadata.default_spec_id, root.int_member("default-spec-id"));
  }
  TRY_ASSIGN(const auto last, root.optional_int("last-partition-id"));
  if (!last && metadata.format_version > 1) return base::corrupt("JSON member \"last-partition-id\" is missing");
  metadata.last_partition_id = last.value_or(highest_partition_field(metadata));
  return {};
}

base::Status read_sort_orders(TableMetadata& metadata, const JsonView& root) {
  TRY_ASSIGN(const auto views, root.array_member("sort-orders"));
  for (const JsonView& view : views) {
    TRY_ASSIGN(SortOrder order, sort_order_from_json(view.dump()));
    metadata.sort_orders.push_back(std::move(order));
  }
  if (metadata.sort_orders.empty()) {
    if (metadata.format_version > 1) return base::corrupt("JSON member \"sort-orders\" is missing");
    metadata.sort_orders.emplace_back();
  }
  if (metadata.format_version > 1 || root.member("default-sort-order-id").is_set()) {
    TRY_ASSIGN(metadata.default_sort_order_id, root.int_member("default-sort-order-id"));
  }
  return {};
}

base::Status read_snapshots(TableMetadata& metadata, const JsonView& root) {
  TRY_ASSIGN(const auto views, root.array_member("snapshots"));
  for (const JsonView& view : views) {
    TRY_ASSIGN(Snapshot snapshot, read_snapshot(view, metadata.format_version));
    metadata.snapshots.push_back(std::move(snapshot));
  }
  TRY_ASSIGN(metadata.current_snapshot_id, root.optional_long("current-snapshot-id"));
  if (metadata.current_snapshot_id == -1) metadata.current_snapshot_id.reset();
  for (const auto& [name, view] : root.member("refs").members()) {
    auto ref = read_ref(view);
    if (!ref.ok()) return ref.error().in("ref \"" + name + "\"");
    metadata.refs[name] = *ref;
  }
  if (metadata.current_snapshot_id && !metadata.refs.contains("main")) {
    metadata.refs["main"].snapshot_id = *metadata.current_snapshot_id;
  }
  return {};
}

base::Status read_logs(TableMetadata& metadata, const JsonView& root) {
  TRY_ASSIGN(const auto snapshots, root.array_member("snapshot-log"));
  for (const JsonView& view : snapshots) {
    SnapshotLogEntry entry;
    TRY_ASSIGN(entry.timestamp_ms, view.long_member("timestamp-ms"));
    TRY_ASSIGN(entry.snapshot_id, view.long_member("snapshot-id"));
    metadata.snapshot_log.push_back(entry);
  }
  TRY_ASSIGN(const auto files, root.array_member("metadata-log"));
  for (const JsonView& view : files) {
    MetadataLogEntry entry;
    TRY_ASSIGN(entry.timestamp_ms, view.long_member("timestamp-ms"));
    TRY_ASSIGN(entry.metadata_file, view.text_member("metadata-file"));
    metadata.metadata_log.push_back(std::move(entry));
  }
  return {};
}

// Every walk from a snapshot to its ancestors ends: no snapshot is its own ancestor. Each snapshot is passed once.
base::Status verify_parents(const TableMetadata& metadata) {
  std::unordered_map<int64_t, std::optional<int64_t>> parents;
  for (const Snapshot& snapshot : metadata.snapshots) parents.emplace(snapshot.snapshot_id, snapshot.parent_snapshot_id);
  std::unordered_map<int64_t, int64_t> walked;  // snapshot → the one whose walk came here first
  for (const Snapshot& snapshot : metadata.snapshots) {
    for (std::optional<int64_t> at = snapshot.snapshot_id; at && parents.contains(*at); at = parents.at(*at)) {
      const auto [first, is_new] = walked.emplace(*at, snapshot.snapshot_id);
      if (is_new) continue;
      if (first->second != snapshot.snapshot_id) break;
      return base::corrupt("snapshot " + std::to_string(*at) + " is its own ancestor");
    }
  }
  return {};
}

base::Status verify(const TableMetadata& metadata) {
  if (metadata.current_schema() == nullptr) {
    return base::corrupt("current schema " + std::to_string(metadata.current_schema_id) + " is not among the schemas");
  }
  if (metadata.spec(metadata.default_spec_id) == nullptr) {
    return base::corrupt("default partition spec " + std::to_string(metadata.default_spec_id) + " is not among the specs");
  }
  const auto is_default_order = [&](const SortOrder& order) { return order.order_id == metadata.default_sort_order_id; };
  const bool has_order = std::any_of(metadata.sort_orders.begin(), metadata.sort_orders.end(), is_default_order);
  if (!has_order && metadata.default_sort_order_id != 0) {
    return base::corrupt("default sort order " + std::to_string(metadata.default_sort_order_id) + " is not among the orders");
  }
  if (metadata.format_version >= 2 && metadata.table_uuid.empty()) return base::corrupt("JSON member \"table-uuid\" is empty");
  if (metadata.last_sequence_number < 0) return base::corrupt("JSON member \"last-sequence-number\" is negative");
  if (metadata.last_sequence_number > kLastSequenceNumber) {
    return base::corrupt("JSON member \"last-sequence-number\" is " + std::to_string(metadata.last_sequence_number) + ": no table has had that many commits");
  }
  std::set<int64_t> ids;
  for (const Snapshot& snapshot : metadata.snapshots) {
    // The next snapshot would get a number that is taken, and deletes would reach the wrong rows.
    if (snapshot.sequence_number > metadata.last_sequence_number) {
      return base::corrupt("snapshot " + std::to_string(snapshot.snapshot_id) + " has sequence number " +
                           std::to_string(snapshot.sequence_number) + ", above last-sequence-number " +
                           std::to_string(metadata.last_sequence_number));
    }
    if (ids.insert(snapshot.snapshot_id).second) continue;
    return base::corrupt("snapshot " + std::to_string(snapshot.snapshot_id) + " exists twice");
  }
  if (metadata.current_snapshot_id && !ids.contains(*metadata.current_snapshot_id)) {
    return base::corrupt("current snapshot " + std::to_string(*metadata.current_snapshot_id) + " is not among the snapshots");
  }
  for (const auto& [name, ref] : metadata.refs) {
    if (ids.contains(ref.snapshot_id)) continue;
    return base::corrupt("ref \"" + name + "\" names snapshot " + std::to_string(ref.snapshot_id) + ", which is not there");
  }
  const auto main = metadata.refs.find("main");
  if (main != metadata.refs.end() && main->second.snapshot_id != metadata.current_snapshot_id) {
    return base::corrupt("branch main and current-snapshot-id disagree");
  }
  return verify_parents(metadata);
}

base::Status read_head(TableMetadata& metadata, const JsonView& root) {
  TRY_ASSIGN(metadata.format_version, root.int_member("format-version"));
  if (metadata.format_version < 1 || metadata.format_version > 2) {
    return base::unsupported("format version " + std::to_string(metadata.format_version) + " (known: 1 for reading, 2)");
  }
  const bool is_first_version = metadata.format_version == 1;
  if (!is_first_version || root.member("table-uuid").is_set()) {
    TRY_ASSIGN(metadata.table_uuid, root.text_member("table-uuid"));
  }
  TRY_ASSIGN(metadata.location, root.text_member("location"));
  while (metadata.location.size() > 1 && metadata.location.ends_with('/') && !metadata.location.ends_with("://")) {
    metadata.location.pop_back();
  }
  if (!is_first_version) {
    TRY_ASSIGN(metadata.last_sequence_number, root.long_member("last-sequence-number"));
  }
  TRY_ASSIGN(metadata.last_updated_ms, root.long_member("last-updated-ms"));
  TRY_ASSIGN(metadata.last_column_id, root.int_member("last-column-id"));
  TRY_ASSIGN(metadata.properties, read_properties(root.member("properties")));
  return {};
}

}  // namespace

base::Result<std::string> table_metadata_to_json(const TableMetadata& metadata) {
  if (metadata.format_version != 2) {
    return base::unsupported("writing format version " + std::to_string(metadata.format_version) + " (known: 2)");
  }
  JsonText json;
  json.open('{').key("format-version").value(metadata.format_version).key("table-uuid").value(metadata.table_uuid);
  json.key("location").value(metadata.location).key("last-sequence-number").value(metadata.last_sequence_number);
  json.key("last-updated-ms").value(metadata.last_updated_ms).key("last-column-id").value(metadata.last_column_id);
  write_layout(json, metadata);
  json.key("properties");
  write_properties(json, metadata.properties);
  write_history(json, metadata);
  json.close('}');
  return json.take();
}

base::Result<TableMetadata> table_metadata_from_json(std::string_view text) {
  TRY_ASSIGN(const JsonDocument document, JsonDocument::parse(text));
  return table_metadata_from_json(document.root());
}

base::Result<TableMetadata> table_metadata_from_json(const JsonView& root) {
  if (!root.is_object()) return base::corrupt("table metadata is not a JSON object");
  TableMetadata metadata;
  TRY(read_head(metadata, root));
  TRY(read_schemas(metadata, root));
  TRY(read_specs(metadata, root));
  TRY(read_sort_orders(metadata, root));
  TRY(read_snapshots(metadata, root));
  TRY(read_logs(metadata, root));
  metadata.unknown_members = read_unknown(root, kKnownMembers);
  TRY(verify(metadata));
  return metadata;
}

std::string snapshot_to_json(const Snapshot& snapshot) {
  JsonText json;
  write_snapshot(json, snapshot);
  return json.take();
}

std::string snapshot_ref_to_json(const SnapshotRef& ref) {
  JsonText json;
  write_ref(json, ref);
  return json.take();
}

}  // namespace frazil::iceberg
