#include "app/config/joint_checks.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace frazil::app {
namespace {

// ASCII only: what lies beyond is compared differently by every engine.
std::string lower(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

void warn_below(const std::vector<columnar::Field>& fields, const std::string& prefix, const Mark& mark,
                Problems& problems) {
  std::map<std::string, std::string> seen;
  for (const columnar::Field& field : fields) {
    const auto [other, is_new] = seen.emplace(lower(field.name), field.name);
    if (!is_new && other->second != field.name) {
      problems.warning(mark,
                       "columns \"" + prefix + other->second + "\" and \"" + prefix + field.name +
                           "\" differ by case alone: engines that ignore case (Spark, Trino, Hive) cannot read both");
    }
    warn_below(field.type.fields(), prefix + field.name + ".", mark, problems);
  }
}

bool is_same_catalog(const CatalogConfig& a, const CatalogConfig& b) {
  return a.type == b.type && a.uri == b.uri && a.warehouse == b.warehouse && a.name == b.name;
}

std::vector<std::string> targets_of(const PipelineConfig& pipeline) {
  std::vector<std::string> names{pipeline.table.name};  // the first of several, or the anchor
  for (const RoutedTableConfig& entry : pipeline.tables) names.push_back(entry.name);
  return names;
}

bool is_target_of(const std::string& table, const PipelineConfig& pipeline) {
  const std::vector<std::string> names = targets_of(pipeline);
  return std::find(names.begin(), names.end(), table) != names.end();
}

// A topic that both read by name from the same brokers.
std::string common_topic(const PipelineConfig& a, const PipelineConfig& b) {
  const auto servers = [](const PipelineConfig& pipeline) {
    const auto found = pipeline.kafka->properties.find("bootstrap.servers");
    return found == pipeline.kafka->properties.end() ? std::string() : found->second;
  };
  if (!a.kafka || !b.kafka || servers(a) != servers(b)) return "";
  for (const std::string& topic : a.kafka->topics) {
    const auto& others = b.kafka->topics;
    if (std::find(others.begin(), others.end(), topic) != others.end()) return topic;
  }
  return "";
}

// Each row of a topic once for each pipeline that writes it there.
void warn_of_double_rows(const PipelineConfig& a, const PipelineConfig& b, const Mark& mark, Problems& problems) {
  const std::string topic = common_topic(a, b);
  if (topic.empty() || !is_same_catalog(a.table.catalog, b.table.catalog)) return;
  for (const std::string& table : targets_of(a)) {
    if (!is_target_of(table, b)) continue;
    problems.warning(mark, "pipelines \"" + a.name + "\" and \"" + b.name + "\" both write topic \"" + topic + "\" into " + table +
                               ": its rows would be there twice, so the one that comes second to the table halts and asks");
    return;
  }
}

}  // namespace

void warn_of_case_twins(const columnar::Schema& schema, const Mark& mark, Problems& problems) {
  warn_below(schema.fields, "", mark, problems);
}

void check_tables_apart(const std::vector<PipelineConfig>& pipelines, const std::vector<TableMarks>& marks,
                        Problems& problems) {
  for (size_t i = 0; i < pipelines.size(); ++i) {
    for (size_t j = 0; j < i; ++j) warn_of_double_rows(pipelines[j], pipelines[i], marks[i].pipeline, problems);
    for (size_t j = 0; j < pipelines.size(); ++j) {
      if (i == j || pipelines[i].dead_letters.empty() || !is_target_of(pipelines[i].dead_letters, pipelines[j])) continue;
      if (!is_same_catalog(pipelines[i].table.catalog, pipelines[j].table.catalog)) continue;
      problems.error(marks[i].dead_letters, "dead letters of pipeline \"" + pipelines[i].name + "\" would go to " +
                                                pipelines[i].dead_letters + ", the table of pipeline \"" +
                                                pipelines[j].name + "\": give \"dead_letters\" a table of its own");
    }
  }
}

}  // namespace frazil::app
