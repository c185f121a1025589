// Types and schemas with Iceberg field ids: the one description of rows that decoders, tables and files share.
//
// Values, cheap to copy (types are shared and immutable). Names of types are those of the Iceberg specification,
// section "Schemas and Data Types". JSON lives elsewhere (iceberg/schema_json.h). Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace frazil::columnar {

enum class TypeId {
  kBoolean,
  kInt,   // 32 bit
  kLong,  // 64 bit
  kFloat,
  kDouble,
  kDecimal,      // precision 1..38, scale 0..precision
  kDate,         // days since 1970-01-01, 32 bit
  kTime,         // microseconds since midnight, 64 bit
  kTimestamp,    // microseconds since 1970-01-01T00:00:00, no zone
  kTimestamptz,  // microseconds since 1970-01-01T00:00:00Z
  kString,       // UTF-8
  kUuid,         // 16 bytes, big-endian
  kFixed,        // `length` bytes
  kBinary,
  kStruct,
  kList,  // one child field named "element"
  kMap,   // two child fields named "key" (required) and "value"
};

struct Field;

// A type. Copies share the children.
class Type {
 public:
  static Type primitive(TypeId id);
  static Type decimal(int precision, int scale);
  static Type fixed(int length);
  static Type structure(std::vector<Field> fields);
  static Type list(Field element);
  static Type map(Field key, Field value);

  TypeId id() const { return id_; }
  int precision() const { return precision_; }
  int scale() const { return scale_; }
  int length() const { return length_; }
  // Struct members; list: {element}; map: {key, value}; empty for primitives.
  const std::vector<Field>& fields() const;
  bool is_nested() const { return id_ == TypeId::kStruct || id_ == TypeId::kList || id_ == TypeId::kMap; }
  // Name as in Iceberg JSON for primitives ("decimal(9, 2)", "fixed[4]", "timestamptz"); "struct<a: int, ...>" for
  // nested.
  std::string name() const;
  bool operator==(const Type& other) const;

 private:
  TypeId id_ = TypeId::kBoolean;
  int precision_ = 0;
  int scale_ = 0;
  int length_ = 0;
  std::shared_ptr<const std::vector<Field>> fields_;
};

struct Field {
  int32_t id = 0;
  std::string name = {};
  bool required = false;
  Type type = Type::primitive(TypeId::kBoolean);
  std::string doc = {};
  bool operator==(const Field& other) const;
};

struct Schema {
  int32_t schema_id = 0;
  std::vector<Field> fields;
  std::vector<int32_t> identifier_field_ids;

  // The top-level field of that name, or nullptr. Case matters.
  const Field* find(std::string_view name) const;
  // Any field by id, nested ones included, or nullptr.
  const Field* find_by_id(int32_t id) const;
  // Dotted path of a field id ("shipping.days", "tags.element"), or empty.
  std::string path_of(int32_t id) const;
  int32_t highest_field_id() const;
  bool operator==(const Schema& other) const = default;
};

// Gives every field a fresh id, level by level as Iceberg's Java does (all fields of a struct before their children),
// starting above `last_id`. Returns the schema; its highest_field_id() is the new last-column-id.
Schema assign_fresh_ids(const Schema& schema, int32_t last_id = 0);

// A dotted name that two fields share: a column "a.b" beside a field b of column a. Readers index columns by these names
// and refuse such a schema whole. Empty when there is none.
std::string repeated_full_name(const std::vector<Field>& fields);

// Parses a type name as Spark and Iceberg write it: "long", "bigint", "decimal(9,2)", "fixed[4]", "list<string>",
// "array<string>", "map<string, int>", "struct<a: int, b: list<double>>", "timestamp", "timestamptz". Nested ids are 0.
// kInvalid names the offending part.
base::Result<Type> parse_type(std::string_view text);

}  // namespace frazil::columnar
