// PageLevels: the definition and repetition levels of an open page.
//
// A flat column's levels are its validity: a count while nothing is null, bits from the first null on. Nested columns
// bring their levels. Encoded when the page is closed, each kind behind its length as data pages of version 1 want it.
// One thread, no failures.
#pragma once

#include <cstdint>

#include "columnar/column.h"
#include "format/parquet/leaf_levels.h"

namespace frazil::format {

class PageLevels {
 public:
  explicit PageLevels(const Leaf& leaf) : max_definition_(leaf.max_definition), max_repetition_(leaf.max_repetition) {}

  // Entries that are all there.
  void add_present(int64_t count);
  // Entries of a flat optional column, from bit `from` on.
  void add_bits(const uint8_t* validity, int64_t from, int64_t count);
  // Entries of a nested column; `repetition` may be absent.
  void add(const int16_t* definition, const int16_t* repetition, int64_t count);
  // Appends what the page begins with.
  void finish(columnar::Buffer& out);

  int64_t count() const { return count_; }
  int64_t size() const { return bits_.size() + definition_.size() + repetition_.size(); }
  int64_t bytes() const { return bits_.capacity() + definition_.capacity() + repetition_.capacity(); }

 private:
  void start_bits();
  void append_ones(int64_t count);
  void append_definition(columnar::Buffer& out) const;

  int max_definition_;
  int max_repetition_;
  int64_t count_ = 0;
  columnar::Buffer bits_;  // empty until something is null
  columnar::Buffer definition_;
  columnar::Buffer repetition_;
};

}  // namespace frazil::format
