#include "format/parquet/arrow_values.h"

#include <charconv>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

namespace frazil::format {
namespace {

using arrow::internal::checked_cast;
using columnar::Column;
using columnar::Field;
using columnar::TypeId;

struct Rows {
  int64_t begin = 0;
  int64_t end = 0;
};

base::Error does_not_fit(const Field& field, const arrow::Array& array) {
  return base::invalid("column '" + field.name + "' is " + field.type.name() + " in the schema and " +
                       array.type()->ToString() + " in the file");
}

base::Error missing(const Field& field) {
  return base::corrupt("column '" + field.name + "' (id " + std::to_string(field.id) +
                       ") is required, and the file holds a row without it");
}

base::Status append_null(const Field& field, Column& out) {
  if (field.required) return missing(field);
  out.append_null();
  return {};
}

// Appends every row, null or `append(row)`.
template <typename Append>
base::Status append_each(const Field& field, const arrow::Array& array, Rows rows, Column& out, Append append) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    if (array.IsNull(row)) {
      TRY(append_null(field, out));
    } else {
      append(row);
    }
  }
  return {};
}

template <typename ArrayType, typename Put>
base::Status append_numbers(const Field& field, const arrow::Array& array, Rows rows, Column& out, Put put) {
  const auto& typed = checked_cast<const ArrayType&>(array);
  return append_each(field, array, rows, out, [&](int64_t row) { put(typed.Value(row)); });
}

base::Status append_int(const Field& field, const arrow::Array& array, Rows rows, Column& out) {
  const auto put = [&](int32_t value) { out.append_int(value); };
  switch (array.type_id()) {
    case arrow::Type::INT8:
      return append_numbers<arrow::Int8Array>(field, array, rows, out, put);
    case arrow::Type::INT16:
      return append_numbers<arrow::Int16Array>(field, array, rows, out, put);
    case arrow::Type::INT32:
      return append_numbers<arrow::Int32Array>(field, array, rows, out, put);
    default:
      return does_not_fit(field, array);
  }
}

base::Status append_long(const Field& field, const arrow::Array& array, Rows rows, Column& out) {
  const auto put = [&](int64_t value) { out.append_long(value); };
  switch (array.type_id()) {
    case arrow::Type::INT8:
      return append_numbers<arrow::Int8Array>(field, array, rows, out, put);
    case arrow::Type::INT16:
      return append_numbers<arrow::Int16Array>(field, array, rows, out, put);
    case arrow::Type::INT32:
      return append_numbers<arrow::Int32Array>(field, array, rows, out, put);
    case arrow::Type::UINT32:
      return append_numbers<arrow::UInt32Array>(field, array, rows, out, put);
    case arrow::Type::INT64:
      return append_numbers<arrow::Int64Array>(field, array, rows, out, put);
    default:
      return does_not_fit(field, array);
  }
}

base::Status append_double(const Field& field, const arrow::Array& array, Rows rows, Column& out) {
  const auto put = [&](double value) { out.append_double(value); };
  if (array.type_id() == arrow::Type::FLOAT) return append_numbers<arrow::FloatArray>(field, array, rows, out, put);
  if (array.type_id() == arrow::Type::DOUBLE) return append_numbers<arrow::DoubleArray>(field, array, rows, out, put);
  return does_not_fit(field, array);
}

base::Status append_decimal(const Field& field, const arrow::Array& array, Rows rows, Column& out) {
  if (array.type_id() != arrow::Type::DECIMAL128) return does_not_fit(field, array);
  const auto& type = checked_cast<const arrow::Decimal128Type&>(*array.type());
  if (type.scale() != field.type.scale() || type.precision() > field.type.precision()) return does_not_fit(field, array);
  const auto& typed = checked_cast<const arrow::Decimal128Array&>(array);
  return append_each(field, array, rows, out, [&](int64_t row) {
    __int128 unscaled;
    std::memcpy(&unscaled, typed.GetValue(row), sizeof(unscaled));
    out.append_decimal(unscaled);
  });
}

base::Status append_time(const Field& field, const arrow::Array& array, Rows rows, Column& out) {
  if (array.type_id() == arrow::Type::TIME32) {
    return append_numbers<arrow::Time32Array>(field, array, rows, out,
                                              [&](int64_t value) { out.append_long(value * 1000); });
  }
  if (array.type_id() != arrow::Type::TIME64) return does_not_fit(field, array);
  if (checked_cast<const arrow::Time64Type&>(*array.type()).unit() != arrow::TimeUnit::MICRO) {
    return base::unsupported("column '" + field.name + "' holds nanoseconds, the schema microseconds");
  }
  return append_numbers<arrow::Time64Array>(field, array, rows, out, [&](int64_t value) { out.append_long(value); });
}

base::Status append_timestamp(const Field& field, const arrow::Array& array, Rows rows, Column& out) {
  if (array.type_id() != arrow::Type::TIMESTAMP) return does_not_fit(field, array);
  const auto& type = checked_cast<const arrow::TimestampType&>(*array.type());
  if (type.timezone().empty() != (field.type.id() == TypeId::kTimestamp)) return does_not_fit(field, array);
  if (type.unit() == arrow::TimeUnit::NANO) {
    return base::unsupported("column '" + field.name + "' holds nanoseconds, the schema microseconds");
  }
  if (type.unit() == arrow::TimeUnit::SECOND) return does_not_fit(field, array);
  const int64_t factor = type.unit() == arrow::TimeUnit::MILLI ? 1000 : 1;
  const auto& typed = checked_cast<const arrow::TimestampArray&>(array);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    if (array.IsNull(row)) {
      TRY(append_null(field, out));
      continue;
    }
    int64_t micros;
    if (__builtin_mul_overflow(typed.Value(row), factor, &micros)) {
      return base::corrupt("column '" + field.name + "' holds a timestamp beyond the range of microseconds");
    }
    out.append_long(micros);
  }
  return {};
}

template <typename ArrayType>
base::Status append_views(const Field& field, const arrow::Array& array, Rows rows, Column& out) {
  const auto& typed = checked_cast<const ArrayType&>(array);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    if (array.IsNull(row)) {
      TRY(append_null(field, out));
      continue;
    }
    const std::string_view value = typed.GetView(row);
    if (out.values().size() + static_cast<int64_t>(value.size()) > std::numeric_limits<int32_t>::max()) {
      return base::unsupported("column '" + field.name + "' holds more than 2 GB in one batch");
    }
    out.append_bytes(value);
  }
  return {};
}

base::Status append_variable(const Field& field, const arrow::Array& array, Rows rows, Column& out) {
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return append_views<arrow::BinaryArray>(field, array, rows, out);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return append_views<arrow::LargeBinaryArray>(field, array, rows, out);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      return append_views<arrow::BinaryViewArray>(field, array, rows, out);
    default:
      return does_not_fit(field, array);
  }
}

base::Status append_fixed(const Field& field, const arrow::Array& array, Rows rows, Column& out) {
  if (array.type_id() != arrow::Type::FIXED_SIZE_BINARY) return does_not_fit(field, array);
  const int length = field.type.id() == TypeId::kUuid ? 16 : field.type.length();
  if (checked_cast<const arrow::FixedSizeBinaryType&>(*array.type()).byte_width() != length) {
    return does_not_fit(field, array);
  }
  return append_views<arrow::FixedSizeBinaryArray>(field, array, rows, out);
}

base::Status append_struct(const Field& field, const arrow::Array& array, Rows rows, Column& out) {
  if (array.type_id() != arrow::Type::STRUCT) return does_not_fit(field, array);
  const auto& typed = checked_cast<const arrow::StructArray&>(array);
  std::vector<std::shared_ptr<arrow::Array>> members(field.type.fields().size());
  bool has_ids = false;
  for (int i = 0; i < typed.num_fields(); ++i) {
    const auto id = field_id_of(*typed.struct_type()->field(i));
    has_ids = has_ids || id.has_value();
    for (size_t member = 0; id && member < members.size(); ++member) {
      if (field.type.fields()[member].id == *id) members[member] = typed.field(i);
    }
  }
  if (!has_ids) return base::unsupported("the members of column '" + field.name + "' carry no field ids in the file");
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    if (array.IsNull(row)) {
      TRY(append_null(field, out));
      continue;
    }
    for (size_t member = 0; member < members.size(); ++member) {
      TRY(append_values(field.type.fields()[member], members[member].get(), row, row + 1, out.child(member)));
    }
    out.append_struct_end();
  }
  return {};
}

template <typename ArrayType>
base::Status append_list(const Field& field, const ArrayType& array, Rows rows, Column& out) {
  const auto elements = array.values();
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    if (array.IsNull(row)) {
      TRY(append_null(field, out));
      continue;
    }
    const int64_t begin = array.value_offset(row);
    TRY(append_values(field.type.fields()[0], elements.get(), begin, begin + array.value_length(row), out.child(0)));
    out.append_list_end();
  }
  return {};
}

base::Status append_any_list(const Field& field, const arrow::Array& array, Rows rows, Column& out) {
  switch (array.type_id()) {
    case arrow::Type::LIST:
      return append_list(field, checked_cast<const arrow::ListArray&>(array), rows, out);
    case arrow::Type::LARGE_LIST:
      return append_list(field, checked_cast<const arrow::LargeListArray&>(array), rows, out);
    case arrow::Type::FIXED_SIZE_LIST:
      return append_list(field, checked_cast<const arrow::FixedSizeListArray&>(array), rows, out);
    default:
      return does_not_fit(field, array);
  }
}

base::Status append_map(const Field& field, const arrow::Array& array, Rows rows, Column& out) {
  if (array.type_id() != arrow::Type::MAP) return does_not_fit(field, array);
  const auto& map = checked_cast<const arrow::MapArray&>(array);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    if (array.IsNull(row)) {
      TRY(append_null(field, out));
      continue;
    }
    const int64_t begin = map.value_offset(row);
    const int64_t end = begin + map.value_length(row);
    TRY(append_values(field.type.fields()[0], map.keys().get(), begin, end, out.child(0)));
    TRY(append_values(field.type.fields()[1], map.items().get(), begin, end, out.child(1)));
    out.append_list_end();
  }
  return {};
}

base::Status append_dictionary(const Field& field, const arrow::DictionaryArray& array, Rows rows, Column& out) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    if (array.IsNull(row)) {
      TRY(append_null(field, out));
      continue;
    }
    const int64_t at = array.GetValueIndex(row);
    TRY(append_values(field, array.dictionary().get(), at, at + 1, out));
  }
  return {};
}

}  // namespace

std::optional<int32_t> field_id_of(const arrow::Field& field) {
  if (field.metadata() == nullptr) return std::nullopt;
  const auto text = field.metadata()->Get("PARQUET:field_id");
  if (!text.ok()) return std::nullopt;
  int32_t id = -1;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), id);
  if (parsed.ec != std::errc() || id < 0) return std::nullopt;
  return id;
}

base::Status append_values(const Field& field, const arrow::Array* array, int64_t begin, int64_t end, Column& out) {
  const Rows rows{begin, end};
  if (array == nullptr || array->type_id() == arrow::Type::NA) {
    for (int64_t row = begin; row < end; ++row) TRY(append_null(field, out));
    return {};
  }
  if (array->type_id() == arrow::Type::EXTENSION) {
    return append_values(field, checked_cast<const arrow::ExtensionArray&>(*array).storage().get(), begin, end, out);
  }
  if (array->type_id() == arrow::Type::DICTIONARY) {
    return append_dictionary(field, checked_cast<const arrow::DictionaryArray&>(*array), rows, out);
  }
  switch (field.type.id()) {
    case TypeId::kBoolean:
      if (array->type_id() != arrow::Type::BOOL) return does_not_fit(field, *array);
      return append_numbers<arrow::BooleanArray>(field, *array, rows, out, [&](bool value) { out.append_boolean(value); });
    case TypeId::kInt:
      return append_int(field, *array, rows, out);
    case TypeId::kLong:
      return append_long(field, *array, rows, out);
    case TypeId::kFloat:
      if (array->type_id() != arrow::Type::FLOAT) return does_not_fit(field, *array);
      return append_numbers<arrow::FloatArray>(field, *array, rows, out, [&](float value) { out.append_float(value); });
    case TypeId::kDouble:
      return append_double(field, *array, rows, out);
    case TypeId::kDecimal:
      return append_decimal(field, *array, rows, out);
    case TypeId::kDate:
      if (array->type_id() != arrow::Type::DATE32) return does_not_fit(field, *array);
      return append_numbers<arrow::Date32Array>(field, *array, rows, out, [&](int32_t value) { out.append_int(value); });
    case TypeId::kTime:
      return append_time(field, *array, rows, out);
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
      return append_timestamp(field, *array, rows, out);
    case TypeId::kString:
    case TypeId::kBinary:
      return append_variable(field, *array, rows, out);
    case TypeId::kUuid:
    case TypeId::kFixed:
      return append_fixed(field, *array, rows, out);
    case TypeId::kStruct:
      return append_struct(field, *array, rows, out);
    case TypeId::kList:
      return append_any_list(field, *array, rows, out);
    case TypeId::kMap:
      return append_map(field, *array, rows, out);
  }
  return does_not_fit(field, *array);
}

}  // namespace frazil::format
