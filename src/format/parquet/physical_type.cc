#include "format/parquet/physical_type.h"

namespace frazil::format {

using columnar::TypeId;

int decimal_width(int precision) {
  __int128 limit = 1;
  for (int i = 0; i < precision; ++i) limit *= 10;
  int bytes = 1;
  while (bytes < 16 && (__int128{1} << (8 * bytes - 1)) < limit) ++bytes;
  return bytes;
}

PhysicalType physical_type_of(const columnar::Type& type) {
  switch (type.id()) {
    case TypeId::kInt:
    case TypeId::kDate:
      return {Physical::kInt32, 4, true};
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
      return {Physical::kInt64, 8, true};
    case TypeId::kFloat:
      return {Physical::kFloat, 4, true};
    case TypeId::kDouble:
      return {Physical::kDouble, 8, true};
    case TypeId::kDecimal:
      if (type.precision() <= 9) return {Physical::kInt32, 4, true};
      if (type.precision() <= 18) return {Physical::kInt64, 8, true};
      return {Physical::kFixed, decimal_width(type.precision()), true};
    case TypeId::kString:
    case TypeId::kBinary:
      return {Physical::kByteArray, 0, false};
    case TypeId::kUuid:
      return {Physical::kFixed, 16, false};
    case TypeId::kFixed:
      return {Physical::kFixed, type.length(), false};
    default:
      return {Physical::kBoolean, 1, true};
  }
}

}  // namespace frazil::format
