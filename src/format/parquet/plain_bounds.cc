#include "format/parquet/plain_bounds.h"

#include <cstring>

namespace frazil::format {
namespace {

template <typename T>
std::string raw(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::string big_endian(__int128 value, int32_t width) {
  std::string bytes;
  for (int32_t i = width - 1; i >= 0; --i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

// Keys order as the floats do: 0 is 0.0, and -1 is -0.0.
__int128 widened_low(__int128 key) {
  return key == 0 ? -1 : key;
}
__int128 widened_high(__int128 key) {
  return key == -1 ? 0 : key;
}

std::string plain_number(__int128 value, const PhysicalType& physical) {
  switch (physical.type) {
    case Physical::kBoolean:
      return std::string(1, value != 0 ? '\1' : '\0');
    case Physical::kInt32:
      return raw(static_cast<int32_t>(value));
    case Physical::kInt64:
      return raw(static_cast<int64_t>(value));
    case Physical::kFloat:
      return raw(float_key(static_cast<int32_t>(value)));
    case Physical::kDouble:
      return raw(float_key(static_cast<int64_t>(value)));
    default:
      return big_endian(value, physical.width);
  }
}

}  // namespace

PlainBounds plain_bounds(const LeafRange& range, const PhysicalType& physical) {
  if (!physical.is_number) return {range.low_bytes(), range.high_bytes()};
  __int128 low = range.low();
  __int128 high = range.high();
  if (physical.type == Physical::kFloat || physical.type == Physical::kDouble) {
    low = widened_low(low);
    high = widened_high(high);
  }
  return {plain_number(low, physical), plain_number(high, physical)};
}

}  // namespace frazil::format
