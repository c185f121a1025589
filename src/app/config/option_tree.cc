#include "app/config/option_tree.h"

#include "app/config/nearest_name.h"
#include "base/check.h"

namespace frazil::app {
namespace {

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

class OptionWalk {
 public:
  OptionWalk(const OptionTarget& target, const ValueContext& context, Marks& marks)
      : target_(target), context_(context), marks_(marks) {}

  void walk_map(const OptionTree& tree, const Node& map) {
    for (const Entry& entry : map.entries) {
      if (tree.child(entry.key) == nullptr) unknown_key(tree, entry);
    }
    for (const OptionTree& child : tree.children) {
      const Node* node = map.find(child.name);
      if (node != nullptr) {
        marks_[child.option->path] = node->mark;
        walk_child(child, *node);
      } else if (child.option->is_required) {
        context_.problems.error(map.mark, "missing key \"" + child.option->path + "\"");
      } else if (child.option->kind == OptionKind::kSection) {
        // A section whose presence says something has no defaults while it is absent.
        if (child.option->assign == nullptr) walk_map(child, Node{.kind = Node::Kind::kMap, .mark = map.mark, .entries = {}});
      } else if (!child.option->default_text.empty()) {
        set(*child.option, Node{.mark = map.mark, .scalar = child.option->default_text, .entries = {}}, true);
      }
    }
  }

 private:
  void mark_properties(const Option& option, const Node& node) {
    for (const Entry& entry : node.entries) marks_[option.path + "." + entry.key] = entry.mark;
  }

  void walk_child(const OptionTree& child, const Node& node) {
    if (child.option->kind == OptionKind::kSection) return walk_section(child, node);
    if (child.option->kind == OptionKind::kSectionList) return walk_list(child, node);
    if (child.option->kind == OptionKind::kProperties) mark_properties(*child.option, node);
    set(*child.option, node, false);
  }

  // Marks of an entry get its number: "tables.name" of the second one is "tables[1].name".
  void walk_list(const OptionTree& list, const Node& node) {
    const std::string& path = list.option->path;
    if (node.kind != Node::Kind::kList || node.items.empty()) {
      context_.problems.error(node.mark, "\"" + path + "\" must be a list of one or more maps");
      return;
    }
    for (size_t i = 0; i < node.items.size(); ++i) {
      Marks marks;
      OptionWalk(target_, context_, marks).walk_section(list, node.items[i]);
      const std::string numbered = path + "[" + std::to_string(i) + "]";
      marks_[numbered] = node.items[i].mark;
      for (const auto& [inner, mark] : marks) marks_[numbered + inner.substr(path.size())] = mark;
    }
  }

  void walk_section(const OptionTree& section, const Node& node) {
    if (node.kind != Node::Kind::kMap && !node.is_empty) {
      context_.problems.error(node.mark,
                              "\"" + section.option->path + "\" must be a map, not " + std::string(node.kind_name()));
      return;
    }
    if (section.option->assign != nullptr) section.option->assign(target_, OptionValue{});
    walk_map(section, node);
  }

  void set(const Option& option, const Node& node, bool is_default) {
    auto value = read_option_value(option, node, context_);
    if (!value) return;
    value->is_default = is_default;
    CHECK(option.assign != nullptr);
    const std::string wrong = option.assign(target_, *value);
    if (!wrong.empty()) context_.problems.error(node.mark, "\"" + option.path + "\": " + wrong);
  }

  void unknown_key(const OptionTree& tree, const Entry& entry) {
    std::string text = "unknown key \"" + entry.key + "\"";
    if (tree.option != nullptr) text += " in \"" + tree.option->path + "\"";
    context_.problems.error(entry.mark, text + ", nearest known key \"" + nearest(tree, entry.key) + "\"");
  }

  // A key of the same map that differs by a typing mistake, else the same key elsewhere, else the nearest of the map.
  std::string nearest(const OptionTree& tree, const std::string& key) const {
    const std::string sibling = nearest_name(key, tree.child_names());
    if (edit_distance(key, sibling) <= 1 + key.size() / 4) return sibling;
    for (const auto* options : {&pipeline_options(), &process_options()}) {
      for (const Option& option : *options) {
        if (last_part(option.path) == key) return option.path;
      }
    }
    return sibling;
  }

  const OptionTarget& target_;
  const ValueContext& context_;
  Marks& marks_;
};

}  // namespace

const OptionTree* OptionTree::child(const std::string& wanted) const {
  for (const OptionTree& candidate : children) {
    if (candidate.name == wanted) return &candidate;
  }
  return nullptr;
}

std::vector<std::string> OptionTree::child_names() const {
  std::vector<std::string> names;
  for (const OptionTree& candidate : children) names.push_back(candidate.name);
  return names;
}

OptionTree make_option_tree(const std::vector<const Option*>& options) {
  OptionTree root;
  for (const Option* option : options) {
    OptionTree* parent = &root;
    size_t begin = 0;
    for (size_t dot = option->path.find('.'); dot != std::string::npos; dot = option->path.find('.', begin)) {
      const std::string part = option->path.substr(begin, dot - begin);
      auto* found = const_cast<OptionTree*>(parent->child(part));
      CHECK(found != nullptr);
      parent = found;
      begin = dot + 1;
    }
    parent->children.push_back({option->path.substr(begin), option, {}});
  }
  return root;
}

void read_by_options(const OptionTree& tree, const Node& map, const OptionTarget& target, const ValueContext& context,
                     Marks& marks) {
  OptionWalk(target, context, marks).walk_map(tree, map);
}

}  // namespace frazil::app
