#include "app/convert/schema_text.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

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
  Type type = Type::primitive(TypeId::kString);
  bool is_nullable = false;
};

// Reads one JSON Schema document.
class JsonSchemaReader {
 public:
  explicit JsonSchemaReader(const Json& document) : document_(document) {}

  base::Result<Found> read(const Json& given, const std::string& path, int depth) {
    if (depth > kMaxDepth) return base::unsupported(path + ": nested deeper than " + std::to_string(kMaxDepth));
    if (!given.is_object()) return base::invalid(path + ": a schema is an object");
    TRY_ASSIGN(const Json* node, follow(given, path));
    Found found;
    TRY_ASSIGN(const std::string type, type_of(*node, path, found));
    if (type == "object") {
      TRY_ASSIGN(found.type, read_object(*node, path, depth));
    } else if (type == "array") {
      TRY_ASSIGN(found.type, read_array(*node, path, depth));
    } else {
      TRY_ASSIGN(found.type, primitive(type, path));
    }
    return found;
  }

  base::Result<std::vector<Field>> read_fields(const Json& node, const std::string& path, int depth) {
    std::vector<Field> fields;
    for (const auto& [name, property] : node.at("properties").items()) {
      const std::string inner = path.empty() ? name : path + "." + name;
      TRY_ASSIGN(Found found, read(property, inner, depth + 1));
      Field field;
      field.name = name;
      field.type = std::move(found.type);
      field.required = is_required(node, name) && !found.is_nullable;
      if (const auto doc = property.find("description"); doc != property.end() && doc->is_string()) field.doc = doc->get<std::string>();
      fields.push_back(std::move(field));
    }
    return fields;
  }

 private:
  // Where "$ref": "#/definitions/x" leads.
  base::Result<const Json*> follow(const Json& node, const std::string& path) {
    const auto reference = node.find("$ref");
    if (reference == node.end()) return &node;
    if (!reference->is_string() || !reference->get<std::string>().starts_with("#/")) {
      return base::unsupported(path + ": references lead to other parts of the same schema (#/...)");
    }
    const Json* at = &document_;
    std::string rest = reference->get<std::string>().substr(2);
    while (!rest.empty()) {
      const size_t slash = std::min(rest.find('/'), rest.size());
      const auto next = at->is_object() ? at->find(rest.substr(0, slash)) : at->end();
      if (!at->is_object() || next == at->end()) return base::invalid(path + ": a reference leads nowhere");
      at = &*next;
      rest = rest.substr(std::min(slash + 1, rest.size()));
    }
    if (!at->is_object() || at->contains("$ref")) return base::unsupported(path + ": a reference to a reference");
    return at;
  }

  // "string", or the one type besides null of ["null", "string"].
  base::Result<std::string> type_of(const Json& node, const std::string& path, Found& found) {
    const auto type = node.find("type");
    if (type == node.end()) {
      if (node.contains("properties")) return std::string("object");
      return base::unsupported(path + ": a schema without \"type\" has no column");
    }
    if (type->is_string()) return type->get<std::string>();
    std::string only;
    for (const Json& name : *type) {
      if (!name.is_string()) return base::invalid(path + ": \"type\" is a name or a list of names");
      if (name == "null") {
        found.is_nullable = true;
      } else if (only.empty()) {
        only = name.get<std::string>();
      } else {
        return base::unsupported(path + ": a choice of several types has no column");
      }
    }
    return only;
  }

  base::Result<Type> read_object(const Json& node, const std::string& path, int depth) {
    if (const auto properties = node.find("properties"); properties != node.end() && properties->is_object() && !properties->empty()) {
      TRY_ASSIGN(auto fields, read_fields(node, path, depth));
      return Type::structure(std::move(fields));
    }
    const auto values = node.find("additionalProperties");
    if (values == node.end() || !values->is_object()) return base::unsupported(path + ": an object without \"properties\" has no column");
    TRY_ASSIGN(Found found, read(*values, path + ".value", depth + 1));
    Field key, value;
    key.name = "key";
    key.required = true;
    key.type = Type::primitive(TypeId::kString);
    value.name = "value";
    value.type = std::move(found.type);
    return Type::map(std::move(key), std::move(value));
  }

  base::Result<Type> read_array(const Json& node, const std::string& path, int depth) {
    const auto items = node.find("items");
    if (items == node.end() || !items->is_object()) return base::unsupported(path + ": an array needs one schema as \"items\"");
    TRY_ASSIGN(Found found, read(*items, path + ".element", depth + 1));
    Field element;
    element.name = "element";
    element.type = std::move(found.type);
    return Type::list(std::move(element));
  }

  static base::Result<Type> primitive(const std::string& type, const std::string& path) {
    if (type == "integer") return Type::primitive(TypeId::kLong);
    if (type == "number") return Type::primitive(TypeId::kDouble);
    if (type == "string") return Type::primitive(TypeId::kString);
    if (type == "boolean") return Type::primitive(TypeId::kBoolean);
    return base::unsupported(path + ": type \"" + type + "\" has no column");
  }

  static bool is_required(const Json& node, const std::string& name) {
    const auto required = node.find("required");
    if (required == node.end() || !required->is_array()) return false;
    return std::find(required->begin(), required->end(), Json(name)) != required->end();
  }

  const Json& document_;
};

bool has_inner_required(const Type& type) {
  // A map's keys are required in any case.
  const auto& fields = type.fields();
  return std::any_of(fields.begin(), fields.end(), [&](const Field& field) {
    const bool is_key = type.id() == TypeId::kMap && &field == &fields[0];
    return (field.required && !is_key) || has_inner_required(field.type);
  });
}

// Adds the paths below a schema's "properties"; schemas behind references are left out.
void find_times(const Json& node, const std::string& path, int depth, std::string& found) {
  if (depth > kMaxDepth || !node.is_object()) return;
  const auto format = node.find("format");
  if (format != node.end() && (*format == "date-time" || *format == "date" || *format == "time")) {
    found += (found.empty() ? "" : ", ") + path + " (" + format->get<std::string>() + ")";
  }
  if (const auto items = node.find("items"); items != node.end()) find_times(*items, path + ".element", depth + 1, found);
  const auto properties = node.find("properties");
  if (properties == node.end() || !properties->is_object()) return;
  for (const auto& [name, property] : properties->items()) {
    find_times(property, path.empty() ? name : path + "." + name, depth + 1, found);
  }
}

Json to_json(const Node& node) {
  if (node.kind == Node::Kind::kList) {
    Json list = Json::array();
    for (const Node& item : node.items) list.push_back(to_json(item));
    return list;
  }
  if (node.kind == Node::Kind::kMap) {
    Json map = Json::object();
    for (const Entry& entry : node.entries) map[entry.key] = to_json(entry.value);
    return map;
  }
  int64_t number = 0;
  const char* end = node.scalar.data() + node.scalar.size();
  if (const auto read = std::from_chars(node.scalar.data(), end, number); read.ec == std::errc() && read.ptr == end) return number;
  if (node.scalar == "true" || node.scalar == "false") return node.scalar == "true";
  return node.scalar;
}

}  // namespace

base::Result<columnar::Schema> schema_from_json_schema(std::string_view json) {
  TRY(check_json_text(json));
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return base::invalid("not a JSON object");
  const auto properties = document.find("properties");
  if (properties == document.end() || !properties->is_object() || properties->empty()) {
    return base::invalid("a JSON Schema needs \"properties\" at its top");
  }
  columnar::Schema schema;
  TRY_ASSIGN(schema.fields, JsonSchemaReader(document).read_fields(document, "", 0));
  return columnar::assign_fresh_ids(schema);
}

base::Result<columnar::Schema> schema_from_text(std::string_view text, TimestampFields* timestamps) {
  TRY(check_json_text(text));
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return base::invalid("not a JSON object");
  if (document.contains("fields")) return schema_from_avro(text, timestamps);
  return schema_from_json_schema(text);
}

std::string times_that_stay_texts(std::string_view text) {
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::string found;
  find_times(document, "", 0, found);
  return found;
}

std::string to_json_text(const Node& node) { return to_json(node).dump(-1, ' ', false, Json::error_handler_t::replace); }

bool loses_inner_required(const columnar::Schema& schema) {
  return std::any_of(schema.fields.begin(), schema.fields.end(), [](const Field& field) { return has_inner_required(field.type); });
}

}  // namespace frazil::app
