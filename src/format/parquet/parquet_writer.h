// ParquetWriter: columns in, finished row groups out as bytes, with their statistics; sealed late.
//
// Two implementations: our encoder (parquet_writer.cc), which takes columns from where they lie, and one that goes through
// Arrow's writer (arrow_parquet_writer.cc), against which the first is tested. A writer belongs to one lane. Errors: kInvalid
// for a schema that Parquet cannot hold, kUnavailable or kExhausted from the sink of bytes, kBug otherwise. Parquet field ids
// are the schema's, on the nodes that Iceberg's appendix A names; lists are three-level list/element, maps
// key_value/key/value.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "columnar/column.h"

namespace frazil::format {

enum class ParquetCodec { kUncompressed, kSnappy, kGzip, kZstd, kLz4, kBrotli };

// How Iceberg's write.metadata.metrics.* property wants a column's bounds.
struct MetricsMode {
  enum class Kind { kNone, kCounts, kTruncate, kFull } kind = Kind::kTruncate;
  int truncate_length = 16;  // code points for strings, bytes for binary
};

struct ParquetWriterOptions {
  ParquetCodec codec = ParquetCodec::kZstd;
  std::optional<int> level;  // codec's default when absent; zstd: 1
  int64_t row_group_bytes = 128LL << 20;  // uncompressed estimate at which a row group is closed
  int64_t page_bytes = 1LL << 20;
  int64_t dictionary_bytes = 2LL << 20;
  int64_t page_rows = 20000;
  MetricsMode default_metrics;
  std::map<int32_t, MetricsMode> metrics_by_field_id;
  std::map<std::string, std::string> key_value_metadata;
  // Per-page minima and maxima and page places, behind the row groups. Verified against the pages by a test.
  bool has_page_index = true;
  // Delta encodings for numbers and texts without a dictionary: smaller files, but some Java readers of vectors refuse them.
  bool uses_delta_encodings = false;
  // "application version x.y.z (build ...)": readers parse this form to know whose statistics to trust.
  std::string created_by = "frazil version 0.1.0 (build 1)";
};

// Exact statistics of a file for Iceberg's data_file, by leaf field id. Bounds are in Iceberg's single-value binary form
// (specification appendix D), truncated by MetricsMode, upper bounds rounded up; a column whose non-null values are all NaN,
// or whose upper bound cannot be rounded up, has none. NaN never enters a bound; -0.0 < 0.0. Columns inside lists and maps
// carry counts but no bounds.
struct ParquetFileMetrics {
  int64_t rows = 0;
  int64_t file_bytes = 0;
  std::vector<int64_t> split_offsets;  // start of each row group, sorted
  std::map<int32_t, int64_t> column_sizes;
  std::map<int32_t, int64_t> value_counts;
  std::map<int32_t, int64_t> null_value_counts;
  std::map<int32_t, int64_t> nan_value_counts;  // float and double only
  std::map<int32_t, std::string> lower_bounds;
  std::map<int32_t, std::string> upper_bounds;
};

class ParquetWriter {
 public:
  virtual ~ParquetWriter() = default;
  // Takes rows of the schema given at creation. The batch may be reused afterwards. Rows are encoded in portions, so an error
  // may concern rows of an earlier call; after an error every call gives it again, and the file is to be dropped.
  virtual base::Status write(const columnar::Batch& batch) = 0;
  // Estimated memory held for the open row group.
  virtual int64_t buffered_bytes() const = 0;
  // Bytes handed to the sink plus what is buffered, estimated.
  virtual int64_t estimated_file_bytes() const = 0;
  // Writes the last row group and the footer; the metrics are those of the whole file.
  virtual base::Result<ParquetFileMetrics> seal() = 0;
};

// Receives the file's bytes in order, as row groups finish.
using ByteSink = std::function<base::Status(std::string_view bytes)>;

base::Result<std::unique_ptr<ParquetWriter>> make_parquet_writer(std::shared_ptr<const columnar::Schema> schema,
                                                                 ParquetWriterOptions options, ByteSink sink);
base::Result<std::unique_ptr<ParquetWriter>> make_arrow_parquet_writer(std::shared_ptr<const columnar::Schema> schema,
                                                                       ParquetWriterOptions options, ByteSink sink);

// Reads a Parquet file back into batches of `schema` by field id (missing columns become null); for inspection, tests and
// later for compaction.
base::Result<std::vector<columnar::Batch>> read_parquet(const std::string& file_bytes,
                                                        std::shared_ptr<const columnar::Schema> schema);

}  // namespace frazil::format
