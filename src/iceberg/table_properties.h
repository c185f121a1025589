// Table properties that Frazil honours, read with their types and Iceberg's defaults. Names are Iceberg's own.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "iceberg/manifest.h"
#include "iceberg/table_metadata.h"

namespace frazil::iceberg {

struct TableProperties {
  // write.*
  std::string parquet_codec = "zstd";  // write.parquet.compression-codec
  std::optional<int> parquet_level;    // write.parquet.compression-level
  int64_t parquet_row_group_bytes = 128LL << 20;  // write.parquet.row-group-size-bytes
  int64_t parquet_page_bytes = 1LL << 20;         // write.parquet.page-size-bytes
  int64_t parquet_page_rows = 20000;              // write.parquet.page-row-limit
  int64_t parquet_dictionary_bytes = 2LL << 20;   // write.parquet.dict-size-bytes
  int64_t target_file_bytes = 512LL << 20;        // write.target-file-size-bytes
  AvroOptions avro;                               // write.avro.compression-codec, write.avro.compression-level
  std::string data_path;      // write.data.path, else <location>/data; without trailing slash
  std::string metadata_path;  // write.metadata.path, else <location>/metadata
  bool object_storage = false;                 // write.object-storage.enabled
  bool object_storage_partitioned_paths = true;  // write.object-storage.partitioned-paths
  bool metadata_gzip = false;                  // write.metadata.compression-codec
  int32_t metadata_previous_versions_max = 100;
  bool metadata_delete_after_commit = false;
  std::string metrics_default = "truncate(16)";           // write.metadata.metrics.default
  int32_t metrics_max_inferred_columns = 100;             // write.metadata.metrics.max-inferred-column-defaults
  std::map<std::string, std::string> metrics_by_column;   // write.metadata.metrics.column.<name>
  // commit.*
  bool manifest_merge = true;
  int32_t manifest_min_count_to_merge = 100;
  int64_t manifest_target_bytes = 8LL << 20;
  int32_t commit_retries = 4;
  int64_t commit_min_wait_ms = 100;
  int64_t commit_max_wait_ms = 60'000;
  int64_t commit_total_timeout_ms = 1'800'000;
  // history.* and gc
  int64_t max_snapshot_age_ms = 432'000'000;
  int32_t min_snapshots_to_keep = 1;
  std::optional<int64_t> max_ref_age_ms;  // absent: for ever
  bool gc_enabled = true;
};

// kInvalid names the property, its value, and what would be right.
base::Result<TableProperties> read_table_properties(const Properties& properties, const std::string& table_location);

// Properties in `properties` that Iceberg defines and Frazil does not honour (yet), sorted: to be told to the user.
std::vector<std::string> properties_not_honoured(const Properties& properties);

}  // namespace frazil::iceberg
