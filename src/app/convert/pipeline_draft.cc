#include "app/convert/pipeline_draft.h"

#include <algorithm>

#include "app/config/option.h"

namespace frazil::app {
namespace {

constexpr size_t kCommentColumns = 100;

Node map_node() {
  Node node;
  node.kind = Node::Kind::kMap;
  return node;
}

Node scalar_node(const std::string& text) {
  Node node;
  node.scalar = text;
  return node;
}

std::vector<std::string> split_at_dots(const std::string& path) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', begin)) {
    parts.push_back(path.substr(begin, dot - begin));
    begin = dot + 1;
  }
  parts.push_back(path.substr(begin));
  return parts;
}

std::string joined(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }

// Where an option stands in the reference; keys that are no options keep their order behind.
size_t rank_of(const std::string& path) {
  const auto& options = pipeline_options();
  const auto found = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.path == path; });
  return static_cast<size_t>(found - options.begin());
}

std::vector<const Entry*> in_order(const Node& map, const std::string& path) {
  std::vector<const Entry*> entries;
  for (const Entry& entry : map.entries) entries.push_back(&entry);
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry* a, const Entry* b) {
    return rank_of(joined(path, a->key)) < rank_of(joined(path, b->key));
  });
  return entries;
}

bool is_plain(const std::string& text) {
  constexpr std::string_view kStart = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_.";
  constexpr std::string_view kInside = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_.-+:@=()";
  if (text.empty() || kStart.find(text[0]) == std::string_view::npos) return false;
  return text.find_first_not_of(kInside) == std::string::npos && text.back() != ':' && text != "null";
}

std::string quoted(const std::string& text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += std::string("\\") + c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string flow(const Node& node) {
  if (node.kind == Node::Kind::kScalar) return yaml_scalar(node.scalar);
  std::string text;
  for (const Node& item : node.items) text += (text.empty() ? "" : ", ") + flow(item);
  if (node.kind == Node::Kind::kList) return "[" + text + "]";
  for (const Entry& entry : node.entries) {
    text += (text.empty() ? "" : ", ") + yaml_scalar(entry.key) + ": " + flow(entry.value);
  }
  return "{" + text + "}";
}

// Breaks a text into comment lines.
std::string comment_lines(const std::string& text, const std::string& indent) {
  std::string lines, line;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && indent.size() + 3 + line.size() + word.size() > kCommentColumns) {
      lines += indent + "#" + line + "\n";
      line.clear();
    }
    if (!word.empty()) line += " " + word;
    begin = end + 1;
  }
  return line.empty() ? lines : lines + indent + "#" + line + "\n";
}

using Comments = std::map<std::string, std::vector<std::string>>;

void write_map(const Node& map, const std::string& path, const std::string& indent, const Comments& comments,
               std::string& out) {
  for (const Entry* entry : in_order(map, path)) {
    const std::string inner = joined(path, entry->key);
    if (const auto found = comments.find(inner); found != comments.end()) {
      for (const std::string& text : found->second) out += comment_lines(text, indent);
    }
    const Node& value = entry->value;
    const std::string begin = indent + yaml_scalar(entry->key) + ":";
    if (value.kind == Node::Kind::kMap && !value.entries.empty()) {
      out += begin + "\n";
      write_map(value, inner, indent + "  ", comments, out);
    } else if (value.kind == Node::Kind::kList && !value.items.empty() && value.items[0].kind == Node::Kind::kMap) {
      out += begin + "\n";
      for (const Node& item : value.items) out += indent + "  - " + flow(item) + "\n";
    } else {
      out += begin + " " + flow(value) + "\n";
    }
  }
}

}  // namespace

std::string yaml_scalar(const std::string& text) { return is_plain(text) ? text : quoted(text); }

PipelineDraft::PipelineDraft() : root_(map_node()) {}

Node& PipelineDraft::at(const std::string& path) {
  Node* node = &root_;
  for (const std::string& part : split_at_dots(path)) {
    if (node->kind != Node::Kind::kMap) *node = map_node();
    if (node->find(part) == nullptr) node->entries.push_back({part, {}, map_node()});
    node = node->find(part);
  }
  return *node;
}

const Node* PipelineDraft::find(const std::string& path) const {
  const Node* node = &root_;
  for (const std::string& part : split_at_dots(path)) {
    node = node->find(part);
    if (node == nullptr) return nullptr;
  }
  return node;
}

void PipelineDraft::set(const std::string& path, const std::string& text) { at(path) = scalar_node(text); }

void PipelineDraft::set_list(const std::string& path, const std::vector<std::string>& items) {
  Node list;
  list.kind = Node::Kind::kList;
  for (const std::string& item : items) list.items.push_back(scalar_node(item));
  at(path) = std::move(list);
}

void PipelineDraft::set_section(const std::string& path) { at(path); }

void PipelineDraft::set_property(const std::string& path, const std::string& key, const std::string& text) {
  Node& map = at(path);
  if (Node* value = map.find(key)) {
    *value = scalar_node(text);
  } else {
    map.entries.push_back({key, {}, scalar_node(text)});
  }
}

void PipelineDraft::add_item(const std::string& path, Node map) {
  Node& list = at(path);
  list.kind = Node::Kind::kList;
  list.items.push_back(std::move(map));
}

void PipelineDraft::set_columns(const std::string& path, const columnar::Schema& schema) {
  Node list;
  list.kind = Node::Kind::kList;
  for (const columnar::Field& field : schema.fields) {
    Node column = map_node();
    column.entries.push_back({"name", {}, scalar_node(field.name)});
    column.entries.push_back({"type", {}, scalar_node(field.type.name())});
    if (field.required) column.entries.push_back({"required", {}, scalar_node("true")});
    if (!field.doc.empty()) column.entries.push_back({"doc", {}, scalar_node(field.doc)});
    list.items.push_back(std::move(column));
  }
  at(path) = std::move(list);
}

std::optional<std::string> PipelineDraft::text_of(const std::string& path) const {
  const Node* node = find(path);
  if (node == nullptr || node->kind != Node::Kind::kScalar) return std::nullopt;
  return node->scalar;
}

std::optional<std::string> PipelineDraft::property_of(const std::string& path, const std::string& key) const {
  const Node* map = find(path);
  const Node* value = map == nullptr ? nullptr : map->find(key);
  if (value == nullptr) return std::nullopt;
  return value->scalar;
}

std::map<std::string, std::string> PipelineDraft::properties_of(const std::string& path) const {
  std::map<std::string, std::string> properties;
  if (const Node* map = find(path)) {
    for (const Entry& entry : map->entries) properties[entry.key] = entry.value.scalar;
  }
  return properties;
}

void PipelineDraft::erase_property(const std::string& path, const std::string& key) {
  std::erase_if(at(path).entries, [&](const Entry& entry) { return entry.key == key; });
}

void PipelineDraft::comment(const std::string& path, const std::string& text) { comments_[path].push_back(text); }

void PipelineDraft::comment(const std::string& path, const std::string& key, const std::string& text) {
  comment(joined(path, key), text);
}

std::string PipelineDraft::to_yaml() const {
  std::string out;
  if (const auto found = comments_.find(""); found != comments_.end()) {
    for (const std::string& text : found->second) out += comment_lines(text, "");
  }
  write_map(root_, "", "", comments_, out);
  return out;
}

}  // namespace frazil::app
