#include "app/catalog/catalog_file.h"

#include <algorithm>

#include "app/config/config_reader.h"
#include "app/config/document.h"

namespace frazil::app {
namespace {

// What is no YAML counts as a catalog's: reading it as such tells what is wrong.
bool holds_pipelines(const std::string& text, const std::string& path) {
  Problems ignored(path);
  const auto root = parse_yaml(text, ignored);
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
  const auto text = read_whole_file(path, problems);
  if (!text) return std::nullopt;
  if (!holds_pipelines(*text, path)) {
    const auto catalog = read_catalog_text(*text, path, problems);
    if (pipeline.empty() || !catalog) return catalog;
    problems.error({}, "--pipeline \"" + pipeline + "\": this file holds a catalog alone, no pipelines");
    return std::nullopt;
  }
  const ReadConfig read = read_config_text(*text, path, {{}, MissingReference::kWarning});
  problems = read.problems;
  if (problems.has_errors()) return std::nullopt;
  return catalog_of_pipelines(read.config.pipelines, pipeline, problems);
}

}  // namespace frazil::app
