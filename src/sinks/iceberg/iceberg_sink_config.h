// What the Iceberg sink is told by configuration. Defaults are those of the option reference.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "columnar/schema.h"
#include "engine/sink.h"
#include "iceberg/catalog.h"

namespace frazil::sinks {

struct CreateTableConfig {
  std::vector<std::string> partition_by;
  std::vector<std::string> sort_by;
  std::map<std::string, std::string> properties;
};

// When epochs are handed to the worker that commits for all.
enum class MergeMode { kOff, kAuto, kAlways };

// Which rows a table takes: those of a topic, those with a value in a field, or both; with neither, all.
struct RouteCondition {
  std::string topic;                // empty: of any topic
  std::string field;                // a column, struct members behind dots; empty: whatever the row holds
  std::vector<std::string> equals;  // texts of values, or
  std::string matches;              // a pattern (base/pattern.h) that a value's text matches as a whole
  bool is_always() const { return topic.empty() && field.empty(); }
};

// One of several tables that rows go to.
struct TargetConfig {
  iceberg::TableId table;
  std::optional<columnar::Schema> schema;  // as below
  std::optional<CreateTableConfig> create;
  RouteCondition when;
};

struct IcebergSinkConfig {
  std::string pipeline;  // the pipeline's name: positions are kept under it
  iceberg::TableId table;  // the anchor; the table that rows go to, unless there are targets
  iceberg::TableId dead_letters;
  // The rows' schema as configured, or nothing: the table's own schema (`schema: from_table`).
  std::optional<columnar::Schema> schema;
  std::optional<CreateTableConfig> create;  // absent: the table must exist
  std::vector<TargetConfig> targets;  // where rows go, in the order in which they are asked; the anchor may be one of them
  bool route_to_all = false;          // a row goes to each target that takes it, not to the first alone
  engine::UnwantedRow::Fate unrouted = engine::UnwantedRow::Fate::kDeadLetter;
  int64_t history_keep_ms = 3600 * 1000;
  int64_t commit_interval_ms = 5000;  // to tell how many snapshots a table's own retention would keep
  int64_t connect_timeout_ms = 60'000;  // bounds the first commit; catalog and store that are away then are the worker's to wait for
  std::string group;  // consumer group that remembers the table, for words only; empty: unknown
  std::string user;  // recorded with accepted choices
  MergeMode merge = MergeMode::kOff;
  std::function<void(bool is_accepted)> on_answer;  // told of each request that the table took, or that lost to another's commit; any lane
  base::Metrics* metrics = nullptr;  // where rows are counted by table, of pipelines with several; outlives the sink
};

}  // namespace frazil::sinks
