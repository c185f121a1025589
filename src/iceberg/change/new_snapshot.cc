#include "iceberg/change/new_snapshot.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/clock.h"
#include "base/random.h"

namespace frazil::iceberg {

namespace {

// The parent's total; zero without a parent, nullopt when it does not tell.
std::optional<int64_t> previous_total(const Snapshot* parent, const std::string& key) {
  if (parent == nullptr) return 0;
  const auto found = parent->summary.find(key);
  if (found == parent->summary.end()) return std::nullopt;
  int64_t value = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [after, error] = std::from_chars(found->second.data(), end, value);
  if (error != std::errc() || after != end || value < 0) return std::nullopt;
  return value;
}

}  // namespace

void SnapshotDelta::touch(const DataFile& file, int32_t spec_id) {
  std::string key;
  for (const Literal& value : file.partition) {
    key += static_cast<char>('0' + value.value.index());
    std::visit([&](const auto& v) {
      using T = std::decay_t<decltype(v)>;
      if constexpr (std::is_same_v<T, std::string>) {
        key += std::to_string(v.size()) + ":" + v;
      } else if constexpr (!std::is_same_v<T, std::monostate>) {
        key.append(reinterpret_cast<const char*>(&v), sizeof v);
      }
    }, value.value);
  }
  partitions_.emplace(spec_id, std::move(key));
}

void SnapshotDelta::add(const DataFile& file, int32_t spec_id) {
  touch(file, spec_id);
  ++added_.files;
  added_.rows += file.record_count;
  added_.bytes += file.file_size_in_bytes;
}

void SnapshotDelta::remove(const DataFile& file, int32_t spec_id) {
  touch(file, spec_id);
  ++removed_.files;
  removed_.rows += file.record_count;
  removed_.bytes += file.file_size_in_bytes;
}

Properties SnapshotDelta::summary(const std::string& operation, const Snapshot* parent, const Properties& extra) const {
  Properties summary;
  summary["operation"] = operation;
  const auto set_if_positive = [&](const char* key, int64_t value) {
    if (value > 0) summary[key] = std::to_string(value);
  };
  set_if_positive("added-data-files", added_.files);
  set_if_positive("added-records", added_.rows);
  set_if_positive("added-files-size", added_.bytes);
  set_if_positive("deleted-data-files", removed_.files);
  set_if_positive("deleted-records", removed_.rows);
  set_if_positive("removed-files-size", removed_.bytes);
  summary["changed-partition-count"] = std::to_string(partitions_.size());
  const auto carry_on = [&](const char* key, int64_t difference) {
    const auto previous = previous_total(parent, key);
    if (previous && *previous + difference >= 0) summary[key] = std::to_string(*previous + difference);
  };
  carry_on("total-data-files", added_.files - removed_.files);
  carry_on("total-records", added_.rows - removed_.rows);
  carry_on("total-files-size", added_.bytes - removed_.bytes);
  carry_on("total-delete-files", 0);
  carry_on("total-position-deletes", 0);
  carry_on("total-equality-deletes", 0);
  for (const auto& [key, value] : extra) summary[key] = value;
  return summary;
}

Snapshot next_snapshot(const TableMetadata& base, int64_t snapshot_id) {
  const Snapshot* parent = base.current_snapshot();
  Snapshot snapshot;
  snapshot.snapshot_id = snapshot_id;
  snapshot.sequence_number = base.last_sequence_number + 1;
  snapshot.timestamp_ms = std::max(base::wall_millis(), base.last_updated_ms);
  if (parent != nullptr) {
    snapshot.parent_snapshot_id = parent->snapshot_id;
    snapshot.timestamp_ms = std::max(snapshot.timestamp_ms, parent->timestamp_ms + 1);
  }
  snapshot.schema_id = base.current_schema_id;
  return snapshot;
}

std::string manifest_location(const std::string& metadata_path, const std::string& uuid, int number) {
  return metadata_path + "/" + uuid + "-m" + std::to_string(number) + ".avro";
}

std::string manifest_list_location(const std::string& metadata_path, int64_t snapshot_id, int attempt) {
  return metadata_path + "/snap-" + std::to_string(snapshot_id) + "-" + std::to_string(attempt) + "-" + base::random_uuid() +
         ".avro";
}

}  // namespace frazil::iceberg
