// DenseValues: a leaf column without its nulls, each value as Parquet stores it.
//
// Levels tell where nulls were; what is encoded are the values between them, one behind the other. A column without
// nulls whose memory is Parquet's already is taken as it is; else the values are gathered in a scratch that its owner
// keeps. Valid until the column or the scratch changes. One thread, no failures.
#pragma once

#include <cstdint>
#include <string_view>

#include "columnar/column.h"
#include "format/parquet/physical_type.h"

namespace frazil::format {

struct DenseValues {
  int64_t count = 0;
  int32_t width = 0;  // bytes a value; 0: values vary in size and are bounded by `offsets`
  // Booleans are bytes of 0 and 1, long decimals big-endian. May be read 16 bytes beyond the last value.
  const uint8_t* bytes = nullptr;
  const int32_t* offsets = nullptr;    // count + 1
  const __int128* decimals = nullptr;  // of decimals in fixed arrays: what the bytes stand for

  std::string_view bytes_at(int64_t i) const {
    const auto* chars = reinterpret_cast<const char*>(bytes);
    if (width != 0) return {chars + i * width, static_cast<size_t>(width)};
    return {chars + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
  }
  // Bytes of values [from, to), lengths not counted.
  int64_t size(int64_t from, int64_t to) const {
    return width != 0 ? (to - from) * width : offsets[to] - offsets[from];
  }
};

class DenseScratch {
 public:
  DenseValues values_of(const columnar::Column& column, const PhysicalType& physical);
  int64_t bytes() const { return present_.capacity() + converted_.capacity(); }

 private:
  const uint8_t* gather(const columnar::Column& column, int32_t width);
  void gather_offsets(const columnar::Column& column);
  void unpack_booleans(const columnar::Column& column);
  void convert_decimals(const __int128* decimals, int64_t count, const PhysicalType& physical);

  columnar::Buffer present_;
  columnar::Buffer converted_;
};

}  // namespace frazil::format
