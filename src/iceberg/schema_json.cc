#include "iceberg/schema_json.h"

#include <charconv>
#include <optional>
#include <set>

#include "iceberg/json_view.h"

namespace frazil::iceberg {

using columnar::Field;
using columnar::Schema;
using columnar::Type;
using columnar::TypeId;

namespace {

constexpr int kTypeDepthMax = 128;

void write_type(JsonText& json, const Type& type);

void write_field(JsonText& json, const Field& field) {
  json.open('{').key("id").value(field.id).key("name").value(field.name).key("required").value(field.required).key("type");
  write_type(json, field.type);
  if (!field.doc.empty()) json.key("doc").value(field.doc);
  json.close('}');
}

void write_type(JsonText& json, const Type& type) {
  switch (type.id()) {
    case TypeId::kStruct:
      json.open('{').key("type").value("struct").key("fields").open('[');
      for (const Field& field : type.fields()) write_field(json, field);
      json.close(']').close('}');
      return;
    case TypeId::kList: {
      const Field& element = type.fields()[0];
      json.open('{').key("type").value("list").key("element-id").value(element.id).key("element");
      write_type(json, element.type);
      json.key("element-required").value(element.required).close('}');
      return;
    }
    case TypeId::kMap: {
      const Field& key = type.fields()[0];
      const Field& value = type.fields()[1];
      json.open('{').key("type").value("map").key("key-id").value(key.id).key("key");
      write_type(json, key.type);
      json.key("value-id").value(value.id).key("value");
      write_type(json, value.type);
      json.key("value-required").value(value.required).close('}');
      return;
    }
    default: json.value(type.name()); return;
  }
}

// The numbers in "prefix[a]" or "prefix(a, b)".
std::optional<std::vector<int>> numbers_in(std::string_view text, std::string_view prefix, char close) {
  if (!text.starts_with(prefix) || !text.ends_with(close)) return std::nullopt;
  text = text.substr(prefix.size(), text.size() - prefix.size() - 1);
  std::vector<int> numbers;
  while (true) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    numbers.push_back(number);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    if (text.empty()) return numbers;
    if (text.front() != ',') return std::nullopt;
    text.remove_prefix(1);
  }
}

base::Result<Type> primitive_type(const std::string& name) {
  for (const TypeId id : {TypeId::kBoolean, TypeId::kInt, TypeId::kLong, TypeId::kFloat, TypeId::kDouble, TypeId::kDate,
                          TypeId::kTime, TypeId::kTimestamp, TypeId::kTimestamptz, TypeId::kString, TypeId::kUuid,
                          TypeId::kBinary}) {
    if (Type::primitive(id).name() == name) return Type::primitive(id);
  }
  if (const auto length = numbers_in(name, "fixed[", ']'); length && length->size() == 1 && (*length)[0] > 0) {
    return Type::fixed((*length)[0]);
  }
  if (const auto size = numbers_in(name, "decimal(", ')'); size && size->size() == 2) {
    const int precision = (*size)[0];
    const int scale = (*size)[1];
    if (precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision) return Type::decimal(precision, scale);
  }
  return base::unsupported("type \"" + name + "\" is not one of format version 2");
}

class SchemaReader {
 public:
  base::Result<std::vector<Field>> fields(const JsonView& json, int depth) {
    if (!json.member("fields").is_array()) return base::corrupt("JSON member \"fields\" is not an array");
    TRY_ASSIGN(const auto views, json.array_member("fields"));
    std::vector<Field> result;
    for (const JsonView& view : views) {
      Field field;
      TRY_ASSIGN(field.id, view.int_member("id"));
      TRY(claim(field.id));
      TRY_ASSIGN(field.name, view.text_member("name"));
      TRY_ASSIGN(field.required, view.boolean_member("required"));
      if (view.member("doc").is_string()) {
        TRY_ASSIGN(field.doc, view.text_member("doc"));
      }
      auto parsed = type(view.member("type"), depth);
      if (!parsed.ok()) return parsed.error().in("field \"" + field.name + "\"");
      field.type = std::move(parsed).value();
      result.push_back(std::move(field));
    }
    return result;
  }

 private:
  base::Result<Type> type(const JsonView& json, int depth) {
    if (depth > kTypeDepthMax) return base::corrupt("schema is nested too deeply");
    if (json.is_string()) {
      TRY_ASSIGN(const std::string name, json.as_text());
      return primitive_type(name);
    }
    TRY_ASSIGN(const std::string name, json.text_member("type"));
    if (name == "struct") {
      TRY_ASSIGN(std::vector<Field> members, fields(json, depth + 1));
      return Type::structure(std::move(members));
    }
    if (name == "list") {
      TRY_ASSIGN(Field element, part(json, "element", "element-id", "element-required", depth));
      return Type::list(std::move(element));
    }
    if (name == "map") {
      TRY_ASSIGN(Field key, part(json, "key", "key-id", nullptr, depth));
      TRY_ASSIGN(Field value, part(json, "value", "value-id", "value-required", depth));
      return Type::map(std::move(key), std::move(value));
    }
    return base::unsupported("type \"" + name + "\" is not one of format version 2");
  }

  base::Result<Field> part(const JsonView& json, const char* name, const char* id_key, const char* required_key, int depth) {
    Field field;
    field.name = name;
    field.required = true;
    TRY_ASSIGN(field.id, json.int_member(id_key));
    TRY(claim(field.id));
    if (required_key != nullptr) {
      TRY_ASSIGN(field.required, json.boolean_member(required_key));
    }
    TRY_ASSIGN(field.type, type(json.member(name), depth + 1));
    return field;
  }

  base::Status claim(int32_t id) {
    if (ids_.insert(id).second) return {};
    return base::corrupt("field id " + std::to_string(id) + " exists twice");
  }

  std::set<int32_t> ids_;
};

}  // namespace

std::string schema_to_json(const Schema& schema) {
  JsonText json;
  json.open('{').key("type").value("struct").key("schema-id").value(schema.schema_id);
  if (!schema.identifier_field_ids.empty()) {
    json.key("identifier-field-ids").open('[');
    for (const int32_t id : schema.identifier_field_ids) json.value(id);
    json.close(']');
  }
  json.key("fields").open('[');
  for (const Field& field : schema.fields) write_field(json, field);
  json.close(']').close('}');
  return json.take();
}

base::Result<Schema> schema_from_json(std::string_view text) {
  TRY_ASSIGN(const JsonDocument document, JsonDocument::parse(text));
  const JsonView root = document.root();
  Schema schema;
  TRY_ASSIGN(const auto id, root.optional_int("schema-id"));
  schema.schema_id = id.value_or(0);
  TRY_ASSIGN(schema.fields, SchemaReader().fields(root, 0));
  TRY_ASSIGN(const auto identifiers, root.array_member("identifier-field-ids"));
  for (const JsonView& view : identifiers) {
    TRY_ASSIGN(const int64_t field_id, view.as_long());
    schema.identifier_field_ids.push_back(static_cast<int32_t>(field_id));
  }
  return schema;
}

}  // namespace frazil::iceberg
