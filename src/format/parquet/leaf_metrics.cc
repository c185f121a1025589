#include "format/parquet/leaf_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "format/parquet/bounds.h"

namespace frazil::format {
namespace {

using columnar::Column;
using columnar::TypeId;

// The bits of a float as an integer of the same width whose order is the order of the floats; its own inverse.
template <typename Bits>
Bits ordered(Bits bits) {
  constexpr Bits kMagnitude = static_cast<Bits>(~(Bits{1} << (sizeof(Bits) * 8 - 1)));
  return bits < 0 ? static_cast<Bits>(bits ^ kMagnitude) : bits;
}

template <typename T>
std::string little_endian(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <typename T>
auto loader(const Column& column) {
  return [values = reinterpret_cast<const T*>(column.values().data())](int64_t row) { return values[row]; };
}

// The first eight bytes as a number that orders as the bytes do; zeros stand for what is not there.
uint64_t prefix_of(std::string_view value) {
  uint64_t bytes = 0;
  if (value.empty()) return 0;
  std::memcpy(&bytes, value.data(), std::min<size_t>(value.size(), sizeof(bytes)));
  return __builtin_bswap64(bytes);
}

// Minimum and maximum of byte strings. Most values are told by their first eight bytes alone.
class ByteRange {
 public:
  void start(std::string_view low, std::string_view high) {
    low_ = low;
    high_ = high;
    low_prefix_ = prefix_of(low);
    high_prefix_ = prefix_of(high);
  }
  void add(std::string_view value) {
    const uint64_t prefix = prefix_of(value);
    if (prefix < low_prefix_ || (prefix == low_prefix_ && value < low_)) {
      low_ = value;
      low_prefix_ = prefix;
    }
    if (prefix > high_prefix_ || (prefix == high_prefix_ && value > high_)) {
      high_ = value;
      high_prefix_ = prefix;
    }
  }
  std::string_view low() const { return low_; }
  std::string_view high() const { return high_; }

 private:
  std::string_view low_;
  std::string_view high_;
  uint64_t low_prefix_ = 0;
  uint64_t high_prefix_ = 0;
};

}  // namespace

LeafMetrics::LeafMetrics(const Leaf& leaf, MetricsMode mode)
    : field_id_(leaf.field_id), type_(leaf.type), mode_(mode), has_no_bounds_(leaf.in_list_or_map) {}

bool LeafMetrics::wants_bounds() const {
  return !has_no_bounds_ && (mode_.kind == MetricsMode::Kind::kTruncate || mode_.kind == MetricsMode::Kind::kFull);
}

bool LeafMetrics::is_floating() const { return type_.id() == TypeId::kFloat || type_.id() == TypeId::kDouble; }

void LeafMetrics::add(const Column& column, int64_t entries) {
  if (mode_.kind == MetricsMode::Kind::kNone) return;
  const int64_t present = column.length() - column.null_count();
  values_ += entries;
  nulls_ += entries - present;
  if (present > 0 && (wants_bounds() || is_floating())) add_values(column);
}

void LeafMetrics::add_values(const Column& column) {
  switch (type_.id()) {
    case TypeId::kBoolean:
      return add_numbers(column, low_, high_, [&](int64_t row) { return int64_t{column.boolean_at(row)}; });
    case TypeId::kInt:
    case TypeId::kDate:
      return add_numbers(column, low_, high_, loader<int32_t>(column));
    case TypeId::kLong:
    case TypeId::kTime:
    case TypeId::kTimestamp:
    case TypeId::kTimestamptz:
      return add_numbers(column, low_, high_, loader<int64_t>(column));
    case TypeId::kFloat:
      return add_floats<float, int32_t>(column, reinterpret_cast<const float*>(column.values().data()));
    case TypeId::kDouble:
      return add_floats<double, int64_t>(column, reinterpret_cast<const double*>(column.values().data()));
    case TypeId::kDecimal:
      return add_numbers(column, low_decimal_, high_decimal_, [&](int64_t row) { return column.decimal_at(row); });
    case TypeId::kString:
    case TypeId::kUuid:
    case TypeId::kFixed:
    case TypeId::kBinary:
      return add_bytes(column);
    case TypeId::kStruct:
    case TypeId::kList:
    case TypeId::kMap:
      break;
  }
}

template <typename Key, typename Load>
void LeafMetrics::add_numbers(const Column& column, Key& low, Key& high, Load load) {
  using Value = decltype(load(0));
  const int64_t rows = column.length();
  int64_t row = 0;
  while (column.is_null(row)) ++row;
  Value batch_low = load(row);
  Value batch_high = batch_low;
  if (column.null_count() == 0) {
    for (; row < rows; ++row) {
      const Value value = load(row);
      batch_low = value < batch_low ? value : batch_low;
      batch_high = value > batch_high ? value : batch_high;
    }
  } else {
    for (; row < rows; ++row) {
      if (column.is_null(row)) continue;
      const Value value = load(row);
      if (value < batch_low) batch_low = value;
      if (value > batch_high) batch_high = value;
    }
  }
  low = has_range_ && low < batch_low ? low : Key{batch_low};
  high = has_range_ && high > batch_high ? high : Key{batch_high};
  has_range_ = true;
}

template <typename Float, typename Bits>
void LeafMetrics::add_floats(const Column& column, const Float* values) {
  const int64_t rows = column.length();
  for (int64_t row = 0; row < rows; ++row) {
    if (column.is_null(row)) continue;
    if (std::isnan(values[row])) {
      ++nans_;
      continue;
    }
    Bits bits;
    std::memcpy(&bits, values + row, sizeof(Bits));
    const int64_t key = ordered(bits);
    if (!has_range_) low_ = high_ = key;
    has_range_ = true;
    if (key < low_) low_ = key;
    if (key > high_) high_ = key;
  }
}

void LeafMetrics::add_bytes(const Column& column) {
  const int64_t rows = column.length();
  int64_t row = 0;
  while (column.is_null(row)) ++row;
  ByteRange range;
  if (has_range_) {
    range.start(low_bytes_, high_bytes_);
  } else {
    range.start(column.bytes_at(row), column.bytes_at(row));
  }
  for (; row < rows; ++row) {
    if (!column.is_null(row)) range.add(column.bytes_at(row));
  }
  if (!has_range_ || range.low().data() != low_bytes_.data()) low_bytes_ = std::string(range.low());
  if (!has_range_ || range.high().data() != high_bytes_.data()) high_bytes_ = std::string(range.high());
  has_range_ = true;
}

std::string LeafMetrics::number_bound(__int128 key) const {
  switch (type_.id()) {
    case TypeId::kBoolean:
      return std::string(1, key != 0 ? '\1' : '\0');
    case TypeId::kInt:
    case TypeId::kDate:
      return little_endian(static_cast<int32_t>(key));
    case TypeId::kFloat:
      return little_endian(ordered(static_cast<int32_t>(key)));
    case TypeId::kDouble:
      return little_endian(ordered(static_cast<int64_t>(key)));
    case TypeId::kDecimal:
      return decimal_bound(key);
    default:
      return little_endian(static_cast<int64_t>(key));
  }
}

std::optional<std::string> LeafMetrics::lower_bound() const {
  const bool is_cut = mode_.kind == MetricsMode::Kind::kTruncate;
  switch (type_.id()) {
    case TypeId::kString:
      return is_cut ? std::string(truncate_text(low_bytes_, mode_.truncate_length)) : low_bytes_;
    case TypeId::kBinary:
      return is_cut ? low_bytes_.substr(0, static_cast<size_t>(mode_.truncate_length)) : low_bytes_;
    case TypeId::kUuid:
    case TypeId::kFixed:
      return low_bytes_;
    case TypeId::kDecimal:
      return number_bound(low_decimal_);
    default:
      return number_bound(low_);
  }
}

std::optional<std::string> LeafMetrics::upper_bound() const {
  const bool is_cut = mode_.kind == MetricsMode::Kind::kTruncate;
  switch (type_.id()) {
    case TypeId::kString:
      return is_cut ? round_up_text(high_bytes_, mode_.truncate_length) : high_bytes_;
    case TypeId::kBinary:
      return is_cut ? round_up_bytes(high_bytes_, mode_.truncate_length) : high_bytes_;
    case TypeId::kUuid:
    case TypeId::kFixed:
      return high_bytes_;
    case TypeId::kDecimal:
      return number_bound(high_decimal_);
    default:
      return number_bound(high_);
  }
}

void LeafMetrics::report(ParquetFileMetrics& metrics) const {
  if (mode_.kind == MetricsMode::Kind::kNone) return;
  metrics.value_counts[field_id_] = values_;
  metrics.null_value_counts[field_id_] = nulls_;
  if (is_floating()) metrics.nan_value_counts[field_id_] = nans_;
  if (!has_range_ || !wants_bounds()) return;
  if (auto bound = lower_bound()) metrics.lower_bounds[field_id_] = *std::move(bound);
  if (auto bound = upper_bound()) metrics.upper_bounds[field_id_] = *std::move(bound);
}

}  // namespace frazil::format
