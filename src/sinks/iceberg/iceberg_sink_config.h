// What the Iceberg sink is told by configuration. Defaults are those of the option reference.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "columnar/schema.h"
#include "iceberg/catalog.h"

namespace frazil::sinks {

struct CreateTableConfig {
  std::vector<std::string> partition_by;
  std::vector<std::string> sort_by;
  std::map<std::string, std::string> properties;
};

// When epochs are handed to the worker that commits for all.
enum class MergeMode { kOff, kAuto, kAlways };

struct IcebergSinkConfig {
  std::string pipeline;  // the pipeline's name: positions are kept under it
  iceberg::TableId table;
  iceberg::TableId dead_letters;
  // The rows' schema as configured, or nothing: the table's own schema (`schema: from_table`).
  std::optional<columnar::Schema> schema;
  std::optional<CreateTableConfig> create;  // absent: the table must exist
  int64_t history_keep_ms = 3600 * 1000;
  int64_t commit_interval_ms = 5000;  // to tell how many snapshots a table's own retention would keep
  int64_t connect_timeout_ms = 60'000;  // bounds the first commit; catalog and store that are away then are the worker's to wait for
  std::string group;  // consumer group that remembers the table, for words only; empty: unknown
  std::string user;  // recorded with accepted choices
  MergeMode merge = MergeMode::kOff;
};

}  // namespace frazil::sinks
