#include "tests/simulation/sink_setup.h"

#include "tests/simulation/lakehouse.h"
#include "tests/simulation/routing.h"

namespace frazil::simulation {
namespace {

columnar::Field column(int32_t id, std::string name, columnar::TypeId type, bool is_required) {
  columnar::Field field;
  field.id = id;
  field.name = std::move(name);
  field.type = columnar::Type::primitive(type);
  field.required = is_required;
  return field;
}

columnar::Schema record_schema() {
  columnar::Schema schema;
  schema.fields = {column(1, "part", columnar::TypeId::kInt, true), column(2, "ord", columnar::TypeId::kLong, true),
                   column(3, "amount", columnar::TypeId::kLong, false), column(4, "kind", columnar::TypeId::kString, false)};
  return schema;
}

}  // namespace

sinks::IcebergSinkConfig draw_sink_config(const Scenario& scenario) {
  sinks::IcebergSinkConfig config;
  config.pipeline = kPipeline;
  config.table = kAnchor;
  config.dead_letters = kDeadLetters;
  config.schema = record_schema();
  config.create.emplace();
  if (scenario.is_partitioned) config.create->partition_by = {"part"};
  if (scenario.merges_manifests) config.create->properties["commit.manifest.min-count-to-merge"] = "4";
  if (scenario.forgets) config.create->properties["write.metadata.previous-versions-max"] = "2";
  config.history_keep_ms = scenario.history_keep_ms;
  config.user = "simulation";
  config.targets = draw_targets(scenario.routing, config);
  return config;
}

}  // namespace frazil::simulation
