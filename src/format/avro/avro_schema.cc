#include "format/avro/avro_schema.h"

#include <map>
#include <optional>

#include <nlohmann/json.hpp>

namespace frazil::format {

namespace {

using Json = nlohmann::json;

std::optional<AvroType> primitive_named(const std::string& name) {
  static const std::map<std::string, AvroType> kTypes = {
      {"null", AvroType::kNull},   {"boolean", AvroType::kBoolean}, {"int", AvroType::kInt},     {"long", AvroType::kLong},
      {"float", AvroType::kFloat}, {"double", AvroType::kDouble},   {"bytes", AvroType::kBytes}, {"string", AvroType::kString},
  };
  const auto found = kTypes.find(name);
  if (found == kTypes.end()) return std::nullopt;
  return found->second;
}

int32_t int_attribute(const Json& node, const char* key, int32_t otherwise) {
  const auto found = node.find(key);
  if (found == node.end() || !found->is_number_integer()) return otherwise;
  const auto value = found->get<int64_t>();
  return value < INT32_MIN || value > INT32_MAX ? otherwise : static_cast<int32_t>(value);
}

std::string text_attribute(const Json& node, const char* key) {
  const auto found = node.find(key);
  return found != node.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

class AvroSchemaParser {
 public:
  base::Result<AvroSchema> parse(const Json& json) {
    TRY_ASSIGN(schema_.root_, node(json, "", 0));
    return std::move(schema_);
  }

 private:
  using NodeResult = base::Result<const AvroNode*>;

  AvroNode* add(AvroType type) {
    schema_.nodes_.push_back(std::make_unique<AvroNode>());
    schema_.nodes_.back()->type = type;
    return schema_.nodes_.back().get();
  }

  NodeResult node(const Json& json, const std::string& space, int depth) {
    if (depth > kAvroDepthMax) return base::corrupt("Avro schema is nested too deeply");
    if (json.is_string()) return reference(json.get<std::string>(), space);
    if (json.is_array()) return union_of(json, space, depth);
    if (!json.is_object()) return base::corrupt("Avro schema holds neither a name, a list nor an object");
    const auto type = json.find("type");
    if (type == json.end()) return base::corrupt("Avro schema lacks \"type\"");
    if (!type->is_string()) return node(*type, space, depth + 1);
    const std::string name = type->get<std::string>();
    if (name == "record" || name == "error") return record(json, space, depth);
    if (name == "enum" || name == "fixed") return small_named(json, name == "fixed", space);
    if (name == "array" || name == "map") return container(json, name == "array", space, depth);
    const auto primitive = primitive_named(name);
    if (!primitive) return reference(name, space);
    AvroNode* result = add(*primitive);
    read_logical(json, *result);
    return result;
  }

  NodeResult reference(const std::string& name, const std::string& space) {
    if (const auto primitive = primitive_named(name)) return add(*primitive);
    auto found = named_.find(name.find('.') == std::string::npos && !space.empty() ? space + "." + name : name);
    if (found == named_.end()) found = named_.find(name);
    if (found == named_.end()) return base::corrupt("Avro schema refers to the unknown type \"" + name + "\"");
    return found->second;
  }

  NodeResult union_of(const Json& json, const std::string& space, int depth) {
    AvroNode* result = add(AvroType::kUnion);
    for (const Json& branch : json) {
      TRY_ASSIGN(const AvroNode* parsed, node(branch, space, depth + 1));
      result->branches.push_back(parsed);
    }
    if (result->branches.empty()) return base::corrupt("Avro schema holds an empty union");
    return result;
  }

  // Registers a named type and returns the namespace that holds inside it.
  base::Result<std::string> name_type(const Json& json, AvroNode& target, const std::string& space) {
    std::string name = text_attribute(json, "name");
    if (name.empty()) return base::corrupt("Avro schema has a named type without a name");
    std::string inner = json.contains("namespace") ? text_attribute(json, "namespace") : space;
    if (const size_t dot = name.rfind('.'); dot != std::string::npos) {
      inner = name.substr(0, dot);
      name = name.substr(dot + 1);
    }
    target.name = inner.empty() ? name : inner + "." + name;
    if (!named_.emplace(target.name, &target).second) {
      return base::corrupt("Avro schema defines \"" + target.name + "\" twice");
    }
    return inner;
  }

  NodeResult record(const Json& json, const std::string& space, int depth) {
    AvroNode* result = add(AvroType::kRecord);
    TRY_ASSIGN(const std::string inner, name_type(json, *result, space));
    const auto fields = json.find("fields");
    if (fields == json.end() || !fields->is_array()) return base::corrupt("Avro record \"" + result->name + "\" lacks fields");
    for (const Json& field : *fields) {
      if (!field.is_object() || !field.contains("type")) {
        return base::corrupt("Avro record \"" + result->name + "\" has a field without a type");
      }
      TRY_ASSIGN(const AvroNode* type, node(field["type"], inner, depth + 1));
      result->fields.push_back({text_attribute(field, "name"), int_attribute(field, "field-id", kNoAvroId), type});
    }
    return result;
  }

  NodeResult small_named(const Json& json, bool is_fixed, const std::string& space) {
    AvroNode* result = add(is_fixed ? AvroType::kFixed : AvroType::kEnum);
    TRY(name_type(json, *result, space));
    read_logical(json, *result);
    if (is_fixed) {
      result->size = int_attribute(json, "size", -1);
      if (result->size < 0) return base::corrupt("Avro fixed \"" + result->name + "\" lacks a size");
      return result;
    }
    const auto symbols = json.find("symbols");
    if (symbols == json.end() || !symbols->is_array()) return base::corrupt("Avro enum \"" + result->name + "\" lacks symbols");
    for (const Json& symbol : *symbols) result->symbols.push_back(symbol.is_string() ? symbol.get<std::string>() : "");
    return result;
  }

  NodeResult container(const Json& json, bool is_array, const std::string& space, int depth) {
    AvroNode* result = add(is_array ? AvroType::kArray : AvroType::kMap);
    const auto element = json.find(is_array ? "items" : "values");
    if (element == json.end()) return base::corrupt("Avro array or map lacks its element type");
    TRY_ASSIGN(result->element, node(*element, space, depth + 1));
    result->element_id = int_attribute(json, "element-id", kNoAvroId);
    result->key_id = int_attribute(json, "key-id", kNoAvroId);
    result->value_id = int_attribute(json, "value-id", kNoAvroId);
    read_logical(json, *result);
    return result;
  }

  static void read_logical(const Json& json, AvroNode& target) {
    target.logical_type = text_attribute(json, "logicalType");
    target.precision = int_attribute(json, "precision", 0);
    target.scale = int_attribute(json, "scale", 0);
    const auto utc = json.find("adjust-to-utc");
    target.adjust_to_utc = utc != json.end() && utc->is_boolean() && utc->get<bool>();
  }

  AvroSchema schema_;
  std::map<std::string, const AvroNode*> named_;
};

base::Result<AvroSchema> AvroSchema::parse(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded()) return base::corrupt("Avro schema is not JSON");
  return AvroSchemaParser().parse(parsed);
}

namespace {

bool is_letter(uint32_t unit) { return (unit >= 'a' && unit <= 'z') || (unit >= 'A' && unit <= 'Z') || unit == '_'; }
bool is_digit(uint32_t unit) { return unit >= '0' && unit <= '9'; }

void append_unit_escape(std::string& out, uint32_t unit) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string digits;
  do {
    digits.insert(digits.begin(), kHex[unit & 15]);
    unit >>= 4;
  } while (unit != 0);
  out += "_x" + digits;
}

// Reads one code point; a byte that is not valid UTF-8 counts as itself.
uint32_t next_code_point(std::string_view text, size_t& at) {
  const auto lead = static_cast<uint8_t>(text[at++]);
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  if (more == 0 || at + static_cast<size_t>(more) > text.size()) return lead;
  uint32_t point = lead & (0x3F >> more);
  for (int i = 0; i < more; ++i) point = point << 6 | (static_cast<uint8_t>(text[at++]) & 0x3F);
  return point;
}

}  // namespace

std::string sanitize_avro_name(std::string_view name) {
  std::string out;
  for (size_t at = 0; at < name.size();) {
    const bool first = at == 0;
    const uint32_t point = next_code_point(name, at);
    if (is_letter(point) || (!first && is_digit(point))) {
      out += static_cast<char>(point);
    } else if (is_digit(point)) {
      out += '_';
      out += static_cast<char>(point);
    } else if (point >= 0x10000) {
      append_unit_escape(out, 0xD800 + ((point - 0x10000) >> 10));
      append_unit_escape(out, 0xDC00 + ((point - 0x10000) & 0x3FF));
    } else {
      append_unit_escape(out, point);
    }
  }
  return out.empty() ? "_" : out;
}

}  // namespace frazil::format
