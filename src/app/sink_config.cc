#include "app/sink_config.h"

#include "app/config/pipeline_checks.h"
#include "app/config/routing_checks.h"

namespace frazil::app {
namespace {

std::optional<sinks::CreateTableConfig> create_config(const std::optional<CreateConfig>& create) {
  if (!create) return std::nullopt;
  return sinks::CreateTableConfig{create->partition_by, create->sort_by, create->properties};
}

// Of a table that holds positions and nothing else: engines want at least one column.
columnar::Schema positions_schema() {
  columnar::Schema schema;
  schema.fields = {{0, "pipeline", false, columnar::Type::primitive(columnar::TypeId::kString),
                    "No rows: this table's snapshots hold a pipeline's positions"}};
  return schema;
}

engine::UnwantedRow::Fate fate_of(PipelineConfig::Unrouted unrouted) {
  using Fate = engine::UnwantedRow::Fate;
  switch (unrouted) {
    case PipelineConfig::Unrouted::kDeadLetter:
      return Fate::kDeadLetter;
    case PipelineConfig::Unrouted::kSkip:
      return Fate::kSkip;
    case PipelineConfig::Unrouted::kHalt:
      return Fate::kHalt;
  }
  return Fate::kDeadLetter;
}

base::Status add_targets(const PipelineConfig& pipeline, sinks::IcebergSinkConfig& sink) {
  sink.route_to_all = pipeline.route_to_all;
  sink.unrouted = fate_of(pipeline.unrouted);
  bool has_anchor = false;
  for (const RoutedTableConfig& entry : pipeline.tables) {
    sinks::TargetConfig target;
    TRY_ASSIGN(target.table, iceberg::parse_table_id(entry.name));
    TRY_ASSIGN(target.schema, routed_row_schema(pipeline, entry));
    target.create = create_config(entry.create ? entry.create : pipeline.table.create);
    target.when = condition_of(entry);
    if (target.table == sink.table) {
      has_anchor = true;
      sink.schema = target.schema;
      sink.create = target.create;
    }
    sink.targets.push_back(std::move(target));
  }
  if (!has_anchor) {
    sink.schema = positions_schema();
    sink.create.emplace();
  }
  return {};
}

}  // namespace

sinks::RouteCondition condition_of(const RoutedTableConfig& entry) {
  return {entry.topic, entry.field, entry.equals, entry.matches};
}

base::Result<sinks::IcebergSinkConfig> sink_config(const PipelineConfig& pipeline, const std::string& user) {
  sinks::IcebergSinkConfig sink;
  sink.pipeline = pipeline.name;
  TRY_ASSIGN(sink.table, iceberg::parse_table_id(pipeline.table.name));
  TRY_ASSIGN(sink.dead_letters, iceberg::parse_table_id(pipeline.dead_letters));
  sink.history_keep_ms = pipeline.history_keep_ms;
  sink.commit_interval_ms = pipeline.commit.interval_ms;
  sink.connect_timeout_ms = pipeline.connect_timeout_ms;
  if (pipeline.kafka) sink.group = pipeline.kafka->group;
  sink.user = user;
  using Mode = MergeConfig::Mode;
  const Mode mode = pipeline.commit.merge.mode;
  sink.merge = mode == Mode::kOff ? sinks::MergeMode::kOff : mode == Mode::kAuto ? sinks::MergeMode::kAuto : sinks::MergeMode::kAlways;
  if (!pipeline.tables.empty()) {
    TRY(add_targets(pipeline, sink));
    return sink;
  }
  if (pipeline.decode.schema) {
    TRY_ASSIGN(sink.schema, configured_row_schema(pipeline));
  }
  sink.create = create_config(pipeline.table.create);
  return sink;
}

}  // namespace frazil::app
