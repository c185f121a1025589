#include "iceberg/catalogs/rest_requests.h"

#include <algorithm>

#include "iceberg/json_view.h"
#include "iceberg/partition_spec_json.h"
#include "iceberg/schema_json.h"
#include "iceberg/table_metadata_json.h"

namespace frazil::iceberg {
namespace {

constexpr int32_t kLastAdded = -1;

void write(JsonText& json, const Properties& properties) {
  json.open('{');
  for (const auto& [key, value] : properties) json.key(key).value(value);
  json.close('}');
}

void write(JsonText& json, const std::vector<std::string>& texts) {
  json.open('[');
  for (const std::string& text : texts) json.value(text);
  json.close(']');
}

void write(JsonText& json, const TableId& id) {
  json.open('{').key("namespace");
  write(json, id.ns);
  json.key("name").value(id.name).close('}');
}

struct RequirementWriter {
  JsonText& json;

  JsonText& open(const char* type) { return json.open('{').key("type").value(type); }
  void operator()(const AssertCreate&) { open("assert-create").close('}'); }
  void operator()(const AssertTableUuid& r) { open("assert-table-uuid").key("uuid").value(r.uuid).close('}'); }
  void operator()(const AssertRefSnapshotId& r) {
    open("assert-ref-snapshot-id").key("ref").value(r.ref).key("snapshot-id");
    if (r.snapshot_id) {
      json.value(*r.snapshot_id);
    } else {
      json.raw("null");
    }
    json.close('}');
  }
  void operator()(const AssertCurrentSchemaId& r) {
    open("assert-current-schema-id").key("current-schema-id").value(r.schema_id).close('}');
  }
  void operator()(const AssertDefaultSpecId& r) {
    open("assert-default-spec-id").key("default-spec-id").value(r.spec_id).close('}');
  }
};

struct UpdateWriter {
  JsonText& json;

  JsonText& open(const char* action) { return json.open('{').key("action").value(action); }
  void operator()(const AddSnapshot& u) {
    open("add-snapshot").key("snapshot").raw(snapshot_to_json(u.snapshot)).close('}');
  }
  void operator()(const SetSnapshotRef& u) {
    open("set-snapshot-ref").key("ref-name").value(u.name).key("type").value(u.ref.is_branch ? "branch" : "tag");
    json.key("snapshot-id").value(u.ref.snapshot_id);
    if (u.ref.max_ref_age_ms) json.key("max-ref-age-ms").value(*u.ref.max_ref_age_ms);
    if (u.ref.max_snapshot_age_ms) json.key("max-snapshot-age-ms").value(*u.ref.max_snapshot_age_ms);
    if (u.ref.min_snapshots_to_keep) json.key("min-snapshots-to-keep").value(*u.ref.min_snapshots_to_keep);
    json.close('}');
  }
  void operator()(const RemoveSnapshotRef& u) { open("remove-snapshot-ref").key("ref-name").value(u.name).close('}'); }
  void operator()(const RemoveSnapshots& u) {
    open("remove-snapshots").key("snapshot-ids").open('[');
    for (const int64_t id : u.snapshot_ids) json.value(id);
    json.close(']').close('}');
  }
  void operator()(const SetProperties& u) {
    open("set-properties").key("updates");
    write(json, u.properties);
    json.close('}');
  }
  void operator()(const RemoveProperties& u) {
    open("remove-properties").key("removals");
    write(json, u.keys);
    json.close('}');
  }
  void operator()(const AddSchema& u) { add_schema(u.schema, u.schema.highest_field_id()); }
  void operator()(const SetCurrentSchema& u) { set_id("set-current-schema", "schema-id", u.schema_id); }

  // Servers before Iceberg 1.7 ask for the highest id that was ever given.
  void add_schema(const columnar::Schema& schema, int32_t last_column_id) {
    open("add-schema").key("schema").raw(schema_to_json(schema)).key("last-column-id").value(last_column_id).close('}');
  }
  void set_id(const char* action, const char* key, int32_t id) { open(action).key(key).value(id).close('}'); }
};

void write_commit(JsonText& json, const TableId& id, const TableCommit& commit) {
  json.open('{').key("identifier");
  write(json, id);
  json.key("requirements").open('[');
  for (const Requirement& requirement : commit.requirements) std::visit(RequirementWriter{json}, requirement);
  json.close(']').key("updates").open('[');
  for (const Update& update : commit.updates) std::visit(UpdateWriter{json}, update);
  json.close(']').close('}');
}

void write_sort_order(JsonText& json, const TableMetadata& table) {
  const auto order = std::find_if(table.sort_orders.begin(), table.sort_orders.end(),
                                  [&](const SortOrder& one) { return one.order_id == table.default_sort_order_id; });
  UpdateWriter updates{json};
  updates.open("add-sort-order").key("sort-order");
  json.raw(sort_order_to_json(order == table.sort_orders.end() ? SortOrder{} : *order)).close('}');
  updates.set_id("set-default-sort-order", "sort-order-id", kLastAdded);
}

}  // namespace

std::string commit_to_json(const TableId& id, const TableCommit& commit) {
  JsonText json;
  write_commit(json, id, commit);
  return json.take();
}

std::string transaction_to_json(const std::vector<std::pair<TableId, TableCommit>>& commits) {
  JsonText json;
  json.open('{').key("table-changes").open('[');
  for (const auto& [id, commit] : commits) write_commit(json, id, commit);
  json.close(']').close('}');
  return json.take();
}

std::string create_table_to_json(const std::string& name, const CreateTable& request, bool is_staged) {
  JsonText json;
  json.open('{').key("name").value(name);
  if (!request.location.empty()) json.key("location").value(request.location);
  json.key("schema").raw(schema_to_json(request.schema)).key("partition-spec").raw(spec_to_json(request.spec));
  json.key("write-order").raw(sort_order_to_json(request.sort_order)).key("stage-create").value(is_staged);
  json.key("properties");
  write(json, request.properties);
  json.close('}');
  return json.take();
}

std::string create_commit_to_json(const TableId& id, const TableMetadata& staged) {
  JsonText json;
  UpdateWriter updates{json};
  json.open('{').key("identifier");
  write(json, id);
  json.key("requirements").open('[').open('{').key("type").value("assert-create").close('}').close(']');
  json.key("updates").open('[');
  updates.open("assign-uuid").key("uuid").value(staged.table_uuid).close('}');
  updates.set_id("upgrade-format-version", "format-version", staged.format_version);
  updates.add_schema(*staged.current_schema(), staged.last_column_id);
  updates.set_id("set-current-schema", "schema-id", kLastAdded);
  updates.open("add-spec").key("spec");
  json.raw(spec_to_json(staged.default_spec())).close('}');
  updates.set_id("set-default-spec", "spec-id", kLastAdded);
  write_sort_order(json, staged);
  updates.open("set-location").key("location").value(staged.location).close('}');
  updates(SetProperties{staged.properties});
  json.close(']').close('}');
  return json.take();
}

std::string create_namespace_to_json(const Namespace& ns) {
  JsonText json;
  json.open('{').key("namespace");
  write(json, ns);
  json.key("properties").open('{').close('}').close('}');
  return json.take();
}

std::string rename_to_json(const TableId& from, const TableId& to) {
  JsonText json;
  json.open('{').key("source");
  write(json, from);
  json.key("destination");
  write(json, to);
  json.close('}');
  return json.take();
}

std::string register_to_json(const std::string& name, const std::string& metadata_location) {
  JsonText json;
  json.open('{').key("name").value(name).key("metadata-location").value(metadata_location).close('}');
  return json.take();
}

std::string namespace_properties_to_json(const Properties& set, const std::vector<std::string>& remove) {
  JsonText json;
  json.open('{').key("removals");
  write(json, remove);
  json.key("updates");
  write(json, set);
  json.close('}');
  return json.take();
}

}  // namespace frazil::iceberg
