#include "sinks/iceberg/row_schema.h"

#include <algorithm>

namespace frazil::sinks {
namespace {

using columnar::Field;
using columnar::Type;

// Same shape, whatever ids, docs and the order of members say; the configured type may require more than the table's, never less.
bool fits(const Type& configured, const Type& table) {
  if (configured.id() != table.id()) return false;
  if (configured.precision() != table.precision() || configured.scale() != table.scale()) return false;
  if (configured.length() != table.length() || configured.fields().size() != table.fields().size()) return false;
  return std::all_of(table.fields().begin(), table.fields().end(), [&](const Field& b) {
    const auto& members = configured.fields();
    const auto a = std::find_if(members.begin(), members.end(), [&](const Field& member) { return member.name == b.name; });
    return a != members.end() && (a->required || !b.required) && fits(a->type, b.type);
  });
}

void add_line(std::string& problems, const std::string& line) { problems += "\n  " + line; }

}  // namespace

base::Result<std::shared_ptr<const columnar::Schema>> row_schema_for(const IcebergSinkConfig& config,
                                                                     const columnar::Schema& table) {
  if (!config.schema) return std::shared_ptr<const columnar::Schema>(std::make_shared<columnar::Schema>(table));
  std::string problems;
  bool lacks_column = false;
  for (const Field& field : config.schema->fields) {
    const Field* there = table.find(field.name);
    if (there == nullptr) {
      lacks_column = true;
      add_line(problems, field.name + ": the table has no such column");
    } else if (!fits(field.type, there->type)) {
      add_line(problems, field.name + ": the schema says " + field.type.name() + ", the table " + there->type.name());
    }
  }
  columnar::Schema rows;
  rows.schema_id = table.schema_id;
  for (const Field& field : table.fields) {
    const Field* configured = config.schema->find(field.name);
    if (configured == nullptr) {
      if (field.required) add_line(problems, field.name + ": required in the table, not in the schema");
      continue;
    }
    rows.fields.push_back(field);
    rows.fields.back().required = field.required || configured->required;
  }
  if (lacks_column) add_line(problems, "add what is missing to the table first, with an engine of your choice, then start again; a pipeline that runs goes on meanwhile");
  if (!problems.empty()) return base::invalid("the schema does not fit the table:" + problems);
  return std::shared_ptr<const columnar::Schema>(std::make_shared<columnar::Schema>(std::move(rows)));
}

bool is_distributed_by_hash(const iceberg::TableMetadata& metadata) {
  const std::string mode = metadata.property("write.distribution-mode", "hash");
  return mode != "none" && !metadata.default_spec().is_unpartitioned();
}

bool have_common_source(const engine::SourcePositions& a, const engine::SourcePositions& b) {
  if (a.kind != b.kind) return false;
  const auto value = [](const engine::SourcePositions& of, const std::string& key) {
    const auto found = of.identity.find(key);
    return found == of.identity.end() ? std::string() : found->second;
  };
  if (value(a, "cluster") != value(b, "cluster")) return false;
  for (const auto& [key, id] : a.identity) {
    if (key.starts_with("topic/") && b.identity.contains(key) && value(b, key) == id) return true;
  }
  return false;
}

}  // namespace frazil::sinks
