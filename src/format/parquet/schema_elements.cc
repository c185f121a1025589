#include "format/parquet/schema_elements.h"

#include <optional>

#include "format/parquet/physical_type.h"

namespace frazil::format {
namespace {

using columnar::Field;
using columnar::Type;
using columnar::TypeId;

enum Repetition { kRequired = 0, kOptional = 1, kRepeated = 2 };

// Numbers of Parquet's ConvertedType.
std::optional<int32_t> converted_type(const Type& type) {
  switch (type.id()) {
    case TypeId::kString:
      return 0;
    case TypeId::kMap:
      return 1;
    case TypeId::kList:
      return 3;
    case TypeId::kDecimal:
      return 5;
    case TypeId::kDate:
      return 6;
    case TypeId::kTimestamptz:
      return 10;
    default:
      return std::nullopt;  // times and timestamps that are not of UTC have none
  }
}

// TimeType and TimestampType alike.
void write_time_type(int16_t id, bool is_utc, ThriftWriter& writer) {
  writer.begin_struct_field(id);
  writer.field_bool(1, is_utc);
  writer.begin_struct_field(2);
  writer.empty_struct_field(2);  // MICROS
  writer.end_struct();
  writer.end_struct();
}

// Fills the union LogicalType.
void write_annotation(const Type& type, ThriftWriter& writer) {
  switch (type.id()) {
    case TypeId::kString:
      return writer.empty_struct_field(1);
    case TypeId::kMap:
      return writer.empty_struct_field(2);
    case TypeId::kList:
      return writer.empty_struct_field(3);
    case TypeId::kDecimal:
      writer.begin_struct_field(5);
      writer.field_int32(1, type.scale());
      writer.field_int32(2, type.precision());
      return writer.end_struct();
    case TypeId::kDate:
      return writer.empty_struct_field(6);
    case TypeId::kTime:
      return write_time_type(7, false, writer);
    case TypeId::kTimestamp:
      return write_time_type(8, false, writer);
    case TypeId::kTimestamptz:
      return write_time_type(8, true, writer);
    default:
      return writer.empty_struct_field(14);  // UUID
  }
}

bool is_annotated(TypeId id) {
  switch (id) {
    case TypeId::kBoolean:
    case TypeId::kInt:
    case TypeId::kLong:
    case TypeId::kFloat:
    case TypeId::kDouble:
    case TypeId::kFixed:
    case TypeId::kBinary:
    case TypeId::kStruct:
      return false;
    default:
      return true;
  }
}

bool is_repeated(const Type& type) {
  return type.id() == TypeId::kList || type.id() == TypeId::kMap;
}
const char* entries_name(const Type& type) {
  return type.id() == TypeId::kList ? "list" : "key_value";
}

void write_type(const Field& field, ThriftWriter& writer) {
  const Type& type = field.type;
  if (const auto converted = converted_type(type)) writer.field_int32(6, *converted);
  if (type.id() == TypeId::kDecimal) {
    writer.field_int32(7, type.scale());
    writer.field_int32(8, type.precision());
  }
  writer.field_int32(9, field.id);
  if (!is_annotated(type.id())) return;
  writer.begin_struct_field(10);
  write_annotation(type, writer);
  writer.end_struct();
}

void write_element(const Field& field, ThriftWriter& writer) {
  writer.begin_struct();
  if (!field.type.is_nested()) {
    const PhysicalType physical = physical_type_of(field.type);
    writer.field_int32(1, static_cast<int32_t>(physical.type));
    if (physical.type == Physical::kFixed) writer.field_int32(2, physical.width);
  }
  writer.field_int32(3, field.required ? kRequired : kOptional);
  writer.field_binary(4, field.name);
  if (field.type.is_nested()) {
    writer.field_int32(5, is_repeated(field.type) ? 1 : static_cast<int32_t>(field.type.fields().size()));
  }
  write_type(field, writer);
  writer.end_struct();
  if (is_repeated(field.type)) {
    writer.begin_struct();
    writer.field_int32(3, kRepeated);
    writer.field_binary(4, entries_name(field.type));
    writer.field_int32(5, static_cast<int32_t>(field.type.fields().size()));
    writer.end_struct();
  }
  for (const Field& child : field.type.fields()) write_element(child, writer);
}

size_t elements_of(const Field& field) {
  size_t count = is_repeated(field.type) ? 2 : 1;
  for (const Field& child : field.type.fields()) count += elements_of(child);
  return count;
}

void collect_paths(const Field& field, std::vector<std::string> path, std::vector<std::vector<std::string>>& paths) {
  path.push_back(field.name);
  if (is_repeated(field.type)) path.emplace_back(entries_name(field.type));
  if (!field.type.is_nested()) paths.push_back(path);
  for (const Field& child : field.type.fields()) collect_paths(child, path, paths);
}

base::Status check_field(const Field& field) {
  const Type& type = field.type;
  const std::string where = "field '" + field.name + "': ";
  if (type.is_nested() && type.fields().empty()) {
    return base::invalid(where + "Parquet cannot hold a struct without fields");
  }
  if (type.id() == TypeId::kFixed && type.length() < 1) {
    return base::invalid(where + "Parquet cannot hold a fixed type of " + std::to_string(type.length()) + " bytes");
  }
  if (type.id() == TypeId::kDecimal &&
      (type.precision() < 1 || type.precision() > 38 || type.scale() < 0 || type.scale() > type.precision())) {
    return base::invalid(where + "Parquet cannot hold a " + type.name());
  }
  for (const Field& child : type.fields()) TRY(check_field(child));
  return {};
}

}  // namespace

base::Status check_parquet_schema(const columnar::Schema& schema) {
  if (schema.fields.empty()) return base::invalid("Parquet cannot hold a schema without columns");
  for (const Field& field : schema.fields) TRY(check_field(field));
  return {};
}

void write_schema_elements(const columnar::Schema& schema, int16_t id, ThriftWriter& writer) {
  size_t count = 1;
  for (const Field& field : schema.fields) count += elements_of(field);
  writer.list_field(id, ThriftWriter::Element::kStruct, count);
  writer.begin_struct();
  writer.field_int32(3, kRequired);
  writer.field_binary(4, "table");
  writer.field_int32(5, static_cast<int32_t>(schema.fields.size()));
  writer.end_struct();
  for (const Field& field : schema.fields) write_element(field, writer);
}

std::vector<std::vector<std::string>> leaf_paths(const columnar::Schema& schema) {
  std::vector<std::vector<std::string>> paths;
  for (const Field& field : schema.fields) collect_paths(field, {}, paths);
  return paths;
}

}  // namespace frazil::format
