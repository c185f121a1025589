// AvroSchema: an Avro schema parsed from its JSON, with the attributes that Iceberg adds (field-id, element-id, key-id,
// value-id) and logical types.
//
// Immutable once parsed; nodes live as long as the schema that owns them; any thread. Names are taken as they come, non-ASCII
// ones of other writers included. Named types may refer to themselves. Errors: kCorrupt names the part.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace frazil::format {

enum class AvroType {
  kNull, kBoolean, kInt, kLong, kFloat, kDouble, kBytes, kString, kFixed, kEnum, kRecord, kArray, kMap, kUnion,
};

// Schemas deeper than this are refused, and so is data that nests deeper by recursive types.
inline constexpr int kAvroDepthMax = 64;
inline constexpr int32_t kNoAvroId = -1;

struct AvroNode;

struct AvroField {
  std::string name;
  int32_t field_id = kNoAvroId;
  const AvroNode* type = nullptr;
};

struct AvroNode {
  AvroType type = AvroType::kNull;
  std::string name;  // full name of named types
  std::string logical_type;
  int32_t size = 0;  // of fixed
  int32_t precision = 0;
  int32_t scale = 0;
  bool adjust_to_utc = false;
  std::vector<AvroField> fields;           // of records
  std::vector<const AvroNode*> branches;   // of unions
  std::vector<std::string> symbols;        // of enums
  const AvroNode* element = nullptr;       // of arrays; the value of maps
  int32_t element_id = kNoAvroId;
  int32_t key_id = kNoAvroId;
  int32_t value_id = kNoAvroId;
};

class AvroSchema {
 public:
  static base::Result<AvroSchema> parse(std::string_view json);
  const AvroNode& root() const { return *root_; }

 private:
  friend class AvroSchemaParser;
  std::vector<std::unique_ptr<AvroNode>> nodes_;
  const AvroNode* root_ = nullptr;
};

// The name as Avro allows it, escaped the way Iceberg's Java does: a digit in front gets "_", any other forbidden UTF-16
// unit becomes "_x" and its upper-case hex.
std::string sanitize_avro_name(std::string_view name);

}  // namespace frazil::format
