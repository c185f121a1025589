#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "app/config/json_text.h"
#include "app/config/schema_source.h"

namespace frazil::app {
namespace {

using columnar::Field;
using columnar::Type;
using columnar::TypeId;
using Json = nlohmann::ordered_json;

// Deeper schemas are nonsense or an attack on the stack.
constexpr int kMaxDepth = 128;

struct Found {
  Type type = Type::primitive(TypeId::kBoolean);
  bool is_optional = false;
};

std::string text_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int int_member(const Json& object, const char* key, int otherwise) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return otherwise;
  const auto number = found->get<int64_t>();
  return number < 0 || number > INT32_MAX ? -1 : static_cast<int>(number);
}

const std::map<std::string, TypeId>& primitives() {
  static const std::map<std::string, TypeId> names = {
      {"boolean", TypeId::kBoolean}, {"int", TypeId::kInt},       {"long", TypeId::kLong},    {"float", TypeId::kFloat},
      {"double", TypeId::kDouble},   {"string", TypeId::kString}, {"bytes", TypeId::kBinary},
  };
  return names;
}

// Reads one schema document; named types are remembered for later use by name.
class AvroReader {
 public:
  const TimestampFields& timestamps() const { return timestamps_; }

  base::Result<Found> read(const Json& node, const std::string& path, int depth) {
    if (depth > kMaxDepth) return base::unsupported(path + ": nested deeper than " + std::to_string(kMaxDepth));
    if (node.is_array()) return read_union(node, path, depth);
    if (node.is_string()) return read_name(node.get<std::string>(), path);
    if (!node.is_object()) return base::invalid(path + ": a type is a name, an object or a union");
    const auto type = node.find("type");
    if (type == node.end()) return base::invalid(path + ": \"type\" is missing");
    if (!type->is_string()) return read(*type, path, depth + 1);
    const std::string name = type->get<std::string>();
    if (name == "record" || name == "error") return read_record(node, path, depth);
    if (name == "array") return read_array(node, path, depth);
    if (name == "map") return read_map(node, path, depth);
    if (name == "enum") return remember(node, Type::primitive(TypeId::kString));
    if (name == "fixed") return read_fixed(node, path);
    return read_logical(node, name, path);
  }

 private:
  base::Result<Found> read_union(const Json& node, const std::string& path, int depth) {
    const Json* member = nullptr;
    bool has_null = false;
    for (const Json& branch : node) {
      if (branch == "null") {
        has_null = true;
      } else if (member != nullptr) {
        return base::unsupported(path + ": a union of several types has no column");
      } else {
        member = &branch;
      }
    }
    if (member == nullptr) return base::unsupported(path + ": a field that is always null has no column");
    TRY_ASSIGN(Found found, read(*member, path, depth + 1));
    found.is_optional = found.is_optional || has_null;
    return found;
  }

  base::Result<Found> read_name(const std::string& name, const std::string& path) {
    if (const auto primitive = primitives().find(name); primitive != primitives().end()) {
      return Found{Type::primitive(primitive->second)};
    }
    if (open_.contains(name)) return base::unsupported(path + ": record \"" + name + "\" contains itself");
    if (const auto named = named_.find(name); named != named_.end()) return Found{named->second};
    return base::invalid(path + ": unknown type \"" + name + "\"");
  }

  base::Result<Found> read_record(const Json& node, const std::string& path, int depth) {
    const std::string name = text_member(node, "name");
    const auto fields = node.find("fields");
    if (fields == node.end() || !fields->is_array()) return base::invalid(path + ": a record needs a list \"fields\"");
    if (!name.empty() && !open_.insert(name).second)
      return base::unsupported(path + ": record \"" + name + "\" contains itself");
    std::vector<Field> members;
    std::set<std::string> names;
    for (const Json& field : *fields) {
      TRY_ASSIGN(Field member, read_field(field, path, depth));
      if (!names.insert(member.name).second)
        return base::invalid(path + ": two fields have the name \"" + member.name + "\"");
      members.push_back(std::move(member));
    }
    open_.erase(name);
    return remember(node, Type::structure(std::move(members)));
  }

  base::Result<Field> read_field(const Json& field, const std::string& path, int depth) {
    if (!field.is_object()) return base::invalid(path + ": a field is an object");
    Field member;
    member.name = text_member(field, "name");
    if (member.name.empty()) return base::invalid(path + ": a field has no name");
    member.doc = text_member(field, "doc");
    const std::string inner = path == "schema" ? member.name : path + "." + member.name;
    const auto type = field.find("type");
    if (type == field.end()) return base::invalid(inner + ": \"type\" is missing");
    TRY_ASSIGN(Found found, read(*type, inner, depth + 1));
    member.type = std::move(found.type);
    member.required = !found.is_optional;
    return member;
  }

  base::Result<Found> read_array(const Json& node, const std::string& path, int depth) {
    const auto items = node.find("items");
    if (items == node.end()) return base::invalid(path + ": an array needs \"items\"");
    TRY_ASSIGN(Found element, read(*items, path + ".element", depth + 1));
    // Maps with other keys than strings are arrays of pairs in Iceberg's own Avro schemas.
    if (text_member(node, "logicalType") == "map" && element.type.id() == TypeId::kStruct &&
        element.type.fields().size() == 2) {
      Field key = element.type.fields()[0], value = element.type.fields()[1];
      key.name = "key";
      key.required = true;
      value.name = "value";
      return Found{Type::map(std::move(key), std::move(value))};
    }
    Field field;
    field.name = "element";
    field.required = !element.is_optional;
    field.type = std::move(element.type);
    return Found{Type::list(std::move(field))};
  }

  base::Result<Found> read_map(const Json& node, const std::string& path, int depth) {
    const auto values = node.find("values");
    if (values == node.end()) return base::invalid(path + ": a map needs \"values\"");
    TRY_ASSIGN(Found found, read(*values, path + ".value", depth + 1));
    Field key, value;
    key.name = "key";
    key.required = true;
    key.type = Type::primitive(TypeId::kString);
    value.name = "value";
    value.required = !found.is_optional;
    value.type = std::move(found.type);
    return Found{Type::map(std::move(key), std::move(value))};
  }

  base::Result<Found> read_fixed(const Json& node, const std::string& path) {
    const int size = int_member(node, "size", -1);
    if (size < 1) return base::invalid(path + ": a fixed needs a \"size\" of 1 or more");
    const std::string logical = text_member(node, "logicalType");
    if (logical == "decimal") {
      TRY_ASSIGN(Type type, read_decimal(node, path));
      return remember(node, type);
    }
    if (logical == "uuid" && size == 16) return remember(node, Type::primitive(TypeId::kUuid));
    return remember(node, Type::fixed(size));
  }

  base::Result<Type> read_decimal(const Json& node, const std::string& path) {
    const int precision = int_member(node, "precision", -1);
    const int scale = int_member(node, "scale", 0);
    if (precision < 1 || precision > 38 || scale < 0 || scale > precision) {
      return base::unsupported(path + ": a decimal has precision 1 to 38 and scale 0 to precision");
    }
    return Type::decimal(precision, scale);
  }

  base::Result<Found> read_logical(const Json& node, const std::string& name, const std::string& path) {
    const std::string logical = text_member(node, "logicalType");
    const auto utc = node.find("adjust-to-utc");
    const bool is_local = utc != node.end() && utc->is_boolean() && !utc->get<bool>();
    if (name == "bytes" && logical == "decimal") {
      TRY_ASSIGN(Type type, read_decimal(node, path));
      return Found{type};
    }
    if (name == "int" && logical == "date") return Found{Type::primitive(TypeId::kDate)};
    if ((name == "int" && logical == "time-millis") || (name == "long" && logical == "time-micros")) {
      return Found{Type::primitive(TypeId::kTime)};
    }
    note_unit(name, logical, path);
    if (name == "long" && (logical == "timestamp-millis" || logical == "timestamp-micros")) {
      return Found{Type::primitive(is_local ? TypeId::kTimestamp : TypeId::kTimestamptz)};
    }
    if (name == "long" && (logical == "local-timestamp-millis" || logical == "local-timestamp-micros")) {
      return Found{Type::primitive(TypeId::kTimestamp)};
    }
    if (logical.ends_with("timestamp-nanos"))
      return base::unsupported(path + ": timestamps of nanoseconds need format version 3");
    if (name == "string" && logical == "uuid") return Found{Type::primitive(TypeId::kUuid)};
    // Logical types that Avro does not define are ignored, as its specification asks.
    return read_name(name, path);
  }

  void note_unit(const std::string& name, const std::string& logical, const std::string& path) {
    if (name != "long") return;
    if (logical.ends_with("timestamp-millis") && timestamps_.millis.empty()) timestamps_.millis = path;
    if (logical.ends_with("timestamp-micros") && timestamps_.micros.empty()) timestamps_.micros = path;
  }

  Found remember(const Json& node, const Type& type) {
    const std::string name = text_member(node, "name");
    const std::string space = text_member(node, "namespace");
    if (!name.empty()) {
      named_.insert_or_assign(name, type);
      if (!space.empty()) named_.insert_or_assign(space + "." + name, type);
    }
    return Found{type};
  }

  TimestampFields timestamps_;
  std::map<std::string, Type> named_;
  std::set<std::string> open_;  // records that are being read
};

}  // namespace

base::Result<columnar::Schema> schema_from_avro(std::string_view json, TimestampFields* timestamps) {
  TRY(check_json_text(json));
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  AvroReader reader;
  TRY_ASSIGN(const Found found, reader.read(document, "schema", 0));
  if (found.type.id() != TypeId::kStruct) return base::invalid("the outermost type must be a record");
  if (timestamps != nullptr) *timestamps = reader.timestamps();
  columnar::Schema schema;
  schema.fields = found.type.fields();
  if (schema.fields.empty()) return base::invalid("the record has no fields");
  return columnar::assign_fresh_ids(schema);
}

base::Result<columnar::Schema> schema_from_avro_file(const std::string& path, TimestampFields* timestamps) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::not_found("schema file " + path + " cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return schema_from_avro(text.str(), timestamps).in("schema file " + path);
}

}  // namespace frazil::app
