#include "columnar/schema.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/check.h"

namespace frazil::columnar {
namespace {

std::string_view primitive_name(TypeId id) {
  switch (id) {
    case TypeId::kBoolean:
      return "boolean";
    case TypeId::kInt:
      return "int";
    case TypeId::kLong:
      return "long";
    case TypeId::kFloat:
      return "float";
    case TypeId::kDouble:
      return "double";
    case TypeId::kDecimal:
      return "decimal";
    case TypeId::kDate:
      return "date";
    case TypeId::kTime:
      return "time";
    case TypeId::kTimestamp:
      return "timestamp";
    case TypeId::kTimestamptz:
      return "timestamptz";
    case TypeId::kString:
      return "string";
    case TypeId::kUuid:
      return "uuid";
    case TypeId::kFixed:
      return "fixed";
    case TypeId::kBinary:
      return "binary";
    case TypeId::kStruct:
      return "struct";
    case TypeId::kList:
      return "list";
    case TypeId::kMap:
      return "map";
  }
  return "";
}

std::string struct_name(const std::vector<Field>& fields) {
  std::string name = "struct<";
  for (const Field& field : fields) {
    if (&field != &fields.front()) name += ", ";
    name += field.name + ": " + field.type.name();
  }
  return name + ">";
}

const Field* find_field(const std::vector<Field>& fields, int32_t id) {
  for (const Field& field : fields) {
    if (field.id == id) return &field;
    if (const Field* found = find_field(field.type.fields(), id)) return found;
  }
  return nullptr;
}

bool find_path(const std::vector<Field>& fields, int32_t id, std::string& path) {
  const size_t length = path.size();
  for (const Field& field : fields) {
    if (length != 0) path += '.';
    path += field.name;
    if (field.id == id || find_path(field.type.fields(), id, path)) return true;
    path.resize(length);
  }
  return false;
}

// Adds the dotted names below `prefix`; the first that was there already ends the walk.
std::string repeated_name(const std::vector<Field>& fields, const std::string& prefix, std::set<std::string>& names) {
  for (const Field& field : fields) {
    const std::string name = prefix + field.name;
    if (!names.insert(name).second) return name;
    if (std::string below = repeated_name(field.type.fields(), name + ".", names); !below.empty()) return below;
  }
  return {};
}

int32_t highest_id(const std::vector<Field>& fields) {
  int32_t highest = 0;
  for (const Field& field : fields) highest = std::max({highest, field.id, highest_id(field.type.fields())});
  return highest;
}

// Numbers all fields of a level, then goes into each.
class FreshIds {
 public:
  explicit FreshIds(int32_t last_id) : last_id_(last_id) {}

  std::vector<Field> fields(std::vector<Field> fields) {
    for (Field& field : fields) {
      ++last_id_;
      if (field.id != 0) new_ids_.emplace(field.id, last_id_);
      field.id = last_id_;
    }
    for (Field& field : fields) field.type = type(field.type);
    return fields;
  }

  // The new id of a field of the old schema; 0 when there is none.
  int32_t new_id(int32_t old_id) const {
    const auto found = new_ids_.find(old_id);
    return found == new_ids_.end() ? 0 : found->second;
  }

 private:
  Type type(const Type& type) {
    if (!type.is_nested()) return type;
    std::vector<Field> children = fields(type.fields());
    if (type.id() == TypeId::kStruct) return Type::structure(std::move(children));
    if (type.id() == TypeId::kList) return Type::list(std::move(children[0]));
    return Type::map(std::move(children[0]), std::move(children[1]));
  }

  int32_t last_id_;
  std::unordered_map<int32_t, int32_t> new_ids_;
};

}  // namespace

Type Type::primitive(TypeId id) {
  CHECK(id < TypeId::kStruct);
  Type type;
  type.id_ = id;
  return type;
}

Type Type::decimal(int precision, int scale) {
  CHECK(precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision);
  Type type = primitive(TypeId::kDecimal);
  type.precision_ = precision;
  type.scale_ = scale;
  return type;
}

Type Type::fixed(int length) {
  CHECK(length >= 0);
  Type type = primitive(TypeId::kFixed);
  type.length_ = length;
  return type;
}

Type Type::structure(std::vector<Field> fields) {
  Type type;
  type.id_ = TypeId::kStruct;
  type.fields_ = std::make_shared<const std::vector<Field>>(std::move(fields));
  return type;
}

Type Type::list(Field element) {
  element.name = "element";
  Type type = structure({std::move(element)});
  type.id_ = TypeId::kList;
  return type;
}

Type Type::map(Field key, Field value) {
  key.name = "key";
  key.required = true;
  value.name = "value";
  Type type = structure({std::move(key), std::move(value)});
  type.id_ = TypeId::kMap;
  return type;
}

const std::vector<Field>& Type::fields() const {
  static const std::vector<Field> none;
  return fields_ ? *fields_ : none;
}

std::string Type::name() const {
  std::string name(primitive_name(id_));
  if (id_ == TypeId::kDecimal) return name + "(" + std::to_string(precision_) + ", " + std::to_string(scale_) + ")";
  if (id_ == TypeId::kFixed) return name + "[" + std::to_string(length_) + "]";
  if (id_ == TypeId::kStruct) return struct_name(fields());
  if (id_ == TypeId::kList) return name + "<" + fields()[0].type.name() + ">";
  if (id_ == TypeId::kMap) return name + "<" + fields()[0].type.name() + ", " + fields()[1].type.name() + ">";
  return name;
}

bool Type::operator==(const Type& other) const {
  if (id_ != other.id_ || precision_ != other.precision_ || scale_ != other.scale_ || length_ != other.length_)
    return false;
  return fields_ == other.fields_ || fields() == other.fields();
}

bool Field::operator==(const Field& other) const {
  return id == other.id && name == other.name && required == other.required && type == other.type && doc == other.doc;
}

const Field* Schema::find(std::string_view name) const {
  for (const Field& field : fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

const Field* Schema::find_by_id(int32_t id) const {
  return find_field(fields, id);
}

std::string Schema::path_of(int32_t id) const {
  std::string path;
  return find_path(fields, id, path) ? path : std::string();
}

int32_t Schema::highest_field_id() const {
  return highest_id(fields);
}

std::string repeated_full_name(const std::vector<Field>& fields) {
  std::set<std::string> names;
  return repeated_name(fields, "", names);
}

Schema assign_fresh_ids(const Schema& schema, int32_t last_id) {
  FreshIds ids(last_id);
  Schema fresh;
  fresh.schema_id = schema.schema_id;
  fresh.fields = ids.fields(schema.fields);
  for (const int32_t old_id : schema.identifier_field_ids) {
    if (const int32_t id = ids.new_id(old_id); id != 0) fresh.identifier_field_ids.push_back(id);
  }
  return fresh;
}

}  // namespace frazil::columnar
