#include "format/parquet/row_group_rules.h"

namespace frazil::format {

base::Failpoint row_group_closed("parquet.rowgroup", "a row group of a data file is complete");

MetricsMode mode_of(int32_t field_id, const ParquetWriterOptions& options) {
  const auto found = options.metrics_by_field_id.find(field_id);
  return found == options.metrics_by_field_id.end() ? options.default_metrics : found->second;
}

}  // namespace frazil::format
