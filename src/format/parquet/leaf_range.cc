#include "format/parquet/leaf_range.h"

#include <limits>

namespace frazil::format {
namespace {

template <typename T>
const T* as(const uint8_t* bytes, int64_t from) {
  return reinterpret_cast<const T*>(bytes) + from;
}

}  // namespace

void LeafRange::clear() {
  has_values_ = false;
  nans_ = 0;
  low_bytes_.clear();
  high_bytes_.clear();
}

void LeafRange::add(const LeafRange& other) {
  nans_ += other.nans_;
  if (!other.has_values_) return;
  if (physical_.is_number) return add_number(other.low_, other.high_);
  if (!has_values_ || other.low_bytes_ < low_bytes_) low_bytes_ = other.low_bytes_;
  if (!has_values_ || other.high_bytes_ > high_bytes_) high_bytes_ = other.high_bytes_;
  has_values_ = true;
}

void LeafRange::add(const DenseValues& values, int64_t from, int64_t to) {
  if (from == to) return;
  if (!physical_.is_number) return add_bytes(values, from, to);
  switch (physical_.type) {
    case Physical::kBoolean:
      return add_numbers(as<uint8_t>(values.bytes, from), to - from);
    case Physical::kInt32:
      return add_numbers(as<int32_t>(values.bytes, from), to - from);
    case Physical::kInt64:
      return add_numbers(as<int64_t>(values.bytes, from), to - from);
    case Physical::kFloat:
      return add_floats(as<int32_t>(values.bytes, from), to - from);
    case Physical::kDouble:
      return add_floats(as<int64_t>(values.bytes, from), to - from);
    default:
      return add_numbers(values.decimals + from, to - from);
  }
}

void LeafRange::add_number(__int128 low, __int128 high) {
  low_ = has_values_ && low_ < low ? low_ : low;
  high_ = has_values_ && high_ > high ? high_ : high;
  has_values_ = true;
}

template <typename T>
void LeafRange::add_numbers(const T* values, int64_t count) {
  T low = values[0];
  T high = values[0];
  for (int64_t i = 1; i < count; ++i) {
    low = values[i] < low ? values[i] : low;
    high = values[i] > high ? values[i] : high;
  }
  add_number(low, high);
}

template <typename Bits>
void LeafRange::add_floats(const Bits* values, int64_t count) {
  using Limits = std::numeric_limits<Bits>;
  constexpr Bits kInfinity = sizeof(Bits) == 4 ? Bits{0x7F800000} : static_cast<Bits>(0x7FF0000000000000);
  Bits low = Limits::max();
  Bits high = Limits::min();
  Bits nans = 0;
  for (int64_t i = 0; i < count; ++i) {
    const bool is_nan = (values[i] & Limits::max()) > kInfinity;
    const Bits key = float_key(values[i]);
    const Bits for_low = is_nan ? Limits::max() : key;
    const Bits for_high = is_nan ? Limits::min() : key;
    low = for_low < low ? for_low : low;
    high = for_high > high ? for_high : high;
    nans += is_nan;
  }
  nans_ += nans;
  if (nans < static_cast<Bits>(count)) add_number(low, high);
}

void LeafRange::add_bytes(const DenseValues& values, int64_t from, int64_t to) {
  ByteRange range;
  for (int64_t i = from; i < to; ++i) range.add(values.bytes_at(i));
  add(range);
}

void LeafRange::add(const ByteRange& bytes) {
  if (!bytes.has_values()) return;
  if (!has_values_ || bytes.low() < low_bytes_) low_bytes_ = bytes.low();
  if (!has_values_ || bytes.high() > high_bytes_) high_bytes_ = bytes.high();
  has_values_ = true;
}

bool LeafRange::is_at_least(const LeafRange& other) const {
  if (physical_.is_number) return low_ >= other.low_ && high_ >= other.high_;
  return low_bytes_ >= other.low_bytes_ && high_bytes_ >= other.high_bytes_;
}

}  // namespace frazil::format
