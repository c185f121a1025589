#include "sources/generator/avro_shape.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace frazil::sources {

using Json = nlohmann::json;

namespace {

const std::map<std::string, AvroKind>& primitives() {
  static const std::map<std::string, AvroKind> kinds = {
      {"null", AvroKind::kNull},   {"boolean", AvroKind::kBoolean}, {"int", AvroKind::kInt},     {"long", AvroKind::kLong},
      {"float", AvroKind::kFloat}, {"double", AvroKind::kDouble},   {"bytes", AvroKind::kBytes}, {"string", AvroKind::kString}};
  return kinds;
}

// Logical types by the type that carries them; an unknown one is no error in Avro.
AvroKind with_logical(AvroKind kind, const std::string& logical) {
  static const std::map<std::pair<AvroKind, std::string>, AvroKind> kinds = {
      {{AvroKind::kBytes, "decimal"}, AvroKind::kDecimal},
      {{AvroKind::kFixed, "decimal"}, AvroKind::kDecimal},
      {{AvroKind::kString, "uuid"}, AvroKind::kUuid},
      {{AvroKind::kFixed, "uuid"}, AvroKind::kUuid},
      {{AvroKind::kInt, "date"}, AvroKind::kDate},
      {{AvroKind::kInt, "time-millis"}, AvroKind::kTimeMillis},
      {{AvroKind::kLong, "time-micros"}, AvroKind::kTimeMicros},
      {{AvroKind::kLong, "timestamp-millis"}, AvroKind::kTimestampMillis},
      {{AvroKind::kLong, "timestamp-micros"}, AvroKind::kTimestampMicros},
      {{AvroKind::kLong, "local-timestamp-millis"}, AvroKind::kLocalTimestampMillis},
      {{AvroKind::kLong, "local-timestamp-micros"}, AvroKind::kLocalTimestampMicros}};
  const auto found = kinds.find({kind, logical});
  return found == kinds.end() ? kind : found->second;
}

std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int number_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_integer() ? found->get<int>() : 0;
}

}  // namespace

// Reads types by recursive descent; named types are known from their beginning, so a record may hold itself.
class AvroParser {
 public:
  explicit AvroParser(AvroSchema& schema) : schema_(schema) {}

  base::Result<const AvroShape*> type(const Json& json, const std::string& space, int depth = 0) {
    if (depth > 64) return base::invalid("Avro schema: nested deeper than 64");
    if (json.is_string()) return named(json.get<std::string>(), space);
    if (json.is_array()) return alternatives(json, space, depth);
    if (!json.is_object()) return base::invalid("Avro schema: " + json.dump() + " is no type");
    const auto inner = json.find("type");
    if (inner == json.end()) return base::invalid("Avro schema: a type without 'type'");
    if (!inner->is_string()) return type(*inner, space, depth + 1);
    const std::string name = inner->get<std::string>();
    if (name == "record" || name == "error") return record(json, space, depth);
    if (name == "enum") return enumeration(json, space);
    if (name == "array") return container(AvroKind::kArray, json, "items", space, depth);
    if (name == "map") return container(AvroKind::kMap, json, "values", space, depth);
    if (name == "fixed") return fixed(json, space);
    const auto primitive = primitives().find(name);
    if (primitive == primitives().end()) return named(name, space);
    AvroShape& shape = add(primitive->second);
    TRY(refine(shape, json));
    return const_cast<const AvroShape*>(&shape);
  }

 private:
  AvroShape& add(AvroKind kind) {
    schema_.shapes_.push_back(std::make_unique<AvroShape>());
    schema_.shapes_.back()->kind = kind;
    return *schema_.shapes_.back();
  }

  base::Result<const AvroShape*> named(const std::string& name, const std::string& space) {
    if (const auto primitive = primitives().find(name); primitive != primitives().end()) {
      return const_cast<const AvroShape*>(&add(primitive->second));
    }
    for (const std::string& full : {space.empty() ? name : space + "." + name, name}) {
      if (const auto known = names_.find(full); known != names_.end()) return known->second;
    }
    return base::invalid("Avro schema: there is no type '" + name + "'");
  }

  base::Status refine(AvroShape& shape, const Json& json) {
    shape.kind = with_logical(shape.kind, text_of(json, "logicalType"));
    if (shape.kind != AvroKind::kDecimal) return {};
    shape.precision = number_of(json, "precision");
    shape.scale = number_of(json, "scale");
    if (shape.precision < 1 || shape.precision > 38 || shape.scale < 0 || shape.scale > shape.precision) {
      return base::invalid("Avro schema: a decimal needs precision 1 to 38 and scale 0 to precision");
    }
    return {};
  }

  // Gives a named type its full name; returns the namespace that holds inside it.
  base::Result<std::string> define(const AvroShape& shape, const Json& json, const std::string& space) {
    std::string name = text_of(json, "name");
    if (name.empty()) return base::invalid("Avro schema: a named type without 'name'");
    std::string own_space = json.contains("namespace") ? text_of(json, "namespace") : space;
    if (const size_t dot = name.rfind('.'); dot != std::string::npos) {
      own_space = name.substr(0, dot);
      name.erase(0, dot + 1);
    }
    const std::string full = own_space.empty() ? name : own_space + "." + name;
    if (!names_.emplace(full, &shape).second) return base::invalid("Avro schema: '" + full + "' is defined twice");
    return own_space;
  }

  base::Result<const AvroShape*> record(const Json& json, const std::string& space, int depth) {
    AvroShape& shape = add(AvroKind::kRecord);
    TRY_ASSIGN(const std::string inside, define(shape, json, space));
    const auto fields = json.find("fields");
    if (fields == json.end() || !fields->is_array()) return base::invalid("Avro schema: a record without 'fields'");
    for (const Json& field : *fields) {
      const std::string name = field.is_object() ? text_of(field, "name") : "";
      if (name.empty() || !field.contains("type")) return base::invalid("Avro schema: a field without name or type");
      auto member = type(field["type"], inside, depth + 1);
      if (!member.ok()) return member.error().in("field " + name);
      shape.members.push_back({name, member.value()});
    }
    return const_cast<const AvroShape*>(&shape);
  }

  base::Result<const AvroShape*> enumeration(const Json& json, const std::string& space) {
    AvroShape& shape = add(AvroKind::kEnum);
    TRY(define(shape, json, space));
    const auto symbols = json.find("symbols");
    if (symbols == json.end() || !symbols->is_array() || symbols->empty()) {
      return base::invalid("Avro schema: an enum without 'symbols'");
    }
    for (const Json& symbol : *symbols) {
      if (!symbol.is_string()) return base::invalid("Avro schema: a symbol of an enum is no text");
      shape.symbols.push_back(symbol.get<std::string>());
    }
    return const_cast<const AvroShape*>(&shape);
  }

  base::Result<const AvroShape*> fixed(const Json& json, const std::string& space) {
    AvroShape& shape = add(AvroKind::kFixed);
    TRY(define(shape, json, space));
    shape.size = number_of(json, "size");
    if (shape.size < 1 || shape.size > (1 << 20)) return base::invalid("Avro schema: a fixed needs a size of 1 to 1048576");
    TRY(refine(shape, json));
    return const_cast<const AvroShape*>(&shape);
  }

  base::Result<const AvroShape*> container(AvroKind kind, const Json& json, const char* key, const std::string& space,
                                           int depth) {
    AvroShape& shape = add(kind);
    if (!json.contains(key)) return base::invalid(std::string("Avro schema: '") + key + "' is missing");
    TRY_ASSIGN(const AvroShape* element, type(json[key], space, depth + 1));
    shape.branches.push_back(element);
    return const_cast<const AvroShape*>(&shape);
  }

  base::Result<const AvroShape*> alternatives(const Json& json, const std::string& space, int depth) {
    AvroShape& shape = add(AvroKind::kUnion);
    if (json.empty()) return base::invalid("Avro schema: an empty union");
    for (const Json& branch : json) {
      TRY_ASSIGN(const AvroShape* alternative, type(branch, space, depth + 1));
      shape.branches.push_back(alternative);
    }
    return const_cast<const AvroShape*>(&shape);
  }

  AvroSchema& schema_;
  std::map<std::string, const AvroShape*> names_;
};

base::Result<AvroSchema> AvroSchema::parse(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded()) return base::invalid("Avro schema: the text is no JSON");
  AvroSchema schema;
  TRY_ASSIGN(schema.root_, AvroParser(schema).type(parsed, ""));
  if (schema.root_->kind != AvroKind::kRecord) return base::invalid("Avro schema: the top must be a record");
  return schema;
}

}  // namespace frazil::sources
