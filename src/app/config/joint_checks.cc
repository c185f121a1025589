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

bool is_target_of(const std::string& table, const PipelineConfig& pipeline) {
  return table == pipeline.table.name || std::any_of(pipeline.tables.begin(), pipeline.tables.end(),
                                                     [&](const RoutedTableConfig& entry) { return entry.name == table; });
}

}  // namespace

void warn_of_case_twins(const columnar::Schema& schema, const Mark& mark, Problems& problems) {
  warn_below(schema.fields, "", mark, problems);
}

void check_tables_apart(const std::vector<PipelineConfig>& pipelines, const std::vector<TableMarks>& marks,
                        Problems& problems) {
  for (size_t i = 0; i < pipelines.size(); ++i) {
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
