#include "app/config/config_reader.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "app/config/catalog_checks.h"
#include "app/config/joint_checks.h"
#include "app/config/option_tree.h"
#include "app/config/pipeline_checks.h"
#include "app/config/set_override.h"

namespace frazil::app {
namespace {

std::string folder_of(const std::string& file) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::vector<const Option*> pointers(const std::vector<Option>& options) {
  std::vector<const Option*> all;
  for (const Option& option : options) all.push_back(&option);
  return all;
}

// The list of pipelines, seen by the walk as one more option so that it is known by name.
const Option& pipelines_option() {
  static const Option option{.path = "pipelines",
                             .kind = OptionKind::kTextList,
                             .doc = "Several pipelines in one file.",
                             .assign = [](const OptionTarget&, const OptionValue&) { return ""; }};
  return option;
}

// Reads a program's configuration from its tree.
class ProgramReader {
 public:
  ProgramReader(ProgramConfig& config, const ValueContext& context) : config_(config), context_(context) {}

  void read(const Node& root) {
    if (root.kind != Node::Kind::kMap) {
      context_.problems.error(root.mark, "a configuration is a map: it begins with \"name:\" or \"pipelines:\"");
      return;
    }
    root.find("pipelines") != nullptr ? read_many(root) : read_single(root);
    check_names();
    check_tables_apart(config_.pipelines, table_marks_, context_.problems);
  }

 private:
  void read_single(const Node& root) {
    std::vector<const Option*> options = pointers(pipeline_options());
    for (const Option* option : pointers(process_options())) options.push_back(option);
    read_pipeline(make_option_tree(options), root);
  }

  void read_many(const Node& root) {
    std::vector<const Option*> options = pointers(process_options());
    options.push_back(&pipelines_option());
    Node rest = root;
    std::erase_if(rest.entries, [](const Entry& entry) { return entry.key == "pipelines"; });
    for (const Entry& entry : rest.entries) {
      if (make_option_tree(pointers(pipeline_options())).child(entry.key) == nullptr) continue;
      context_.problems.error(entry.mark, "\"" + entry.key + "\" belongs into an entry of \"pipelines\"");
    }
    std::erase_if(rest.entries, [](const Entry& entry) {
      return make_option_tree(pointers(pipeline_options())).child(entry.key) != nullptr;
    });
    Marks marks;
    read_by_options(make_option_tree(options), rest, {&config_.process, nullptr}, context_, marks);
    const Node& list = *root.find("pipelines");
    if (list.kind != Node::Kind::kList || list.items.empty()) {
      context_.problems.error(list.mark, "\"pipelines\" must be a list of one or more pipelines");
      return;
    }
    for (const Node& item : list.items) {
      if (item.kind == Node::Kind::kMap) {
        read_pipeline(make_option_tree(pointers(pipeline_options())), item);
      } else {
        context_.problems.error(item.mark, "a pipeline must be a map, not " + std::string(item.kind_name()));
      }
    }
  }

  void read_pipeline(const OptionTree& tree, const Node& map) {
    PipelineConfig pipeline;
    Marks marks{{"", map.mark}};
    read_by_options(tree, map, {&config_.process, &pipeline}, context_, marks);
    complete_pipeline(pipeline, marks, context_);
    name_marks_.push_back(marks.contains("name") ? marks["name"] : map.mark);
    const Mark& name = name_marks_.back();
    table_marks_.push_back({name, marks.contains("dead_letters") ? marks["dead_letters"] : name});
    config_.pipelines.push_back(std::move(pipeline));
  }

  void check_names() {
    std::map<std::string, Mark> seen;
    for (size_t i = 0; i < config_.pipelines.size(); ++i) {
      const std::string& name = config_.pipelines[i].name;
      if (name.empty() || seen.emplace(name, name_marks_[i]).second) continue;
      context_.problems.error(name_marks_[i], "two pipelines have the name \"" + name + "\", the first in line " +
                                                  std::to_string(seen[name].line));
    }
  }

  ProgramConfig& config_;
  const ValueContext& context_;
  std::vector<Mark> name_marks_;
  std::vector<TableMarks> table_marks_;
};

}  // namespace

std::optional<std::string> read_whole_file(const std::string& path, Problems& problems) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  const int reason = errno;
  // Reading a folder fails only now.
  const bool is_folder = std::filesystem::is_directory(path);
  if (!file || is_folder) {
    problems.error({}, std::string("cannot be read: ") + std::strerror(is_folder ? EISDIR : reason));
    return std::nullopt;
  }
  return text.str();
}

ReadConfig read_config_text(std::string_view text, const std::string& file, const ReadOptions& options) {
  ReadConfig read{{}, Problems(file)};
  read.config.file = file;
  std::optional<Node> root = parse_yaml(text, read.problems);
  if (!root) return read;
  apply_overrides(options.overrides, *root, read.problems);
  const ValueContext context{read.problems, folder_of(file), options.missing};
  ProgramReader(read.config, context).read(*root);
  return read;
}

ReadConfig read_config_file(const std::string& path, const ReadOptions& options) {
  Problems problems(path);
  const auto text = read_whole_file(path, problems);
  if (!text) return {{}, problems};
  return read_config_text(*text, path, options);
}

std::optional<CatalogConfig> read_catalog_text(std::string_view text, const std::string& file, Problems& problems) {
  const std::optional<Node> root = parse_yaml(text, problems);
  if (!root) return std::nullopt;
  if (root->kind != Node::Kind::kMap) {
    problems.error(root->mark, "a catalog is a map: {type: sqlite, uri: ..., warehouse: ...}");
    return std::nullopt;
  }
  constexpr std::string_view kPrefix = "table.catalog.";
  std::vector<Option> options;
  for (Option option : pipeline_options()) {
    const bool is_of_files = option.path == "files" || option.path.starts_with("files.");
    if (!option.path.starts_with(kPrefix) && !is_of_files) continue;
    if (!is_of_files) option.path = option.path.substr(kPrefix.size());
    options.push_back(std::move(option));
  }
  PipelineConfig pipeline;
  ProcessConfig process;
  Marks marks;
  const ValueContext context{problems, folder_of(file), MissingReference::kError};
  read_by_options(make_option_tree(pointers(options)), *root, {&process, &pipeline}, context, marks);
  for (const std::string& problem : place_catalog(pipeline.table.catalog, context.folder)) problems.error(root->mark, problem);
  const auto is_written = [&](const std::string& key) { return marks.contains(key); };
  for (const CatalogProblem& problem : check_catalog_together(pipeline.table.catalog, is_written)) {
    const Mark mark = marks.contains(problem.key) ? marks[problem.key] : root->mark;
    problem.is_warning ? problems.warning(mark, problem.text) : problems.error(mark, problem.text);
  }
  if (problems.has_errors()) return std::nullopt;
  return pipeline.table.catalog;
}

}  // namespace frazil::app
