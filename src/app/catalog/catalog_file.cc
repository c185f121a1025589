#include "app/catalog/catalog_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "app/config/config_reader.h"
#include "app/config/document.h"

namespace frazil::app {
namespace {

// A file that cannot be read or is no YAML counts as a catalog's: reading it as such tells what is wrong.
bool holds_pipelines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  Problems ignored(path);
  const auto root = parse_yaml(text.str(), ignored);
  return root && root->kind == Node::Kind::kMap &&
         (root->find("table") != nullptr || root->find("pipelines") != nullptr || root->find("source") != nullptr);
}

bool is_same_catalog(const CatalogConfig& a, const CatalogConfig& b) {
  return a.type == b.type && a.uri == b.uri && a.warehouse == b.warehouse && a.name == b.name;
}

std::string names_of(const std::vector<PipelineConfig>& pipelines) {
  std::string names;
  for (const PipelineConfig& pipeline : pipelines) names += (names.empty() ? "" : ", ") + pipeline.name;
  return names;
}

std::optional<CatalogConfig> catalog_of_pipelines(const std::vector<PipelineConfig>& pipelines, const std::string& name,
                                                  Problems& problems) {
  if (!name.empty()) {
    const auto named =
        std::find_if(pipelines.begin(), pipelines.end(), [&](const auto& one) { return one.name == name; });
    if (named != pipelines.end()) return named->table.catalog;
    problems.error({}, "there is no pipeline \"" + name + "\", only " + names_of(pipelines));
    return std::nullopt;
  }
  const CatalogConfig& first = pipelines.front().table.catalog;
  for (const PipelineConfig& pipeline : pipelines) {
    if (is_same_catalog(first, pipeline.table.catalog)) continue;
    problems.error({}, "its pipelines use different catalogs: choose with --pipeline one of " + names_of(pipelines));
    return std::nullopt;
  }
  return first;
}

}  // namespace

std::optional<CatalogConfig> read_catalog_of(const std::string& path, const std::string& pipeline, Problems& problems) {
  if (!holds_pipelines(path)) {
    const auto catalog = read_catalog_file(path, problems);
    if (pipeline.empty() || !catalog) return catalog;
    problems.error({}, "--pipeline \"" + pipeline + "\": this file holds a catalog alone, no pipelines");
    return std::nullopt;
  }
  const ReadConfig read = read_config_file(path, {{}, MissingReference::kWarning});
  problems = read.problems;
  if (problems.has_errors()) return std::nullopt;
  return catalog_of_pipelines(read.config.pipelines, pipeline, problems);
}

}  // namespace frazil::app
