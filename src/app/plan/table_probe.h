// What the tables of a pipeline are, or would be: their columns beside those of the configuration, partitions, and what files weigh. Reads only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/config/pipeline_config.h"
#include "app/plan/topic_probe.h"
#include "base/result.h"

namespace frazil::app {

struct ColumnDifference {
  std::string column;
  std::string in_table;   // its type, empty: not there
  std::string in_schema;
};

struct TableFacts {
  std::string name;
  bool exists = false;
  std::string problem;  // why the pipeline would not start with it; empty: it would
  std::string location;
  std::vector<ColumnDifference> differences;  // existing table: columns that are not the same on both sides
  std::vector<std::pair<std::string, std::string>> columns;  // name and type, of a table that would be created
  std::vector<std::string> partition_by;
  int64_t touched_partitions = 1;       // by the rows of one interval, at least
  bool is_touched_a_guess = false;      // a field whose number of values nobody knows here
  int64_t target_file_bytes = 0;
  std::optional<double> file_bytes_per_record;  // measured in the table
  int64_t rows = 0;
  int64_t files = 0;
  int64_t snapshots = 0;
  int64_t metadata_bytes = 0;
  int64_t bytes_per_snapshot = 0;
  std::vector<Access> access;
};

struct ProbedTables {
  TableFacts anchor;                // whose commits decide: the pipeline's table, if it has one alone
  std::vector<TableFacts> targets;  // where rows go, if that is not one table; the anchor may be among them
  std::string problem;              // tables that take rows of one topic and do not fit each other; empty: they do
};

// kUnavailable when catalog or store are not reached.
base::Result<ProbedTables> probe_tables(const PipelineConfig& config);

}  // namespace frazil::app
