// AvroShape: an Avro schema as far as random records need it: kinds, logical types, names resolved.
//
// Owned by its AvroSchema; immutable after parsing; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace frazil::sources {

enum class AvroKind {
  kNull, kBoolean, kInt, kLong, kFloat, kDouble, kBytes, kString, kFixed, kEnum, kArray, kMap, kUnion, kRecord,
  // logical types
  kDecimal, kUuid, kDate, kTimeMillis, kTimeMicros, kTimestampMillis, kTimestampMicros, kLocalTimestampMillis,
  kLocalTimestampMicros,
};

struct AvroShape {
  struct Member {
    std::string name;
    const AvroShape* shape = nullptr;
  };
  AvroKind kind = AvroKind::kNull;
  int size = 0;                              // bytes of a fixed
  int precision = 0;                         // of a decimal
  int scale = 0;
  std::vector<std::string> symbols;          // of an enum
  std::vector<Member> members;               // of a record
  std::vector<const AvroShape*> branches;    // of a union; the element of an array or map
};

class AvroSchema {
 public:
  // kInvalid names what is wrong: no JSON, an unknown type, a name without definition, or no record at the top.
  static base::Result<AvroSchema> parse(std::string_view json);
  const AvroShape& root() const { return *root_; }

 private:
  friend class AvroParser;
  std::vector<std::unique_ptr<AvroShape>> shapes_;
  const AvroShape* root_ = nullptr;
};

}  // namespace frazil::sources
