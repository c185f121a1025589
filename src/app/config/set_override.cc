#include "app/config/set_override.h"

#include <algorithm>

#include "app/config/nearest_name.h"
#include "app/config/option.h"

namespace frazil::app {
namespace {

void set_origin(Node& node, const Mark& mark) {
  node.mark = mark;
  for (Node& item : node.items) set_origin(item, mark);
  for (Entry& entry : node.entries) {
    entry.mark = mark;
    set_origin(entry.value, mark);
  }
}

// Splits a path at its dots; the key behind a map of properties keeps its own.
std::vector<std::string> split_path(const std::string& path) {
  std::string tail;
  std::string head = path;
  for (const Option& option : pipeline_options()) {
    if (option.kind != OptionKind::kProperties || !path.starts_with(option.path + ".")) continue;
    head = option.path;
    tail = path.substr(option.path.size() + 1);
  }
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t dot = head.find('.'); dot != std::string::npos; dot = head.find('.', begin)) {
    parts.push_back(head.substr(begin, dot - begin));
    begin = dot + 1;
  }
  parts.push_back(head.substr(begin));
  if (!tail.empty()) parts.push_back(tail);
  return parts;
}

void assign(Node& root, const std::vector<std::string>& parts, Node value, const Mark& mark) {
  Node* node = &root;
  for (const std::string& part : parts) {
    if (node->kind != Node::Kind::kMap) {
      *node = Node{};
      node->kind = Node::Kind::kMap;
      node->mark = mark;
    }
    if (node->find(part) == nullptr) node->entries.push_back({part, mark, Node{}});
    node = node->find(part);
  }
  *node = std::move(value);
  // Errors about the key itself belong to the command line as well.
  Node* parent = &root;
  for (size_t i = 0; i + 1 < parts.size(); ++i) parent = parent->find(parts[i]);
  for (Entry& entry : parent->entries) {
    if (entry.key == parts.back()) entry.mark = mark;
  }
}

bool is_process_path(const std::string& path) {
  const auto& options = process_options();
  return std::any_of(options.begin(), options.end(), [&](const Option& option) { return option.path == path; });
}

// The map that the override changes, or nullptr after a problem.
Node* find_target(const std::string& pipeline, const std::string& path, const Mark& mark, Node& root,
                  Problems& problems) {
  Node* list = root.find("pipelines");
  if (pipeline.empty()) {
    if (list == nullptr || is_process_path(path)) return &root;
    problems.error(mark, "the file holds several pipelines: write --set NAME:" + path + "=...");
    return nullptr;
  }
  std::vector<std::string> names;
  std::vector<Node*> candidates{&root};
  if (list != nullptr) {
    candidates.clear();
    for (Node& item : list->items) candidates.push_back(&item);
  }
  for (Node* candidate : candidates) {
    const Node* name = candidate->find("name");
    if (name != nullptr && name->scalar == pipeline) return candidate;
    if (name != nullptr) names.push_back(name->scalar);
  }
  problems.error(mark, "no pipeline \"" + pipeline + "\", nearest is \"" + nearest_name(pipeline, names) + "\"");
  return nullptr;
}

void apply_override(const std::string& text, Node& root, Problems& problems) {
  const size_t equals = text.find('=');
  const Mark shown{0, 0, "--set " + text.substr(0, equals)};
  if (equals == std::string::npos || equals == 0) {
    problems.error(shown, "write --set path=value, as in --set commit.interval=2s");
    return;
  }
  std::string path = text.substr(0, equals);
  std::string pipeline;
  if (const size_t colon = path.find(':'); colon != std::string::npos) {
    pipeline = path.substr(0, colon);
    path = path.substr(colon + 1);
  }
  Node* target = find_target(pipeline, path, shown, root, problems);
  if (target == nullptr) return;
  Problems syntax("");
  // What is no YAML, such as a text with a colon in it, is taken as it stands.
  Node value = parse_yaml(text.substr(equals + 1), syntax).value_or(Node{.scalar = text.substr(equals + 1), .entries = {}});
  set_origin(value, shown);
  assign(*target, split_path(path), std::move(value), shown);
}

}  // namespace

void apply_overrides(const std::vector<std::string>& overrides, Node& root, Problems& problems) {
  for (const std::string& text : overrides) apply_override(text, root, problems);
}

}  // namespace frazil::app
