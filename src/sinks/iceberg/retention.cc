#include "sinks/iceberg/retention.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "iceberg/change/append.h"
#include "iceberg/table_metadata_json.h"
#include "iceberg/table_properties.h"
#include "sinks/iceberg/marks.h"
#include "sinks/iceberg/pipeline_state.h"

namespace frazil::sinks {
namespace {

constexpr int64_t kSnapshotsAtMost = 2000;
constexpr int64_t kUsualBytesPerSnapshot = 1500;  // while the table has none to measure
constexpr int64_t kLogEntryBytes = 70;            // of a snapshot's line in the snapshot log
constexpr size_t kMeasuredSnapshots = 50;         // the newest ones tell what the next one takes
constexpr int kMeasureEvery = 32;                 // commits
constexpr int64_t kDayMs = 86'400'000;
constexpr const char* kMaxSnapshotAge = "history.expire.max-snapshot-age-ms";
constexpr const char* kWhatToSet =
    "history.expire.max-snapshot-age-ms and history.expire.min-snapshots-to-keep on the table, or a longer commit.interval";

int64_t keep_ms_of(const iceberg::TableMetadata& metadata) {
  const auto properties = iceberg::read_table_properties(metadata.properties, metadata.location);
  return properties.ok() ? properties->max_snapshot_age_ms : iceberg::TableProperties().max_snapshot_age_ms;
}

int64_t bytes_per_snapshot(const iceberg::TableMetadata& metadata, const std::string& pipeline) {
  int64_t bytes = 0;
  int64_t measured = 0;
  for (size_t i = metadata.snapshots.size(); i > 0 && measured < static_cast<int64_t>(kMeasuredSnapshots); --i) {
    const iceberg::Snapshot& snapshot = metadata.snapshots[i - 1];
    if (!is_of(snapshot, pipeline)) continue;
    bytes += static_cast<int64_t>(iceberg::snapshot_to_json(snapshot).size()) + kLogEntryBytes;
    ++measured;
  }
  return measured == 0 ? kUsualBytesPerSnapshot : bytes / measured;
}

}  // namespace

MetadataGrowth measure_growth(const iceberg::TableMetadata& metadata, const std::string& pipeline) {
  MetadataGrowth growth;
  growth.bytes_per_snapshot = bytes_per_snapshot(metadata, pipeline);
  const auto json = iceberg::table_metadata_to_json(metadata);
  growth.bytes = json.ok() ? static_cast<int64_t>(json->size())
                           : static_cast<int64_t>(metadata.snapshots.size()) * growth.bytes_per_snapshot;
  return growth;
}

std::optional<int64_t> snapshots_in_the_long_run(const iceberg::TableMetadata& metadata, int64_t commit_interval_ms) {
  if (!metadata.properties.contains(kMaxSnapshotAge)) return std::nullopt;
  const auto properties = iceberg::read_table_properties(metadata.properties, metadata.location);
  if (!properties.ok() || !properties->gc_enabled) return std::nullopt;
  return std::max<int64_t>(properties->min_snapshots_to_keep,
                           properties->max_snapshot_age_ms / std::max<int64_t>(1, commit_interval_ms));
}

bool keeps_too_many(const iceberg::TableMetadata& metadata, const IcebergSinkConfig& config) {
  // What history.keep asks for is no surprise.
  if (metadata.property(kMaxSnapshotAge) == std::to_string(config.history_keep_ms)) return false;
  const std::optional<int64_t> snapshots = snapshots_in_the_long_run(metadata, config.commit_interval_ms);
  return !snapshots || *snapshots > kSnapshotsAtMost;
}

int64_t stretched_cut_ms(const MetadataGrowth& growth, int64_t keep_ms) {
  if (growth.bytes <= kMetadataBytesAtMost / 2) return 0;
  const int64_t room = std::max<int64_t>(0, kMetadataBytesAtMost - growth.bytes);
  const int64_t snapshots_left = room / std::max<int64_t>(1, growth.bytes_per_snapshot);
  return snapshots_left == 0 ? kLongestCutMs : std::min(kLongestCutMs, keep_ms / snapshots_left);
}

std::vector<int64_t> snapshots_to_expire(const iceberg::TableMetadata& metadata, size_t at_most) {
  if (!metadata.properties.contains(kMaxSnapshotAge)) return {};
  const auto properties = iceberg::read_table_properties(metadata.properties, metadata.location);
  if (!properties.ok()) return {};
  std::vector<int64_t> ids = iceberg::expirable_snapshots(metadata, base::wall_millis(), properties->max_snapshot_age_ms,
                                                          properties->min_snapshots_to_keep);
  if (ids.size() > at_most) ids.resize(at_most);
  return ids;
}

void Retention::opened(const iceberg::TableMetadata& metadata) {
  commits_ = 0;
  measure(metadata);
  if (is_warned_ || !keeps_too_many(metadata, config_)) return;
  is_warned_ = true;
  const int64_t each = bytes_per_snapshot(metadata, config_.pipeline);
  const int64_t a_day = kDayMs / std::max<int64_t>(1, config_.commit_interval_ms);
  const std::optional<int64_t> snapshots = snapshots_in_the_long_run(metadata, config_.commit_interval_ms);
  // Without an end, the file as it would be after a day.
  const int64_t file_bytes = snapshots.value_or(a_day) * each;
  base::log_warn("snapshots_pile_up",
                 {{"pipeline", config_.pipeline},
                  {"table", config_.table.text()},
                  {"snapshots", snapshots ? std::to_string(*snapshots) : std::to_string(a_day) + " more each day, without end"},
                  {"bytes_per_snapshot", each},
                  {"metadata_bytes", snapshots ? std::to_string(file_bytes) : std::to_string(file_bytes) + " more each day"},
                  {"metadata_bytes_written_a_day", file_bytes * a_day},
                  {"then", "commits get rarer once metadata.json is over 4 MB"},
                  {"set", kWhatToSet}});
}

void Retention::committed(const iceberg::TableMetadata& metadata) {
  if (++commits_ % kMeasureEvery == 0 || least_cut_ms_ > 0) measure(metadata);
}

void Retention::measure(const iceberg::TableMetadata& metadata) {
  if (!keeps_too_many(metadata, config_)) {
    least_cut_ms_ = 0;
    return;
  }
  const MetadataGrowth growth = measure_growth(metadata, config_.pipeline);
  least_cut_ms_ = stretched_cut_ms(growth, keep_ms_of(metadata));
  const bool is_longer = least_cut_ms_ > config_.commit_interval_ms && least_cut_ms_ >= 2 * told_ms_;
  if (!is_longer) return;
  told_ms_ = least_cut_ms_;
  base::log_warn("commits_get_rarer", {{"pipeline", config_.pipeline},
                                       {"table", config_.table.text()},
                                       {"commit_interval_ms", least_cut_ms_},
                                       {"configured_ms", config_.commit_interval_ms},
                                       {"metadata_bytes", growth.bytes},
                                       {"bytes_per_snapshot", growth.bytes_per_snapshot},
                                       {"why", "the table's properties keep more snapshots than metadata.json should hold"},
                                       {"set", kWhatToSet}});
}

}  // namespace frazil::sinks
