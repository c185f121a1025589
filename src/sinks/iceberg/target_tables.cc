#include "sinks/iceberg/target_tables.h"

#include <algorithm>

#include "sinks/iceberg/row_schema.h"

namespace frazil::sinks {
namespace {

// Rows that come from no table's topic have a schema all the same: they are decoded to be told that no table takes them.
base::Result<columnar::Schema> rows_of_intake(const std::vector<TargetTable>& tables, const std::vector<size_t>& takers) {
  columnar::Schema rows = *tables[takers.empty() ? 0 : takers[0]].write->schema;
  for (const size_t taker : takers) {
    const columnar::Schema& other = *tables[taker].write->schema;
    const bool has_same_names =
        other.fields.size() == rows.fields.size() &&
        std::all_of(rows.fields.begin(), rows.fields.end(), [&](const auto& field) {
          const columnar::Field* there = other.find(field.name);
          return there != nullptr && there->type.id() == field.type.id();
        });
    if (!has_same_names) {
      return base::invalid("tables " + tables[takers[0]].id.text() + " and " + tables[taker].id.text() +
                           " take rows of the same topics, and their schemas differ");
    }
    for (columnar::Field& field : rows.fields) field.required = field.required || other.find(field.name)->required;
  }
  return rows;
}

std::vector<size_t> columns_in(const columnar::Schema& rows, const columnar::Schema& table) {
  std::vector<size_t> columns;
  for (const columnar::Field& field : table.fields) {
    const auto at = std::find_if(rows.fields.begin(), rows.fields.end(), [&](const auto& row) { return row.name == field.name; });
    columns.push_back(static_cast<size_t>(at - rows.fields.begin()));
  }
  return columns;
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
  for (const std::string& topic : topics) {
    Intake intake;
    intake.tables = targets_for_topic(targets, config.route_to_all, topic);
    TRY_ASSIGN(columnar::Schema rows, rows_of_intake(made->tables_, intake.tables));
    for (const size_t table : intake.tables) intake.columns.push_back(columns_in(rows, *made->tables_[table].write->schema));
    intake.rows = std::make_shared<const columnar::Schema>(std::move(rows));
    made->intakes_.push_back(std::move(intake));
  }
  return std::shared_ptr<const TargetTables>(std::move(made));
}

int TargetTables::intake_of(const std::string& topic) const {
  const auto named = topics_.find(topic);
  return named == topics_.end() ? 0 : named->second;
}

}  // namespace frazil::sinks
