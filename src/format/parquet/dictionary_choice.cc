#include "format/parquet/dictionary_choice.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

namespace frazil::format {
namespace {

using columnar::Column;
using columnar::TypeId;

constexpr size_t kMaxSample = 1024;
constexpr size_t kMinSample = 48;
constexpr size_t kMaxDistinct = 6000;

std::string_view value_at(const Column& column, int64_t row) {
  const int64_t width = column.length() == 0 ? 0 : column.values().size() / column.length();
  switch (column.type().id()) {
    case TypeId::kString:
    case TypeId::kBinary:
    case TypeId::kUuid:
    case TypeId::kFixed:
      return column.bytes_at(row);
    default:
      return {reinterpret_cast<const char*>(column.values().data()) + row * width, static_cast<size_t>(width)};
  }
}

std::vector<size_t> sample_hashes(const Column& column) {
  std::vector<size_t> hashes;
  hashes.reserve(kMaxSample);
  for (int64_t row = 0; row < column.length() && hashes.size() < kMaxSample; ++row) {
    if (!column.is_null(row)) hashes.push_back(std::hash<std::string_view>()(value_at(column, row)));
  }
  return hashes;
}

}  // namespace

bool wants_dictionary(const Column& column) {
  if (column.type().id() == TypeId::kBoolean || column.type().is_nested()) return false;
  std::vector<size_t> hashes = sample_hashes(column);
  if (hashes.size() < kMinSample) return true;
  std::sort(hashes.begin(), hashes.end());
  const size_t sampled = hashes.size();
  const size_t repeats = sampled - static_cast<size_t>(std::unique(hashes.begin(), hashes.end()) - hashes.begin());
  return repeats * 2 * kMaxDistinct >= sampled * sampled;
}

}  // namespace frazil::format
