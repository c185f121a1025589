#include "iceberg/literal.h"

#include <bit>
#include <cmath>

#include "base/hash.h"
#include "iceberg/literal_text.h"

namespace frazil::iceberg {

using columnar::Type;
using columnar::TypeId;

Literal literal_at(const columnar::Column& column, int64_t row) {
  if (column.is_null(row)) return {};
  switch (column.type().id()) {
    case TypeId::kBoolean: return Literal(column.boolean_at(row));
    case TypeId::kInt:
    case TypeId::kDate: return Literal(column.int_at(row));
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz: return Literal(column.long_at(row));
    case TypeId::kFloat: return Literal(column.float_at(row));
    case TypeId::kDouble: return Literal(column.double_at(row));
    case TypeId::kDecimal: return Literal(column.decimal_at(row));
    case TypeId::kString:
    case TypeId::kUuid:
    case TypeId::kFixed:
    case TypeId::kBinary: return Literal(std::string(column.bytes_at(row)));
    case TypeId::kStruct:
    case TypeId::kList:
    case TypeId::kMap: break;
  }
  base::check_failed("literal_at of a nested column", __FILE__, __LINE__);
}

namespace {

template <typename T>
std::string little_endian(T value) {
  std::string out(sizeof(T), '\0');
  __builtin_memcpy(out.data(), &value, sizeof(T));
  return out;
}

template <typename T>
T from_little_endian(std::string_view bytes) {
  T value;
  __builtin_memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

base::Error wrong_length(const Type& type, std::string_view bytes) {
  return base::corrupt("value of type " + type.name() + " has " + std::to_string(bytes.size()) + " bytes");
}

template <typename T>
base::Result<Literal> exact(const Type& type, std::string_view bytes) {
  if (bytes.size() != sizeof(T)) return wrong_length(type, bytes);
  return Literal(from_little_endian<T>(bytes));
}

template <typename T>
std::strong_ordering order(T a, T b) {
  return a < b ? std::strong_ordering::less : a > b ? std::strong_ordering::greater : std::strong_ordering::equal;
}

// Total order of IEEE numbers as Iceberg wants it: -0.0 below 0.0, NaN last (all NaN equal).
template <typename T>
std::strong_ordering order_floating(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return order<int>(std::isnan(a), std::isnan(b));
  if (a == 0 && b == 0) return order<int>(!std::signbit(a), !std::signbit(b));
  return order(a, b);
}

template <typename T>
T get(const Literal& literal) {
  return std::get<T>(literal.value);
}

}  // namespace

std::string decimal_to_binary(__int128 unscaled) {
  int size = 16;
  // The shortest two's complement form: drop leading bytes that only repeat the sign.
  while (size > 1 && (unscaled >> ((size - 1) * 8 - 1)) == (unscaled < 0 ? -1 : 0)) --size;
  std::string out;
  for (int i = size - 1; i >= 0; --i) out.push_back(static_cast<char>(unscaled >> (8 * i)));
  return out;
}

base::Result<__int128> decimal_from_binary(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > 16) return base::corrupt("decimal of " + std::to_string(bytes.size()) + " bytes");
  unsigned __int128 value = (bytes[0] & 0x80) != 0 ? ~static_cast<unsigned __int128>(0) : 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return static_cast<__int128>(value);
}

std::string to_binary(const Type& type, const Literal& literal) {
  switch (type.id()) {
    case TypeId::kBoolean: return std::string(1, get<bool>(literal) ? '\x01' : '\x00');
    case TypeId::kInt:
    case TypeId::kDate: return little_endian(get<int32_t>(literal));
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz: return little_endian(get<int64_t>(literal));
    case TypeId::kFloat: return little_endian(get<float>(literal));
    case TypeId::kDouble: return little_endian(get<double>(literal));
    case TypeId::kDecimal: return decimal_to_binary(get<__int128>(literal));
    default: return get<std::string>(literal);
  }
}

base::Result<Literal> from_binary(const Type& type, std::string_view bytes) {
  switch (type.id()) {
    case TypeId::kBoolean:
      if (bytes.size() != 1) return wrong_length(type, bytes);
      return Literal(bytes[0] != 0);
    case TypeId::kInt:
    case TypeId::kDate: return exact<int32_t>(type, bytes);
    case TypeId::kLong:
      // Written before the column was promoted from int.
      if (bytes.size() == 4) return Literal(int64_t{from_little_endian<int32_t>(bytes)});
      return exact<int64_t>(type, bytes);
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz: return exact<int64_t>(type, bytes);
    case TypeId::kFloat: return exact<float>(type, bytes);
    case TypeId::kDouble:
      if (bytes.size() == 4) return Literal(double{from_little_endian<float>(bytes)});
      return exact<double>(type, bytes);
    case TypeId::kDecimal: {
      TRY_ASSIGN(const __int128 unscaled, decimal_from_binary(bytes));
      return Literal(unscaled);
    }
    case TypeId::kUuid:
      if (bytes.size() != 16) return wrong_length(type, bytes);
      return Literal(std::string(bytes));
    case TypeId::kFixed:
      if (bytes.size() != static_cast<size_t>(type.length())) return wrong_length(type, bytes);
      return Literal(std::string(bytes));
    case TypeId::kString:
    case TypeId::kBinary: return Literal(std::string(bytes));
    default: return base::corrupt("type " + type.name() + " has no single values");
  }
}

std::strong_ordering compare(const Type& type, const Literal& a, const Literal& b) {
  switch (type.id()) {
    case TypeId::kBoolean: return order(get<bool>(a), get<bool>(b));
    case TypeId::kInt:
    case TypeId::kDate: return order(get<int32_t>(a), get<int32_t>(b));
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz: return order(get<int64_t>(a), get<int64_t>(b));
    case TypeId::kFloat: return order_floating(get<float>(a), get<float>(b));
    case TypeId::kDouble: return order_floating(get<double>(a), get<double>(b));
    case TypeId::kDecimal: return order(get<__int128>(a), get<__int128>(b));
    default: {
      // std::string compares as unsigned bytes.
      const int sign = std::get<std::string>(a.value).compare(std::get<std::string>(b.value));
      return order(sign, 0);
    }
  }
}

std::optional<Literal> promote(const Type& type, const Literal& literal) {
  if (literal.is_null()) return literal;
  switch (type.id()) {
    case TypeId::kBoolean:
      if (std::holds_alternative<bool>(literal.value)) return literal;
      break;
    case TypeId::kInt:
    case TypeId::kDate:
      if (std::holds_alternative<int32_t>(literal.value)) return literal;
      break;
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
      if (const auto* narrow = std::get_if<int32_t>(&literal.value)) return Literal(int64_t{*narrow});
      if (std::holds_alternative<int64_t>(literal.value)) return literal;
      break;
    case TypeId::kFloat:
      if (std::holds_alternative<float>(literal.value)) return literal;
      break;
    case TypeId::kDouble:
      if (const auto* narrow = std::get_if<float>(&literal.value)) return Literal(double{*narrow});
      if (std::holds_alternative<double>(literal.value)) return literal;
      break;
    case TypeId::kDecimal:
      if (std::holds_alternative<__int128>(literal.value)) return literal;
      break;
    case TypeId::kUuid:
    case TypeId::kFixed:
    case TypeId::kString:
    case TypeId::kBinary:
      if (const auto* bytes = std::get_if<std::string>(&literal.value)) {
        const size_t length = type.id() == TypeId::kUuid ? 16 : static_cast<size_t>(type.length());
        const bool is_sized = type.id() == TypeId::kUuid || type.id() == TypeId::kFixed;
        if (!is_sized || bytes->size() == length) return literal;
      }
      break;
    default: break;
  }
  return std::nullopt;
}

}  // namespace frazil::iceberg
