#include "format/parquet/leaf_array.h"

#include <vector>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/type.h>

namespace frazil::format {
namespace {

using columnar::Buffer;
using columnar::Column;
using columnar::TypeId;

// What an empty column points to: Arrow reads the first offset even of an array without values.
constexpr uint8_t kNothing[16] = {};

std::shared_ptr<arrow::Buffer> wrap(const Buffer& buffer) {
  const bool is_empty = buffer.size() == 0;
  return std::make_shared<arrow::Buffer>(is_empty ? kNothing : buffer.data(), is_empty ? 16 : buffer.size());
}

std::shared_ptr<arrow::DataType> physical_type(const columnar::Type& type) {
  switch (type.id()) {
    case TypeId::kBoolean:
      return arrow::boolean();
    case TypeId::kInt:
    case TypeId::kDate:
      return arrow::int32();
    case TypeId::kFloat:
      return arrow::float32();
    case TypeId::kDouble:
      return arrow::float64();
    case TypeId::kDecimal:
      return arrow::decimal128(type.precision(), type.scale());
    case TypeId::kUuid:
      return arrow::fixed_size_binary(16);
    case TypeId::kFixed:
      return arrow::fixed_size_binary(type.length());
    case TypeId::kString:
      return arrow::utf8();
    case TypeId::kBinary:
      return arrow::binary();
    default:
      return arrow::int64();
  }
}

}  // namespace

std::shared_ptr<arrow::Array> leaf_array(const Leaf& leaf, const Column& column) {
  const bool has_nulls = column.null_count() != 0 && !leaf.required;
  std::vector<std::shared_ptr<arrow::Buffer>> buffers = {has_nulls ? wrap(column.validity()) : nullptr};
  if (leaf.type.id() == TypeId::kString || leaf.type.id() == TypeId::kBinary) buffers.push_back(wrap(column.offsets()));
  buffers.push_back(wrap(column.values()));
  return arrow::MakeArray(arrow::ArrayData::Make(physical_type(leaf.type), column.length(), std::move(buffers),
                                                 has_nulls ? column.null_count() : 0));
}

}  // namespace frazil::format
