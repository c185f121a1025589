#include "sinks/iceberg/target_tables.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sinks/iceberg/common_rows.h"
#include "sinks/iceberg/row_schema.h"

namespace frazil::sinks {
namespace {

// For each table the first one that shares an intake with it, be it by way of others.
std::vector<size_t> first_kin(const std::vector<Intake>& intakes, size_t tables) {
  std::vector<size_t> first(tables);
  std::iota(first.begin(), first.end(), 0);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const Intake& intake : intakes) {
      size_t least = tables;
      for (const size_t table : intake.tables) least = std::min(least, first[table]);
      for (const size_t table : intake.tables) has_changed = std::exchange(first[table], least) != least || has_changed;
    }
  }
  return first;
}

}  // namespace

std::vector<TargetConfig> targets_of(const IcebergSinkConfig& config) {
  if (!config.targets.empty()) return config.targets;
  return {TargetConfig{config.table, config.schema, config.create, {}}};
}

IcebergSinkConfig config_of(const IcebergSinkConfig& config, const TargetConfig& target) {
  IcebergSinkConfig alone = config;
  alone.table = target.table;
  alone.schema = target.schema;
  alone.create = target.create;
  alone.targets.clear();
  return alone;
}

std::vector<size_t> targets_for_topic(const std::vector<TargetConfig>& targets, bool to_all, const std::string& topic) {
  std::vector<size_t> takers;
  for (size_t i = 0; i < targets.size(); ++i) {
    const RouteCondition& when = targets[i].when;
    if (!when.topic.empty() && when.topic != topic) continue;
    takers.push_back(i);
    if (!to_all && when.field.empty()) break;  // nothing is left for those behind it
  }
  return takers;
}

base::Result<TargetTable> TargetTables::describe(const IcebergSinkConfig& config, const TargetConfig& target,
                                                 const iceberg::TableMetadata& metadata) {
  TargetTable table;
  table.id = target.table;
  table.when = target.when;
  table.is_anchor = target.table == config.table;
  table.uuid = metadata.table_uuid;
  TRY_ASSIGN(auto schema, row_schema_for(config_of(config, target), *metadata.current_schema()));
  TRY_ASSIGN(WriteTarget write, make_write_target(metadata, schema, metadata.default_spec()));
  table.write = std::make_shared<const WriteTarget>(std::move(write));
  table.schema_id = metadata.current_schema_id;
  table.by_hash = is_distributed_by_hash(metadata);
  return table;
}

base::Result<std::shared_ptr<const TargetTables>> TargetTables::make(const IcebergSinkConfig& config,
                                                                     std::vector<TargetTable> tables) {
  auto made = std::make_shared<TargetTables>();
  made->tables_ = std::move(tables);
  const std::vector<TargetConfig> targets = targets_of(config);
  std::vector<std::string> topics{""};
  for (const TargetConfig& target : targets) {
    const std::string& topic = target.when.topic;
    if (topic.empty() || !made->topics_.emplace(topic, static_cast<int>(topics.size())).second) continue;
    topics.push_back(topic);
  }
  for (const std::string& topic : topics) made->intakes_.push_back({targets_for_topic(targets, config.route_to_all, topic), nullptr});
  for (const Intake& intake : made->intakes_) TRY(made->rows_of(intake).status());
  made->put_columns_in_one_order();
  for (Intake& intake : made->intakes_) {
    TRY_ASSIGN(columnar::Schema rows, made->rows_of(intake));
    intake.rows = std::make_shared<const columnar::Schema>(std::move(rows));
  }
  return std::shared_ptr<const TargetTables>(std::move(made));
}

// Rows that come from no table's topic have a schema all the same: they are decoded to be told that no table takes them.
base::Result<columnar::Schema> TargetTables::rows_of(const Intake& intake) const {
  if (intake.tables.empty()) return *tables_[0].write->schema;
  std::vector<TableColumns> columns;
  for (const size_t table : intake.tables) columns.push_back({tables_[table].id.text(), tables_[table].write->schema.get()});
  return common_rows(columns);
}

void TargetTables::put_columns_in_one_order() {
  const std::vector<size_t> first = first_kin(intakes_, tables_.size());
  for (size_t i = 0; i < tables_.size(); ++i) {
    if (first[i] == i) continue;
    WriteTarget write = *tables_[i].write;
    columnar::Schema schema = *write.schema;
    schema.fields = in_order_of(tables_[first[i]].write->schema->fields, schema.fields);
    write.schema = std::make_shared<const columnar::Schema>(std::move(schema));
    tables_[i].write = std::make_shared<const WriteTarget>(std::move(write));
  }
}

int TargetTables::intake_of(const std::string& topic) const {
  const auto named = topics_.find(topic);
  return named == topics_.end() ? 0 : named->second;
}

}  // namespace frazil::sinks
