#include "format/parquet/leaf_metrics.h"

#include <cstring>
#include <utility>

#include "format/parquet/bounds.h"

namespace frazil::format {
namespace {

using columnar::Column;
using columnar::TypeId;

template <typename T>
std::string little_endian(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

}  // namespace

LeafMetrics::LeafMetrics(const Leaf& leaf, MetricsMode mode)
    : field_id_(leaf.field_id), type_(leaf.type), mode_(mode), has_no_bounds_(leaf.in_list_or_map), range_(leaf.type) {}

bool LeafMetrics::wants_bounds() const {
  return !has_no_bounds_ && (mode_.kind == MetricsMode::Kind::kTruncate || mode_.kind == MetricsMode::Kind::kFull);
}

bool LeafMetrics::is_floating() const { return type_.id() == TypeId::kFloat || type_.id() == TypeId::kDouble; }

void LeafMetrics::add(const Column& column, int64_t entries) {
  if (mode_.kind == MetricsMode::Kind::kNone) return;
  const int64_t present = column.length() - column.null_count();
  values_ += entries;
  nulls_ += entries - present;
  if (present == 0 || !(wants_bounds() || is_floating())) return;
  range_.add(scratch_.values_of(column, physical_type_of(type_)), 0, present);
}

void LeafMetrics::add(const LeafRange& range, int64_t entries, int64_t nulls) {
  values_ += entries;
  nulls_ += nulls;
  range_.add(range);
}

std::string LeafMetrics::number_bound(__int128 key) const {
  switch (type_.id()) {
    case TypeId::kBoolean:
      return std::string(1, key != 0 ? '\1' : '\0');
    case TypeId::kInt:
    case TypeId::kDate:
      return little_endian(static_cast<int32_t>(key));
    case TypeId::kFloat:
      return little_endian(float_key(static_cast<int32_t>(key)));
    case TypeId::kDouble:
      return little_endian(float_key(static_cast<int64_t>(key)));
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
      return is_cut ? std::string(truncate_text(range_.low_bytes(), mode_.truncate_length)) : range_.low_bytes();
    case TypeId::kBinary:
      return is_cut ? range_.low_bytes().substr(0, static_cast<size_t>(mode_.truncate_length)) : range_.low_bytes();
    case TypeId::kUuid:
    case TypeId::kFixed:
      return range_.low_bytes();
    default:
      return number_bound(range_.low());
  }
}

std::optional<std::string> LeafMetrics::upper_bound() const {
  const bool is_cut = mode_.kind == MetricsMode::Kind::kTruncate;
  switch (type_.id()) {
    case TypeId::kString:
      return is_cut ? round_up_text(range_.high_bytes(), mode_.truncate_length) : range_.high_bytes();
    case TypeId::kBinary:
      return is_cut ? round_up_bytes(range_.high_bytes(), mode_.truncate_length) : range_.high_bytes();
    case TypeId::kUuid:
    case TypeId::kFixed:
      return range_.high_bytes();
    default:
      return number_bound(range_.high());
  }
}

void LeafMetrics::report(ParquetFileMetrics& metrics) const {
  if (mode_.kind == MetricsMode::Kind::kNone) return;
  metrics.value_counts[field_id_] = values_;
  metrics.null_value_counts[field_id_] = nulls_;
  if (is_floating()) metrics.nan_value_counts[field_id_] = range_.nans();
  if (!range_.has_values() || !wants_bounds()) return;
  if (auto bound = lower_bound()) metrics.lower_bounds[field_id_] = *std::move(bound);
  if (auto bound = upper_bound()) metrics.upper_bounds[field_id_] = *std::move(bound);
}

}  // namespace frazil::format
