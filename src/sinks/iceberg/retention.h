// Retention: what the snapshots that a table keeps cost, which ones a commit removes, and how long epochs must last so that
// metadata.json stays small.
//
// Every retained snapshot stays in metadata.json, and every commit writes that file anew. Tables that Frazil creates keep
// `history.keep`. A foreign table keeps what its own properties say: Frazil does not shorten that. Where they would keep more
// than 2,000 snapshots it says what that costs, and commits less often once the file is half of 8 MB: what is left of the 8 MB
// is then spread over the time for which snapshots are kept. Functions are pure but for the clock and the log; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "iceberg/table_metadata.h"
#include "sinks/iceberg/iceberg_sink_config.h"

namespace frazil::sinks {

inline constexpr int64_t kMetadataBytesAtMost = 8'000'000;
inline constexpr int64_t kLongestCutMs = 600'000;  // rows do not wait longer, whatever the table keeps

// Measured in the table's real metadata.
struct MetadataGrowth {
  int64_t bytes = 0;               // of metadata.json now
  int64_t bytes_per_snapshot = 0;  // what a commit of the pipeline adds
};
MetadataGrowth measure_growth(const iceberg::TableMetadata& metadata, const std::string& pipeline);

// Snapshots that the table would hold in the long run at one commit per interval; nothing when it never expires any.
std::optional<int64_t> snapshots_in_the_long_run(const iceberg::TableMetadata& metadata, int64_t commit_interval_ms);

// True when the table's own properties, not those of the configuration, keep more than 2,000 snapshots.
bool keeps_too_many(const iceberg::TableMetadata& metadata, const IcebergSinkConfig& config);

// How long epochs must last for the sake of such a table, 0: as configured. At most kLongestCutMs.
int64_t stretched_cut_ms(const MetadataGrowth& growth, int64_t keep_ms);

// Snapshots that the next commit removes: only where the table itself says how long to keep them
// (history.expire.max-snapshot-age-ms is set, as in tables that Frazil creates), oldest first, at most `at_most`.
std::vector<int64_t> snapshots_to_expire(const iceberg::TableMetadata& metadata, size_t at_most);

// Watches one table for one committer. One thread.
class Retention {
 public:
  explicit Retention(const IcebergSinkConfig& config) : config_(config) {}

  // The table as loaded: measures it, and warns once when it keeps too many.
  void opened(const iceberg::TableMetadata& metadata);
  // The table after a commit of ours. Measures again now and then.
  void committed(const iceberg::TableMetadata& metadata);
  int64_t least_cut_ms() const { return least_cut_ms_; }

 private:
  void measure(const iceberg::TableMetadata& metadata);

  const IcebergSinkConfig& config_;
  int64_t least_cut_ms_ = 0;
  int64_t told_ms_ = 0;  // the stretch that the log last told of
  int commits_ = 0;
  bool is_warned_ = false;
};

}  // namespace frazil::sinks
