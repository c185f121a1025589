// What both Parquet writers hold to: the least size of a row group, the point where one is complete, and whose metrics
// are wanted how.
#pragma once

#include <cstdint>

#include "base/failpoint.h"
#include "format/parquet/parquet_writer.h"

namespace frazil::format {

// Below this the dictionaries and page headers of a row group cost more than they save.
inline constexpr int64_t kMinRowGroupRows = 16384;

extern base::Failpoint row_group_closed;

MetricsMode mode_of(int32_t field_id, const ParquetWriterOptions& options);

}  // namespace frazil::format
