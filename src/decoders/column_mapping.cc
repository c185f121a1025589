#include "decoders/column_mapping.h"

#include <algorithm>
#include <set>

namespace frazil::decoders {
namespace {

using columnar::Field;
using columnar::Type;
using columnar::TypeId;

Field optional_field(std::string name, Type type, std::string doc) {
  Field field;
  field.name = std::move(name);
  field.type = std::move(type);
  field.doc = std::move(doc);
  return field;
}

Type headers_type() {
  Field key = optional_field("key", Type::primitive(TypeId::kString), "");
  Field value = optional_field("value", Type::primitive(TypeId::kBinary), "");
  Field element = optional_field("element", Type::structure({key, value}), "");
  return Type::list(element);
}

// In the order of kafka_metadata_fields().
enum MetadataIndex : size_t { kTopic, kPartition, kOffset, kRow, kTimestamp, kKey, kHeaders };

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_kept(const std::string& field, const ColumnsConfig& config) {
  return config.keep.empty() ? !contains(config.drop, field) : contains(config.keep, field);
}

base::Status check_names(const columnar::Schema& document, const ColumnsConfig& config) {
  std::vector<std::string> names = config.keep;
  names.insert(names.end(), config.drop.begin(), config.drop.end());
  for (const auto& [field, column] : config.rename) names.push_back(field);
  for (const std::string& name : names) {
    if (document.find(name) == nullptr) return base::invalid("columns: the schema has no field \"" + name + "\"");
  }
  return {};
}

// Types alike, whatever the ids of their parts.
bool is_same_shape(const Type& a, const Type& b) {
  if (a.id() != b.id() || a.fields().size() != b.fields().size()) return false;
  for (size_t i = 0; i < a.fields().size(); ++i) {
    if (a.fields()[i].name != b.fields()[i].name || !is_same_shape(a.fields()[i].type, b.fields()[i].type))
      return false;
  }
  return true;
}

void append_headers(const engine::RawRecord& record, columnar::Column& column) {
  columnar::Column& element = column.child(0);
  for (const engine::RawHeader& header : record.headers) {
    element.child(0).append_bytes(header.key);
    if (header.has_value) {
      element.child(1).append_bytes(header.value);
    } else {
      element.child(1).append_null();
    }
    element.append_struct_end();
  }
  column.append_list_end();
}

}  // namespace

const std::vector<Field>& kafka_metadata_fields() {
  static const std::vector<Field> fields = {
      optional_field("_kafka_topic", Type::primitive(TypeId::kString), "topic of the record"),
      optional_field("_kafka_partition", Type::primitive(TypeId::kInt), "partition of the record"),
      optional_field("_kafka_offset", Type::primitive(TypeId::kLong), "offset of the record"),
      optional_field("_kafka_row", Type::primitive(TypeId::kInt), "ordinal of the row within its record"),
      optional_field("_kafka_timestamp", Type::primitive(TypeId::kTimestamptz), "timestamp of the record"),
      optional_field("_kafka_key", Type::primitive(TypeId::kBinary), "key of the record"),
      optional_field("_kafka_headers", headers_type(), "headers of the record"),
  };
  return fields;
}

base::Result<columnar::Schema> row_schema(const columnar::Schema& document, const ColumnsConfig& config) {
  TRY(check_names(document, config));
  columnar::Schema rows;
  for (const Field& field : document.fields) {
    if (!is_kept(field.name, config)) continue;
    rows.fields.push_back(field);
    if (const auto renamed = config.rename.find(field.name); renamed != config.rename.end())
      rows.fields.back().name = renamed->second;
  }
  if (rows.fields.empty()) return base::invalid("columns: no column is left");
  if (config.kafka_metadata) {
    rows.fields.insert(rows.fields.end(), kafka_metadata_fields().begin(), kafka_metadata_fields().end());
  }
  std::set<std::string> names;
  for (const Field& field : rows.fields) {
    if (!names.insert(field.name).second)
      return base::invalid("columns: two columns have the name \"" + field.name + "\"");
  }
  if (const std::string name = columnar::repeated_full_name(rows.fields); !name.empty())
    return base::invalid("columns: two fields have the full name \"" + name + "\"; rename one");
  return columnar::assign_fresh_ids(rows);
}

base::Result<std::vector<ColumnOrigin>> column_origins(const columnar::Schema& rows, const ColumnsConfig& config) {
  std::vector<ColumnOrigin> origins;
  const auto& metadata = kafka_metadata_fields();
  for (const Field& column : rows.fields) {
    ColumnOrigin origin;
    const auto known =
        std::find_if(metadata.begin(), metadata.end(), [&](const Field& field) { return field.name == column.name; });
    if (config.kafka_metadata && known != metadata.end()) {
      if (!is_same_shape(column.type, known->type)) {
        return base::invalid("column " + column.name + " must have type " + known->type.name() + ", the table has " +
                             column.type.name());
      }
      origin.kind = ColumnOrigin::Kind::kMetadata;
      origin.metadata = static_cast<size_t>(known - metadata.begin());
    } else {
      origin.field = column.name;
      for (const auto& [field, renamed] : config.rename) {
        if (renamed == column.name) origin.field = field;
      }
      // The column of a field that was given another name has no field any more.
      const bool has_moved = origin.field == column.name && config.rename.contains(column.name);
      if (has_moved || !is_kept(origin.field, config)) origin.kind = ColumnOrigin::Kind::kNothing;
    }
    if (origin.kind == ColumnOrigin::Kind::kNothing && column.required) {
      return base::invalid("column " + column.name + " is required, but no field fills it");
    }
    origins.push_back(std::move(origin));
  }
  return origins;
}

void append_metadata(size_t metadata, const engine::RawBatch& raw, const engine::RawRecord& record, int32_t row_ordinal,
                     columnar::Column& column) {
  switch (metadata) {
    case kTopic:
      return column.append_bytes(raw.stream);
    case kPartition:
      return column.append_int(raw.partition);
    case kOffset:
      return column.append_long(record.offset);
    case kRow:
      return column.append_int(row_ordinal);
    case kTimestamp:
      return record.timestamp_micros < 0 ? column.append_null() : column.append_long(record.timestamp_micros);
    case kKey:
      return record.has_key ? column.append_bytes(record.key) : column.append_null();
    case kHeaders:
      return append_headers(record, column);
    default:
      CHECK(false);
  }
}

}  // namespace frazil::decoders
