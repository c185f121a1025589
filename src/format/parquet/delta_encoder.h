// DeltaEncoder: DELTA_BINARY_PACKED, the differences of integers at the width that each 32 of them need.
//
// Source: apache/parquet-format, Encodings.md. Blocks of 128 values in four miniblocks. Takes the values of one page in
// portions; differences wrap around in the width of the type. One thread, no failures.
#pragma once

#include <array>
#include <cstdint>

#include "columnar/column.h"

namespace frazil::format {

class DeltaEncoder {
 public:
  void add(const int32_t* values, int64_t count);
  void add(const int64_t* values, int64_t count);
  // The lengths between `count + 1` offsets, as 32-bit integers.
  void add_lengths(const int32_t* offsets, int64_t count);
  // Appends the page's header and blocks; the encoder is empty afterwards.
  void finish(columnar::Buffer& out);
  void clear();

  // About the bytes that finish() will append.
  int64_t size() const { return blocks_.size() + static_cast<int64_t>(pending_) * 4; }
  int64_t bytes() const { return blocks_.capacity(); }

 private:
  static constexpr size_t kBlock = 128;
  static constexpr size_t kMiniblock = 32;

  // `Unsigned` is the width in which differences wrap around.
  template <typename Unsigned, typename T>
  void add_one(T value);
  void close_block();

  columnar::Buffer blocks_;
  std::array<int64_t, kBlock> deltas_;
  size_t pending_ = 0;  // of deltas_
  bool is_narrow_ = false;
  int64_t count_ = 0;
  int64_t first_ = 0;
  int64_t previous_ = 0;
};

}  // namespace frazil::format
