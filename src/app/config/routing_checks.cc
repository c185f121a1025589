#include "app/config/routing_checks.h"

#include <algorithm>
#include <set>

#include "app/config/routing_options.h"
#include "app/sink_config.h"
#include "decoders/column_mapping.h"
#include "decoders/json/json_record_decoder.h"
#include "sinks/iceberg/row_routes.h"
#include "sinks/iceberg/target_tables.h"

namespace frazil::app {
namespace {

std::string namespace_of(const std::string& table) { return table.substr(0, table.rfind('.')); }

class RoutingChecks {
 public:
  RoutingChecks(PipelineConfig& pipeline, const TellProblem& tell) : pipeline_(pipeline), tell_(tell) {}

  void run() {
    check_names();
    for (size_t i = 0; i < pipeline_.tables.size(); ++i) {
      path_ = "tables[" + std::to_string(i) + "]";
      check_condition(pipeline_.tables[i]);
      check_schema(pipeline_.tables[i]);
    }
    if (is_good_) check_topics();
  }

 private:
  void error(const std::string& path, std::string text) {
    is_good_ = false;
    tell_(path, std::move(text));
  }

  void check_names() {
    if (pipeline_.tables.size() > sinks::kRoutesAtMost) {
      error("tables", "\"tables\" holds " + std::to_string(pipeline_.tables.size()) + " tables; there may be " +
                          std::to_string(sinks::kRoutesAtMost));
    }
    std::set<std::string> names;
    for (size_t i = 0; i < pipeline_.tables.size(); ++i) {
      const std::string& name = pipeline_.tables[i].name;
      if (name.empty() || names.insert(name).second) continue;
      error("tables[" + std::to_string(i) + "].name", "\"tables\" names " + name + " twice: \"equals\" takes a list of values");
    }
    const std::string first = pipeline_.tables.empty() ? "" : pipeline_.tables[0].name;
    if (pipeline_.anchor.empty()) pipeline_.anchor = namespace_of(first) + "." + pipeline_.name + "_positions";
    if (pipeline_.dead_letters.empty()) pipeline_.dead_letters = namespace_of(first) + "." + pipeline_.name + "_dead_letters";
    pipeline_.table.name = pipeline_.anchor;
    if (names.contains(pipeline_.dead_letters)) error("dead_letters", "\"dead_letters\" must be another table than those of \"tables\"");
  }

  void check_condition(const RoutedTableConfig& entry) {
    const bool has_values = !entry.equals.empty() || !entry.matches.empty();
    if (!entry.equals.empty() && !entry.matches.empty()) {
      error(path_ + ".when.matches", "\"equals\" and \"matches\" exclude each other");
    }
    if (entry.field.empty() && has_values) error(path_ + ".when", "\"equals\" and \"matches\" need a \"field\"");
    if (!entry.field.empty() && !has_values) error(path_ + ".when", "\"field\" needs \"equals\" or \"matches\"");
    const auto topics = pipeline_.kafka ? pipeline_.kafka->topics : std::vector<std::string>();
    const bool is_listed = topics.empty() || std::find(topics.begin(), topics.end(), entry.topic) != topics.end();
    if (!entry.topic.empty() && !is_listed) {
      error(path_ + ".when.topic", "\"" + entry.topic + "\" is not one of \"source.kafka.topics\"");
    }
  }

  void check_schema(const RoutedTableConfig& entry) {
    if (entry.schema && entry.topic.empty()) error(path_ + ".schema", "\"schema\" of a table needs \"when.topic\": it is the topic's");
    if (!entry.schema && pipeline_.decode.schema_from_table && (entry.create || pipeline_.table.create)) {
      error(path_, "\"create\" needs a schema, but \"decode.json.schema\" is from_table");
    }
    const auto rows = routed_row_schema(pipeline_, entry);
    if (!rows.ok()) error(path_ + ".schema", rows.error().message());
    if (!rows.ok() || !*rows) return;
    if (const auto fits = sinks::check_condition(condition_of(entry), **rows); !fits.ok()) {
      error(path_ + ".when", "\"when\": " + fits.error().message());
    }
    decoders::JsonDecoderConfig json = pipeline_.decode.json;
    json.columns = pipeline_.table.columns;
    const auto decoder = decoders::make_json_decoder(std::move(json), std::make_shared<const columnar::Schema>(**rows));
    if (!decoder.ok()) error(path_ + ".schema", decoder.error().message());
  }

  // Every table may get rows, and those that share a topic share its schema.
  void check_topics() {
    std::vector<sinks::TargetConfig> targets;
    std::set<std::string> topics{""};
    for (const RoutedTableConfig& entry : pipeline_.tables) {
      targets.push_back({{}, entry.schema ? entry.schema : pipeline_.decode.schema, {}, condition_of(entry)});
      topics.insert(entry.topic);
    }
    std::set<size_t> reached;
    for (const std::string& topic : topics) {
      const std::vector<size_t> takers = sinks::targets_for_topic(targets, pipeline_.route_to_all, topic);
      reached.insert(takers.begin(), takers.end());
      for (const size_t taker : takers) {
        if (targets[taker].schema == targets[takers[0]].schema) continue;
        error("tables[" + std::to_string(taker) + "]", "rows of topic \"" + topic + "\" would go to " + pipeline_.tables[takers[0]].name +
                                                           " and to " + pipeline_.tables[taker].name + ", which have different schemas");
      }
    }
    for (size_t i = 0; i < targets.size(); ++i) {
      if (!reached.contains(i)) error("tables[" + std::to_string(i) + "]", "no row reaches " + pipeline_.tables[i].name + ": tables before it take all");
    }
  }

  PipelineConfig& pipeline_;
  const TellProblem& tell_;
  std::string path_;  // of the entry in hand
  bool is_good_ = true;
};

}  // namespace

base::Result<std::optional<columnar::Schema>> routed_row_schema(const PipelineConfig& pipeline, const RoutedTableConfig& entry) {
  const auto& documents = entry.schema ? entry.schema : pipeline.decode.schema;
  if (!documents) return std::optional<columnar::Schema>();
  TRY_ASSIGN(columnar::Schema rows, decoders::row_schema(*documents, pipeline.table.columns));
  return std::optional(std::move(rows));
}

void check_routing(PipelineConfig& pipeline, const TellProblem& tell) { RoutingChecks(pipeline, tell).run(); }

}  // namespace frazil::app
