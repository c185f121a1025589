#include "iceberg/new_table.h"

#include <map>
#include <set>

#include "base/random.h"
#include "iceberg/table_properties.h"

namespace frazil::iceberg {

using columnar::Field;
using columnar::Schema;
using columnar::TypeId;

namespace {

constexpr int32_t kFirstPartitionFieldId = 1000;
constexpr int32_t kAmbiguous = -1;
using IdMap = std::map<int32_t, int32_t>;

// Both trees have the same shape: pairs the ids of `before` with those of `after`.
void map_ids(const std::vector<Field>& before, const std::vector<Field>& after, IdMap& ids) {
  for (size_t i = 0; i < before.size(); ++i) {
    const auto [place, is_new] = ids.emplace(before[i].id, after[i].id);
    if (!is_new) place->second = kAmbiguous;
    map_ids(before[i].type.fields(), after[i].type.fields(), ids);
  }
}

base::Result<int32_t> mapped(const IdMap& ids, int32_t id, const std::string& what) {
  const auto found = ids.find(id);
  if (found == ids.end()) return base::invalid(what + ": the schema has no field " + std::to_string(id));
  if (found->second == kAmbiguous) return base::invalid(what + ": the schema has several fields " + std::to_string(id));
  return found->second;
}

base::Status check_names(const std::vector<Field>& fields, const std::string& where) {
  std::set<std::string> names;
  for (const Field& field : fields) {
    if (field.name.empty()) return base::invalid("a field of " + where + " has no name");
    if (!names.insert(field.name).second) return base::invalid(where + " has two fields named \"" + field.name + "\"");
    if (field.type.is_nested()) TRY(check_names(field.type.fields(), "\"" + field.name + "\""));
  }
  return {};
}

base::Result<Schema> fresh_schema(const Schema& given, IdMap& ids) {
  TRY(check_names(given.fields, "the schema"));
  if (const std::string name = columnar::repeated_full_name(given.fields); !name.empty())
    return base::invalid("two fields of the schema have the full name \"" + name + "\"");
  Schema schema = columnar::assign_fresh_ids(given);
  schema.schema_id = 0;
  map_ids(given.fields, schema.fields, ids);
  schema.identifier_field_ids.clear();
  for (const int32_t id : given.identifier_field_ids) {
    TRY_ASSIGN(const int32_t fresh, mapped(ids, id, "identifier field"));
    const Field* field = schema.find_by_id(fresh);
    const TypeId type = field->type.id();
    if (!field->required || field->type.is_nested() || type == TypeId::kFloat || type == TypeId::kDouble) {
      return base::invalid("identifier field \"" + field->name + "\" must be required and neither nested nor floating");
    }
    schema.identifier_field_ids.push_back(fresh);
  }
  return schema;
}

base::Status check_partition_name(const PartitionField& field, const Schema& schema, std::set<std::string>& names) {
  if (field.name.empty()) return base::invalid("a partition field has no name");
  if (!names.insert(field.name).second) return base::invalid("partition field \"" + field.name + "\" exists twice");
  const Field* column = schema.find(field.name);
  const bool is_own = column != nullptr && column->id == field.source_id && field.transform.kind == Transform::Kind::kIdentity;
  if (column == nullptr || is_own) return {};
  return base::invalid("partition field \"" + field.name + "\" has the name of a column that it does not copy");
}

base::Result<PartitionSpec> fresh_spec(const PartitionSpec& given, const Schema& schema, const IdMap& ids) {
  PartitionSpec spec;
  std::set<std::string> names;
  for (PartitionField field : given.fields) {
    TRY_ASSIGN(field.source_id, mapped(ids, field.source_id, "partition field \"" + field.name + "\""));
    field.field_id = kFirstPartitionFieldId + static_cast<int32_t>(spec.fields.size());
    TRY(check_partition_name(field, schema, names));
    spec.fields.push_back(std::move(field));
  }
  TRY(partition_types(spec, schema));
  return spec;
}

base::Result<SortOrder> fresh_sort_order(const SortOrder& given, const Schema& schema, const IdMap& ids) {
  SortOrder order;
  for (SortField field : given.fields) {
    TRY_ASSIGN(field.source_id, mapped(ids, field.source_id, "sort field"));
    TRY(result_type(field.transform, schema.find_by_id(field.source_id)->type).in("sort field"));
    order.fields.push_back(std::move(field));
  }
  order.order_id = order.fields.empty() ? 0 : 1;
  return order;
}

}  // namespace

base::Result<TableMetadata> new_table_metadata(const CreateTable& request, const std::string& location, int64_t now_ms) {
  TableMetadata metadata;
  metadata.properties = request.properties;
  if (const auto version = metadata.properties.find("format-version"); version != metadata.properties.end()) {
    if (version->second != "2") return base::unsupported("format-version=" + version->second + " (known: 2)");
    metadata.properties.erase(version);
  }
  metadata.location = location;
  while (metadata.location.ends_with('/') && !metadata.location.ends_with("://")) metadata.location.pop_back();
  if (metadata.location.empty()) return base::invalid("a table needs a location");
  TRY(read_table_properties(metadata.properties, metadata.location));

  IdMap ids;
  TRY_ASSIGN(Schema schema, fresh_schema(request.schema, ids));
  TRY_ASSIGN(PartitionSpec spec, fresh_spec(request.spec, schema, ids));
  TRY_ASSIGN(SortOrder order, fresh_sort_order(request.sort_order, schema, ids));
  metadata.table_uuid = base::random_uuid();
  metadata.last_updated_ms = now_ms;
  metadata.last_column_id = schema.highest_field_id();
  metadata.last_partition_id = kFirstPartitionFieldId - 1 + static_cast<int32_t>(spec.fields.size());
  metadata.default_sort_order_id = order.order_id;
  metadata.schemas.push_back(std::make_shared<const Schema>(std::move(schema)));
  metadata.specs.push_back(std::move(spec));
  metadata.sort_orders.push_back(std::move(order));
  return metadata;
}

}  // namespace frazil::iceberg
