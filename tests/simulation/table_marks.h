// What snapshots say about the pipeline, read by the simulation's own code and not by the product's. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iceberg/table_metadata.h"

namespace frazil::simulation {

struct OwedMark {
  int64_t epoch = 0;
  std::string table;
  std::string manifest;                                  // empty: a void entry
  std::optional<std::pair<int64_t, int64_t>> void_epochs;  // inclusive
};

struct TableMarks {
  int64_t snapshot_id = 0;
  int64_t epoch = 0;
  std::map<int32_t, int64_t> next;                          // by partition
  std::map<int32_t, int64_t> leader_epoch;                  // of `next`, where it is known
  std::map<int32_t, std::pair<int64_t, int64_t>> ranges;    // by partition
  std::vector<OwedMark> owed;
  bool is_decision = false;
};

// nullopt: not of the pipeline. What cannot be read gives empty members, which the oracle then misses.
std::optional<TableMarks> marks_of(const iceberg::Snapshot& snapshot);
// Every snapshot that a table ever had, expired ones too.
using KnownSnapshots = std::map<int64_t, iceberg::Snapshot>;
// Of the newest snapshot with marks among the head and its ancestors.
std::optional<TableMarks> newest_marks(const iceberg::TableMetadata& metadata, const KnownSnapshots& known);
// The snapshot that property and tag name; nullopt where they are absent.
std::optional<int64_t> snapshot_of_property(const iceberg::TableMetadata& metadata);
std::optional<int64_t> snapshot_of_tag(const iceberg::TableMetadata& metadata);
// Highest epoch of the outbox that a table says it has applied.
int64_t applied_of(const iceberg::TableMetadata& metadata);

}  // namespace frazil::simulation
