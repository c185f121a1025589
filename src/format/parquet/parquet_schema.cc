#include "format/parquet/parquet_schema.h"

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <parquet/schema.h>
#include <parquet/types.h>

namespace frazil::format {
namespace {

using columnar::Field;
using columnar::Type;
using columnar::TypeId;
using parquet::LogicalType;
using parquet::Repetition;
using parquet::schema::GroupNode;
using parquet::schema::NodePtr;
using parquet::schema::NodeVector;
using parquet::schema::PrimitiveNode;

struct Physical {
  parquet::Type::type type = parquet::Type::BOOLEAN;
  std::shared_ptr<const LogicalType> logical = LogicalType::None();
  int length = -1;
};

// Bytes of the shortest two's complement that holds every number of `precision` digits.
int decimal_bytes(int precision) {
  __int128 limit = 1;
  for (int i = 0; i < precision; ++i) limit *= 10;
  int bytes = 1;
  while (bytes < 16 && (__int128{1} << (8 * bytes - 1)) < limit) ++bytes;
  return bytes;
}

Physical decimal(const Type& type) {
  const auto logical = LogicalType::Decimal(type.precision(), type.scale());
  if (type.precision() <= 9) return {parquet::Type::INT32, logical, -1};
  if (type.precision() <= 18) return {parquet::Type::INT64, logical, -1};
  return {parquet::Type::FIXED_LEN_BYTE_ARRAY, logical, decimal_bytes(type.precision())};
}

Physical physical_of(const Type& type) {
  constexpr auto kMicros = LogicalType::TimeUnit::MICROS;
  switch (type.id()) {
    case TypeId::kInt:
      return {parquet::Type::INT32};
    case TypeId::kLong:
      return {parquet::Type::INT64};
    case TypeId::kFloat:
      return {parquet::Type::FLOAT};
    case TypeId::kDouble:
      return {parquet::Type::DOUBLE};
    case TypeId::kDecimal:
      return decimal(type);
    case TypeId::kDate:
      return {parquet::Type::INT32, LogicalType::Date()};
    case TypeId::kTime:
      return {parquet::Type::INT64, LogicalType::Time(false, kMicros)};
    case TypeId::kTimestamp:
      return {parquet::Type::INT64, LogicalType::Timestamp(false, kMicros)};
    case TypeId::kTimestamptz:
      return {parquet::Type::INT64, LogicalType::Timestamp(true, kMicros)};
    case TypeId::kString:
      return {parquet::Type::BYTE_ARRAY, LogicalType::String()};
    case TypeId::kUuid:
      return {parquet::Type::FIXED_LEN_BYTE_ARRAY, LogicalType::UUID(), 16};
    case TypeId::kFixed:
      return {parquet::Type::FIXED_LEN_BYTE_ARRAY, LogicalType::None(), type.length()};
    case TypeId::kBinary:
      return {parquet::Type::BYTE_ARRAY};
    default:
      return {parquet::Type::BOOLEAN};
  }
}

base::Result<NodePtr> node_of(const Field& field);

base::Result<NodeVector> children_of(const Field& field) {
  if (field.type.fields().empty()) {
    return base::invalid("field '" + field.name + "': Parquet cannot hold a struct without fields");
  }
  NodeVector nodes;
  for (const Field& child : field.type.fields()) {
    TRY_ASSIGN(NodePtr node, node_of(child));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

base::Result<NodePtr> node_of(const Field& field) {
  const Repetition::type repetition = field.required ? Repetition::REQUIRED : Repetition::OPTIONAL;
  if (!field.type.is_nested()) {
    const Physical physical = physical_of(field.type);
    return PrimitiveNode::Make(field.name, repetition, physical.logical, physical.type, physical.length, field.id);
  }
  TRY_ASSIGN(NodeVector children, children_of(field));
  if (field.type.id() == TypeId::kStruct) {
    return GroupNode::Make(field.name, repetition, children, nullptr, field.id);
  }
  const bool is_list = field.type.id() == TypeId::kList;
  const NodePtr entries = GroupNode::Make(is_list ? "list" : "key_value", Repetition::REPEATED, children);
  return GroupNode::Make(field.name, repetition, {entries}, is_list ? LogicalType::List() : LogicalType::Map(), field.id);
}

}  // namespace

base::Result<std::shared_ptr<GroupNode>> parquet_schema_of(const columnar::Schema& schema) {
  if (schema.fields.empty()) return base::invalid("Parquet cannot hold a schema without columns");
  NodeVector nodes;
  try {
    for (const Field& field : schema.fields) {
      TRY_ASSIGN(NodePtr node, node_of(field));
      nodes.push_back(std::move(node));
    }
    return std::static_pointer_cast<GroupNode>(GroupNode::Make("table", Repetition::REQUIRED, nodes));
  } catch (const std::exception& e) {
    return base::invalid(std::string("Parquet cannot hold this schema: ") + e.what());
  }
}

}  // namespace frazil::format
