// What every change has in common: the next snapshot's place in the history, its summary, and the names of its files.
// Pure, apart from clock and random names; any thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "iceberg/manifest.h"
#include "iceberg/table_metadata.h"

namespace frazil::iceberg {

// Counts of what a snapshot adds and takes away, for its summary.
class SnapshotDelta {
 public:
  void add(const DataFile& file, int32_t spec_id);
  void remove(const DataFile& file, int32_t spec_id);
  // The standard summary keys, with totals carried on from the parent's. A total that the parent does not tell stays untold.
  // `extra` wins over standard keys.
  Properties summary(const std::string& operation, const Snapshot* parent, const Properties& extra) const;

 private:
  struct Counts {
    int64_t files = 0;
    int64_t rows = 0;
    int64_t bytes = 0;
  };
  void touch(const DataFile& file, int32_t spec_id);
  Counts added_;
  Counts removed_;
  std::set<std::pair<int32_t, std::string>> partitions_;
};

// Parent = base's head, sequence number = last + 1, timestamp = max(now, parent's + 1, last-updated), current schema.
Snapshot next_snapshot(const TableMetadata& base, int64_t snapshot_id);

// "<metadata path>/<uuid>-m<number>.avro" and "<metadata path>/snap-<snapshot id>-<attempt>-<uuid>.avro".
std::string manifest_location(const std::string& metadata_path, const std::string& uuid, int number);
std::string manifest_list_location(const std::string& metadata_path, int64_t snapshot_id, int attempt);

}  // namespace frazil::iceberg
