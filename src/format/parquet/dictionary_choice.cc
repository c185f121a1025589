#include "format/parquet/dictionary_choice.h"

#include <array>
#include <string_view>

#include "base/hash.h"

namespace frazil::format {
namespace {

using columnar::Column;
using columnar::TypeId;

constexpr int64_t kMaxDistinct = 6000;

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

// Hashes that were seen: open addressing, never more than half full, made anew for each column.
class SeenHashes {
 public:
  // False when it was seen before.
  bool insert(uint64_t hash) {
    hash |= 1;  // 0 marks a free slot
    size_t slot = (hash >> 32) % slots_.size();
    while (slots_[slot] != 0 && slots_[slot] != hash) slot = (slot + 1) % slots_.size();
    const bool is_new = slots_[slot] == 0;
    slots_[slot] = hash;
    return is_new;
  }

 private:
  std::array<uint64_t, 2 * kDictionarySample> slots_{};
};

}  // namespace

bool repeats_enough(int64_t sampled, int64_t repeats) {
  if (sampled < kMinDictionarySample) return true;
  return repeats * 2 * kMaxDistinct >= sampled * sampled;
}

bool wants_dictionary(const Column& column) {
  if (column.type().id() == TypeId::kBoolean || column.type().is_nested()) return false;
  SeenHashes seen;
  int64_t sampled = 0;
  int64_t repeats = 0;
  for (int64_t row = 0; row < column.length() && sampled < kDictionarySample; ++row) {
    if (column.is_null(row)) continue;
    ++sampled;
    if (!seen.insert(base::xxh64(value_at(column, row)))) ++repeats;
  }
  return repeats_enough(sampled, repeats);
}

}  // namespace frazil::format
