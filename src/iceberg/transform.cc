// Transforms of partition_spec.h: names, result types, and their application to whole columns.
#include <charconv>
#include <numeric>
#include <optional>

#include "iceberg/bucket_hash.h"
#include "iceberg/literal_text.h"
#include "iceberg/partition_spec.h"

namespace frazil::iceberg {

using columnar::Column;
using columnar::Type;
using columnar::TypeId;
using Kind = Transform::Kind;

std::string to_string(const Transform& transform) {
  switch (transform.kind) {
    case Kind::kIdentity: return "identity";
    case Kind::kBucket: return "bucket[" + std::to_string(transform.width) + "]";
    case Kind::kTruncate: return "truncate[" + std::to_string(transform.width) + "]";
    case Kind::kYear: return "year";
    case Kind::kMonth: return "month";
    case Kind::kDay: return "day";
    case Kind::kHour: return "hour";
    case Kind::kVoid: return "void";
    case Kind::kUnknown: break;
  }
  return transform.unknown;
}

namespace {

std::optional<int32_t> width_between(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix) || !text.ends_with("]")) return std::nullopt;
  text = text.substr(prefix.size(), text.size() - prefix.size() - 1);
  int32_t width = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  if (error != std::errc() || end != text.data() + text.size() || width <= 0) return std::nullopt;
  return width;
}

}  // namespace

Transform transform_from_string(std::string_view text) {
  for (const Kind kind : {Kind::kIdentity, Kind::kYear, Kind::kMonth, Kind::kDay, Kind::kHour, Kind::kVoid}) {
    const Transform candidate{kind, 0, {}};
    if (text == to_string(candidate)) return candidate;
  }
  if (const auto width = width_between(text, "bucket[")) return {Kind::kBucket, *width, {}};
  if (const auto width = width_between(text, "truncate[")) return {Kind::kTruncate, *width, {}};
  return {Kind::kUnknown, 0, std::string(text)};
}

namespace {

bool has_bucket(TypeId id) {
  return id != TypeId::kBoolean && id != TypeId::kFloat && id != TypeId::kDouble;
}

bool has_truncate(TypeId id) {
  return id == TypeId::kInt || id == TypeId::kLong || id == TypeId::kDecimal || id == TypeId::kString || id == TypeId::kBinary;
}

bool is_timestamp(TypeId id) { return id == TypeId::kTimestamp || id == TypeId::kTimestamptz; }

}  // namespace

base::Result<Type> result_type(const Transform& transform, const Type& source) {
  const base::Error does_not_fit =
      base::invalid("transform " + to_string(transform) + " does not fit a column of type " + source.name());
  if (transform.kind == Kind::kUnknown) return base::unsupported("transform \"" + transform.unknown + "\" is not known");
  if (source.is_nested()) return does_not_fit;
  const TypeId id = source.id();
  switch (transform.kind) {
    case Kind::kBucket:
      if (has_bucket(id) && transform.width > 0) return Type::primitive(TypeId::kInt);
      break;
    case Kind::kTruncate:
      if (has_truncate(id) && transform.width > 0) return source;
      break;
    case Kind::kYear:
    case Kind::kMonth:
      if (id == TypeId::kDate || is_timestamp(id)) return Type::primitive(TypeId::kInt);
      break;
    case Kind::kDay:
      if (id == TypeId::kDate || is_timestamp(id)) return Type::primitive(TypeId::kDate);
      break;
    case Kind::kHour:
      if (is_timestamp(id)) return Type::primitive(TypeId::kInt);
      break;
    default: return source;
  }
  return does_not_fit;
}

namespace {

// Calls `append(row)` for rows with a value, and appends null for the others.
template <typename Append>
void map_rows(const Column& source, Column& result, Append append) {
  const int64_t rows = source.length();
  if (source.null_count() == 0) {
    for (int64_t row = 0; row < rows; ++row) append(row);
    return;
  }
  for (int64_t row = 0; row < rows; ++row) {
    if (source.is_null(row)) {
      result.append_null();
    } else {
      append(row);
    }
  }
}

template <typename Hash>
void bucket_rows(const Column& source, Column& result, int32_t buckets, Hash hash) {
  map_rows(source, result, [&](int64_t row) { result.append_int((hash(row) & INT32_MAX) % buckets); });
}

void apply_bucket(const Column& source, Column& result, int32_t buckets) {
  switch (source.type().id()) {
    case TypeId::kInt:
    case TypeId::kDate: return bucket_rows(source, result, buckets, [&](int64_t row) { return hash_long(source.int_at(row)); });
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
      return bucket_rows(source, result, buckets, [&](int64_t row) { return hash_long(source.long_at(row)); });
    case TypeId::kDecimal:
      return bucket_rows(source, result, buckets,
                         [&](int64_t row) { return murmur3_32(decimal_to_binary(source.decimal_at(row))); });
    default: return bucket_rows(source, result, buckets, [&](int64_t row) { return murmur3_32(source.bytes_at(row)); });
  }
}

// v - (((v % W) + W) % W), wrapping like the reference implementation at the low end of the type.
template <typename Signed, typename Unsigned>
Signed truncate_number(Signed value, int32_t width) {
  const Signed rest = value % width;
  const Signed positive = rest < 0 ? rest + width : rest;
  return static_cast<Signed>(static_cast<Unsigned>(value) - static_cast<Unsigned>(positive));
}

// The first `width` code points.
std::string_view truncate_text(std::string_view text, int32_t width) {
  if (text.size() <= static_cast<size_t>(width)) return text;
  int32_t points = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_start = (static_cast<uint8_t>(text[i]) & 0xC0) != 0x80;
    if (is_start && points++ == width) return text.substr(0, i);
  }
  return text;
}

void apply_truncate(const Column& source, Column& result, int32_t width) {
  switch (source.type().id()) {
    case TypeId::kInt:
      return map_rows(source, result, [&](int64_t row) {
        result.append_int(truncate_number<int32_t, uint32_t>(source.int_at(row), width));
      });
    case TypeId::kLong:
      return map_rows(source, result, [&](int64_t row) {
        result.append_long(truncate_number<int64_t, uint64_t>(source.long_at(row), width));
      });
    case TypeId::kDecimal:
      return map_rows(source, result, [&](int64_t row) {
        result.append_decimal(truncate_number<__int128, unsigned __int128>(source.decimal_at(row), width));
      });
    case TypeId::kString:
      return map_rows(source, result, [&](int64_t row) { result.append_bytes(truncate_text(source.bytes_at(row), width)); });
    default:
      return map_rows(source, result,
                      [&](int64_t row) { result.append_bytes(source.bytes_at(row).substr(0, static_cast<size_t>(width))); });
  }
}

int32_t years_since_1970(int64_t days) { return static_cast<int32_t>(civil_date(days).year - 1970); }

int32_t months_since_1970(int64_t days) {
  const CivilDate date = civil_date(days);
  return static_cast<int32_t>((date.year - 1970) * 12 + date.month - 1);
}

void apply_time(Kind kind, const Column& source, Column& result) {
  const bool is_date = source.type().id() == TypeId::kDate;
  const auto day_at = [&](int64_t row) {
    return is_date ? int64_t{source.int_at(row)} : floor_div(source.long_at(row), kMicrosPerDay);
  };
  switch (kind) {
    case Kind::kYear: return map_rows(source, result, [&](int64_t row) { result.append_int(years_since_1970(day_at(row))); });
    case Kind::kMonth: return map_rows(source, result, [&](int64_t row) { result.append_int(months_since_1970(day_at(row))); });
    case Kind::kDay: return map_rows(source, result, [&](int64_t row) { result.append_int(static_cast<int32_t>(day_at(row))); });
    default:
      return map_rows(source, result, [&](int64_t row) {
        result.append_int(static_cast<int32_t>(floor_div(source.long_at(row), kMicrosPerHour)));
      });
  }
}

void copy_rows(const Column& source, Column& result) {
  std::vector<int32_t> rows(static_cast<size_t>(source.length()));
  std::iota(rows.begin(), rows.end(), 0);
  result.append_rows(source, rows);
}

}  // namespace

base::Result<Column> apply(const Transform& transform, const Column& source) {
  TRY_ASSIGN(const Type type, result_type(transform, source.type()));
  Column result(type);
  switch (transform.kind) {
    case Kind::kIdentity: copy_rows(source, result); break;
    case Kind::kBucket: apply_bucket(source, result, transform.width); break;
    case Kind::kTruncate: apply_truncate(source, result, transform.width); break;
    case Kind::kVoid:
      for (int64_t row = 0; row < source.length(); ++row) result.append_null();
      break;
    default: apply_time(transform.kind, source, result); break;
  }
  return result;
}

}  // namespace frazil::iceberg
