// TargetTables: the tables that a pipeline's rows go to, as the committer found them when it opened: where and how their files
// are written, which rows they take, and how the streams that share a decoder (intakes) fit them.
//
// Topics that entries name have an intake each; all others share intake 0. Rows of an intake have one schema
// (sinks/iceberg/common_rows.h), and the files of its tables its order of columns and struct members: whoever reads an Iceberg table
// goes by field ids. Immutable; read by all lanes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "iceberg/catalog.h"
#include "sinks/iceberg/data_file_writer.h"
#include "sinks/iceberg/iceberg_sink_config.h"

namespace frazil::sinks {

struct TargetTable {
  iceberg::TableId id;
  RouteCondition when;
  bool is_anchor = false;
  std::string uuid;
  std::shared_ptr<const WriteTarget> write;
  int32_t schema_id = 0;  // the table's current schema when `write` was made
  bool by_hash = true;    // write.distribution-mode
};

struct Intake {
  std::vector<size_t> tables;  // that may take rows of its streams, in the order of the configuration
  std::shared_ptr<const columnar::Schema> rows;
};

class TargetTables {
 public:
  // Describes one target as its metadata is now. kInvalid when the configured schema does not fit the table.
  static base::Result<TargetTable> describe(const IcebergSinkConfig& config, const TargetConfig& target,
                                            const iceberg::TableMetadata& metadata);
  // `tables`: in the order of the configuration's targets. kInvalid when tables of one intake do not fit each other.
  static base::Result<std::shared_ptr<const TargetTables>> make(const IcebergSinkConfig& config, std::vector<TargetTable> tables);

  const std::vector<TargetTable>& tables() const { return tables_; }
  const std::vector<Intake>& intakes() const { return intakes_; }
  int intake_of(const std::string& topic) const;
  // One table that takes every row: nothing is routed.
  bool is_single() const { return tables_.size() == 1 && tables_[0].when.is_always(); }

 private:
  base::Result<columnar::Schema> rows_of(const Intake& intake) const;
  void put_columns_in_one_order();

  std::vector<TargetTable> tables_;
  std::vector<Intake> intakes_;
  std::map<std::string, int> topics_;
};

// The targets as configured; without any, `table` takes all.
std::vector<TargetConfig> targets_of(const IcebergSinkConfig& config);
// What is configured for one target as if it were the pipeline's only table.
IcebergSinkConfig config_of(const IcebergSinkConfig& config, const TargetConfig& target);
// Positions in `targets` of those that may take rows of `topic` (empty: of topics that none names), in their order.
std::vector<size_t> targets_for_topic(const std::vector<TargetConfig>& targets, bool to_all, const std::string& topic);

}  // namespace frazil::sinks
