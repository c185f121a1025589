// The bounds of a range as Parquet's statistics and column index hold them.
//
// PLAIN values without a length. Zeros take their widest signs, as the format wants it of floats: a least 0.0 is
// written as -0.0, a greatest -0.0 as 0.0. Pure.
#pragma once

#include <string>

#include "format/parquet/leaf_range.h"
#include "format/parquet/physical_type.h"

namespace frazil::format {

// Longer bounds are left out.
inline constexpr size_t kMaxBoundBytes = 4096;

struct PlainBounds {
  std::string low;
  std::string high;
  bool are_short() const { return low.size() <= kMaxBoundBytes && high.size() <= kMaxBoundBytes; }
};

// Of a range that has values.
PlainBounds plain_bounds(const LeafRange& range, const PhysicalType& physical);

}  // namespace frazil::format
