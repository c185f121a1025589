// LeafRange: the least and the greatest value of a leaf, and how many NaNs it holds; of a page, a chunk or a file.
//
// NaN is in no range; -0.0 is less than 0.0. Decimals compare by sign, text and bytes byte by byte. One thread, no
// failures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "columnar/schema.h"
#include "format/parquet/dense_values.h"
#include "format/parquet/physical_type.h"

namespace frazil::format {

class LeafRange {
 public:
  explicit LeafRange(const columnar::Type& type) : physical_(physical_type_of(type)) {}

  // Takes values [from, to).
  void add(const DenseValues& values, int64_t from, int64_t to);
  void add(const LeafRange& other);
  // What is not a number: bytes that are valid for this call.
  void add(const class ByteRange& bytes);
  void clear();

  bool has_values() const { return has_values_; }
  // Whether neither bound is below the other's. Both have values.
  bool is_at_least(const LeafRange& other) const;
  int64_t nans() const { return nans_; }
  // Numbers; a float as the integer whose order is that of the floats (float_of_key). Only when it has values.
  __int128 low() const { return low_; }
  __int128 high() const { return high_; }
  // What is not a number.
  const std::string& low_bytes() const { return low_bytes_; }
  const std::string& high_bytes() const { return high_bytes_; }

 private:
  void add_number(__int128 low, __int128 high);
  template <typename T>
  void add_numbers(const T* values, int64_t count);
  template <typename Bits>
  void add_floats(const Bits* values, int64_t count);
  void add_bytes(const DenseValues& values, int64_t from, int64_t to);

  PhysicalType physical_;
  bool has_values_ = false;
  int64_t nans_ = 0;
  __int128 low_ = 0;
  __int128 high_ = 0;
  std::string low_bytes_;
  std::string high_bytes_;
};

// The bits of a float as an integer of the same width whose order is the order of the floats; its own inverse.
template <typename Bits>
constexpr Bits float_key(Bits bits) {
  constexpr Bits kMagnitude = static_cast<Bits>(~(Bits{1} << (sizeof(Bits) * 8 - 1)));
  return bits < 0 ? static_cast<Bits>(bits ^ kMagnitude) : bits;
}

// Minimum and maximum of byte strings that outlive it. Most values are told by their first eight bytes alone. The eight
// bytes from a value's beginning must be readable, however short it is.
class ByteRange {
 public:
  bool has_values() const { return has_values_; }
  std::string_view low() const { return low_; }
  std::string_view high() const { return high_; }
  void add(std::string_view value) {
    const uint64_t prefix = prefix_of(value);
    if (!has_values_) {
      low_ = high_ = value;
      low_prefix_ = high_prefix_ = prefix;
      has_values_ = true;
      return;
    }
    if (prefix < low_prefix_ || (prefix == low_prefix_ && value < low_)) {
      low_ = value;
      low_prefix_ = prefix;
    }
    if (prefix > high_prefix_ || (prefix == high_prefix_ && value > high_)) {
      high_ = value;
      high_prefix_ = prefix;
    }
  }

 private:
  // The first eight bytes as a number that orders as the bytes do; zeros stand for what is not there.
  static uint64_t prefix_of(std::string_view value) {
    if (value.empty()) return 0;
    uint64_t bytes;
    __builtin_memcpy(&bytes, value.data(), sizeof bytes);
    bytes = __builtin_bswap64(bytes);
    return value.size() >= 8 ? bytes : bytes >> (64 - 8 * value.size()) << (64 - 8 * value.size());
  }

  std::string_view low_;
  std::string_view high_;
  uint64_t low_prefix_ = 0;
  uint64_t high_prefix_ = 0;
  bool has_values_ = false;
};

}  // namespace frazil::format
