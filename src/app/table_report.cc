#include "app/table_report.h"

#include <nlohmann/json.hpp>

#include "app/table_report_text.h"
#include "app/terminal.h"
#include "base/clock.h"
#include "iceberg/scan.h"

namespace frazil::app {
namespace {

using Json = nlohmann::ordered_json;

// JSON of others in summaries and properties; text that is none stays text.
Json parse_or_text(const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json(text) : json;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// A member of an object that may be anything at all.
Json member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? Json(nullptr) : *found;
}

Json schema_json(const columnar::Schema& schema) {
  Json fields = Json::array();
  for (const columnar::Field& field : schema.fields) {
    fields.push_back(
        {{"id", field.id}, {"name", field.name}, {"type", field.type.name()}, {"required", field.required}});
  }
  return fields;
}

Json snapshot_json(const iceberg::Snapshot& snapshot, const iceberg::TableMetadata& metadata) {
  Json json = {{"id", snapshot.snapshot_id},
               {"sequence_number", snapshot.sequence_number},
               {"time", base::format_utc(snapshot.timestamp_ms * 1000)},
               {"is_current", metadata.current_snapshot_id == snapshot.snapshot_id},
               {"summary", Json::object()}};
  for (const auto& [key, value] : snapshot.summary) json["summary"][key] = value;
  return json;
}

// Positions and ranges of a snapshot; long ones stand in the header of its manifest list.
base::Result<Json> marks_of(io::FileIO& io, const iceberg::Snapshot& snapshot, const char* key) {
  const auto found = snapshot.summary.find(key);
  if (found == snapshot.summary.end()) return Json(nullptr);
  Json mark = parse_or_text(found->second);
  if (text_of(member(mark, "in")) != "manifest-list") return mark;
  TRY_ASSIGN(const auto list, iceberg::manifests_of(io, snapshot));
  const auto header = list.header.find(key);
  return header == list.header.end() ? mark : parse_or_text(header->second);
}

// {"orders": {"id": ..., "next": [120, null]}} → one entry for each partition; other kinds as they are.
Json partitions_of(const Json& positions) {
  Json partitions = Json::array();
  const Json topics = member(positions, "topics");
  if (!topics.is_object()) return partitions;
  for (const auto& [topic, state] : topics.items()) {
    const Json next = member(state, "next");
    for (size_t partition = 0; next.is_array() && partition < next.size(); ++partition) {
      partitions.push_back({{"topic", topic}, {"partition", partition}, {"next", next[partition]}});
    }
  }
  return partitions;
}

bool is_owed(const Json& entry, const std::string& pipeline, const LookAtTable& look) {
  const auto seen = look(text_of(member(entry, "table")), pipeline);
  if (!seen) return true;
  // From a table that is not there no rows have to go.
  if (!seen->exists) return member(entry, "void").is_null();
  const Json epoch = member(entry, "epoch");
  return !epoch.is_number_integer() || epoch.get<int64_t>() > seen->applied;
}

// Owed entries that their tables have not applied. What cannot be found out stays.
Json still_owed(const Json& owed, const std::string& pipeline, const LookAtTable& look) {
  if (!owed.is_array() || look == nullptr) return owed;
  Json left = Json::array();
  for (const Json& entry : owed) {
    if (is_owed(entry, pipeline, look)) left.push_back(entry);
  }
  return left;
}

// The other tables that the pipeline writes to, by the property that remembers their uuids.
Json tables_json(const Json& uuids, const Json& owed, const std::string& pipeline, const LookAtTable& look) {
  Json tables = Json::array();
  if (!uuids.is_object()) return tables;
  for (const auto& [name, uuid] : uuids.items()) {
    Json table = {{"table", name}, {"uuid", uuid}, {"exists", nullptr}, {"rows", nullptr}, {"files", nullptr}, {"owed_epochs", Json::array()}};
    const auto seen = look == nullptr ? std::nullopt : look(name, pipeline);
    if (seen) table["exists"] = seen->exists;
    if (seen && seen->exists) {
      table["rows"] = seen->rows;
      table["files"] = seen->files;
    }
    for (const Json& entry : owed) {
      if (text_of(member(entry, "table")) == name) table["owed_epochs"].push_back(member(entry, "epoch"));
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

// One pipeline by its property `frazil.<name>`.
base::Result<Json> pipeline_json(io::FileIO& io, const iceberg::TableMetadata& metadata, const std::string& name,
                                 const Json& property, const LookAtTable& look) {
  Json json = {{"name", name}};
  if (const Json closed = member(property, "closed_by"); !closed.is_null()) json["closed_by"] = closed;
  const Json id = member(property, "snapshot");
  json["snapshot"] = id;
  json["epoch"] = member(property, "epoch");
  json["positions"] = member(property, "positions");
  const iceberg::Snapshot* snapshot = id.is_number_integer() ? metadata.snapshot(id.get<int64_t>()) : nullptr;
  json["is_retained"] = snapshot != nullptr;
  if (snapshot != nullptr) {
    const bool holds =
        metadata.current_snapshot_id && metadata.is_ancestor(snapshot->snapshot_id, *metadata.current_snapshot_id);
    json["holds"] = holds;
    TRY_ASSIGN(json["positions"], marks_of(io, *snapshot, "frazil.positions"));
    TRY_ASSIGN(json["ranges"], marks_of(io, *snapshot, "frazil.ranges"));
  }
  json["partitions"] = partitions_of(json["positions"]);
  const std::string prefix = "frazil." + name;
  json["owed"] = still_owed(parse_or_text(metadata.property(prefix + ".owed", "[]")), name, look);
  if (const std::string epoch = metadata.property(prefix + ".applied"); !epoch.empty()) json["applied"] = epoch;
  if (const std::string tables = metadata.property(prefix + ".tables"); !tables.empty()) {
    json["tables"] = tables_json(parse_or_text(tables), json["owed"], name, look);
  }
  if (const std::string accepted = metadata.property(prefix + ".accepted"); !accepted.empty())
    json["accepted"] = parse_or_text(accepted);
  return json;
}

base::Result<Json> pipelines_json(io::FileIO& io, const iceberg::TableMetadata& metadata, const LookAtTable& look) {
  constexpr std::string_view kPrefix = "frazil.";
  Json pipelines = Json::array();
  for (const auto& [key, value] : metadata.properties) {
    const std::string name = key.starts_with(kPrefix) ? key.substr(kPrefix.size()) : "";
    if (name.empty() || name.find('.') != std::string::npos) continue;
    const Json property = parse_or_text(value);
    if (!property.is_object()) continue;
    TRY_ASSIGN(Json pipeline, pipeline_json(io, metadata, name, property, look));
    pipelines.push_back(std::move(pipeline));
  }
  return pipelines;
}

base::Result<Json> files_json(io::FileIO& io, const iceberg::TableMetadata& metadata) {
  Json files = Json::array();
  if (!metadata.current_snapshot_id) return files;
  TRY_ASSIGN(const auto live, iceberg::live_files(io, metadata, *metadata.current_snapshot_id));
  const auto schema = metadata.current_schema();
  for (const iceberg::LiveFile& file : live) {
    const iceberg::PartitionSpec* spec = metadata.spec(file.spec_id);
    files.push_back({{"path", file.file.file_path},
                     {"content", file.file.content == iceberg::FileContent::kData ? "data" : "deletes"},
                     {"partition", spec == nullptr ? "" : iceberg::partition_path(*spec, *schema, file.file.partition)},
                     {"rows", file.file.record_count},
                     {"bytes", file.file.file_size_in_bytes},
                     {"sequence_number", file.sequence_number}});
  }
  return files;
}

Json refs_json(const iceberg::TableMetadata& metadata) {
  Json refs = Json::array();
  for (const auto& [name, ref] : metadata.refs) {
    refs.push_back({{"name", name}, {"kind", ref.is_branch ? "branch" : "tag"}, {"snapshot", ref.snapshot_id}});
  }
  return refs;
}

// What the metadata file itself tells.
base::Result<Json> metadata_json(const iceberg::TableMetadata& metadata, const std::string& metadata_location,
                                 const std::string& name) {
  const auto schema = metadata.current_schema();
  if (schema == nullptr) return base::corrupt("the metadata has no current schema");
  Json json = {{"table", name},
               {"metadata_location", metadata_location},
               {"uuid", metadata.table_uuid},
               {"format_version", metadata.format_version},
               {"location", metadata.location},
               {"schema_id", metadata.current_schema_id},
               {"schema", schema_json(*schema)}};
  json["partition_spec"] = Json::array();
  for (const iceberg::PartitionField& field : metadata.default_spec().fields) {
    json["partition_spec"].push_back(iceberg::to_string(field, *schema));
  }
  json["properties"] = Json::object();
  for (const auto& [key, value] : metadata.properties) json["properties"][key] = value;
  json["snapshots"] = Json::array();
  for (const iceberg::Snapshot& snapshot : metadata.snapshots)
    json["snapshots"].push_back(snapshot_json(snapshot, metadata));
  json["refs"] = refs_json(metadata);
  return json;
}

TableReport render(const Json& json) {
  const std::string text = printable_json(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
  return TableReport{text, table_report_text(text)};
}

}  // namespace

base::Result<TableReport> report_table(io::FileIO& io, const iceberg::TableMetadata& metadata,
                                       const std::string& metadata_location, const std::string& name,
                                       const LookAtTable& look) {
  TRY_ASSIGN(Json json, metadata_json(metadata, metadata_location, name));
  TRY_ASSIGN(json["files"], files_json(io, metadata));
  TRY_ASSIGN(json["pipelines"], pipelines_json(io, metadata, look));
  return render(json);
}

base::Result<TableReport> describe_table(const iceberg::TableMetadata& metadata, const std::string& metadata_location,
                                         const std::string& name) {
  TRY_ASSIGN(const Json json, metadata_json(metadata, metadata_location, name));
  return render(json);
}

}  // namespace frazil::app
