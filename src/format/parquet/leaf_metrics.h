// LeafMetrics: exact counts and bounds of one leaf column, gathered while its values pass by.
//
// Computed from the columns and never from row-group statistics, which may be absent for one group (and then make the file's
// bounds wrong) and know no NaN count. Counts are those of Parquet's column chunks, as Iceberg's Java library records them:
// an empty or null list is one value and one null of each leaf below it. Owned by a writer, one thread, no failures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "columnar/column.h"
#include "format/parquet/dense_values.h"
#include "format/parquet/leaf_levels.h"
#include "format/parquet/leaf_range.h"
#include "format/parquet/parquet_writer.h"

namespace frazil::format {

class LeafMetrics {
 public:
  LeafMetrics(const Leaf& leaf, MetricsMode mode);

  // Takes the leaf's values of one batch; `entries` is the number of its level entries.
  void add(const columnar::Column& column, int64_t entries);
  // The same for values whose range is known.
  void add(const LeafRange& range, int64_t entries, int64_t nulls);
  // Writes what the mode asks for into `metrics`.
  void report(ParquetFileMetrics& metrics) const;

 private:
  bool wants_bounds() const;
  bool is_floating() const;
  std::string number_bound(__int128 key) const;
  std::optional<std::string> lower_bound() const;
  std::optional<std::string> upper_bound() const;

  int32_t field_id_;
  columnar::Type type_;
  MetricsMode mode_;
  bool has_no_bounds_;
  int64_t values_ = 0;
  int64_t nulls_ = 0;
  LeafRange range_;
  DenseScratch scratch_;
};

}  // namespace frazil::format
