// A leaf column as an Arrow array over the column's own memory: nothing is copied.
//
// The array is valid while the column is neither changed nor destroyed. One thread; no failures.
#pragma once

#include <memory>

#include "columnar/column.h"
#include "format/parquet/leaf_levels.h"

namespace arrow {
class Array;
}

namespace frazil::format {

// Times and timestamps become int64, dates int32, uuids fixed arrays: the physical type that Parquet stores. A required leaf
// carries no nulls of its own: those of an absent parent are told by the levels.
std::shared_ptr<arrow::Array> leaf_array(const Leaf& leaf, const columnar::Column& column);

}  // namespace frazil::format
