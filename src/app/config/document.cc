#include "app/config/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "base/utf8.h"

namespace frazil::app {
namespace {

// Aliases copy what they name; this bounds what a small hostile file can grow to.
constexpr size_t kMaxNodes = 100'000;

Mark to_mark(const YAML::Mark& mark) {
  return {mark.line + 1, mark.column + 1, ""};
}

size_t count_nodes(const Node& node) {
  size_t count = 1;
  for (const Node& item : node.items) count += count_nodes(item);
  for (const Entry& entry : node.entries) count += count_nodes(entry.value);
  return count;
}

// Builds the tree from the parser's events. Open containers stand on a stack; a finished node joins the one below.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, Problems& problems) : text_(text), problems_(problems) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node = scalar(mark, "null");
    node.is_empty = !writes_null(static_cast<size_t>(mark.pos));
    finish(std::move(node), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      problems_.error(to_mark(mark), "an alias inside of its own anchor");
      return finish(scalar(mark, "null"), 0);
    }
    Node copy = found->second;
    copied_ += count_nodes(copy);
    if (copied_ > kMaxNodes) {
      if (!too_large_) problems_.error(to_mark(mark), "aliases make this file larger than 100000 values");
      too_large_ = true;
      copy = scalar(mark, "null");
    }
    copy.mark = to_mark(mark);
    finish(std::move(copy), 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string& value) override {
    finish(scalar(mark, value), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::kList, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::kMap, mark, anchor);
  }
  void OnMapEnd() override { close(); }

  // The tree; nothing for an empty text.
  std::optional<Node> take() { return std::move(root_); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    std::optional<Node> key;  // of a map: read, its value is awaited
  };

  static Node scalar(const YAML::Mark& mark, std::string text) {
    Node node;
    node.mark = to_mark(mark);
    node.scalar = std::move(text);
    return node;
  }
  bool writes_null(size_t at) const {
    if (at >= text_.size()) return false;
    return text_[at] == '~' || text_.substr(at, 4) == "null" || text_.substr(at, 4) == "Null" ||
           text_.substr(at, 4) == "NULL";
  }
  void open(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    Open opened;
    opened.node.kind = kind;
    opened.node.mark = to_mark(mark);
    opened.anchor = anchor;
    open_.push_back(std::move(opened));
  }
  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    finish(std::move(closed.node), closed.anchor);
  }
  void finish(Node node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = node;
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (Open& parent = open_.back(); parent.node.kind == Node::Kind::kList) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      parent.key = std::move(node);
    } else {
      add_entry(parent, std::move(node));
    }
  }
  void add_entry(Open& parent, Node value) {
    const Node key = *std::exchange(parent.key, std::nullopt);
    if (key.kind != Node::Kind::kScalar) {
      problems_.error(key.mark, "a key must be a text");
      return;
    }
    for (const Entry& entry : parent.node.entries) {
      if (entry.key != key.scalar) continue;
      problems_.error(key.mark,
                      "duplicate key \"" + key.scalar + "\", first set in line " + std::to_string(entry.mark.line));
      return;
    }
    // The parser finds out about a missing value only on the next line.
    if (value.is_empty) value.mark = key.mark;
    parent.node.entries.push_back({key.scalar, key.mark, std::move(value)});
  }

  std::string_view text_;
  Problems& problems_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::optional<Node> root_;
  size_t copied_ = 0;
  bool too_large_ = false;
};

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Node* Node::find(std::string_view key) {
  return const_cast<Node*>(static_cast<const Node*>(this)->find(key));
}

std::string_view Node::kind_name() const {
  if (kind == Kind::kList) return "a list";
  if (kind == Kind::kMap) return "a map";
  return is_empty ? "nothing" : "a text";
}

namespace {

// The place of the first byte that is no UTF-8. Names and texts of the file go into tables and catalogs, where others have to read them.
std::optional<Mark> first_bad_byte(std::string_view text) {
  Mark mark{1, 1, ""};
  for (size_t at = 0; at < text.size(); ++mark.column) {
    const int length = base::utf8_sequence_length(text.substr(at));
    if (length == 0) return mark;
    if (text[at] == '\n') mark = {mark.line + 1, 0, ""};
    at += static_cast<size_t>(length);
  }
  return std::nullopt;
}

// A tab that indents the line of a mistake, or the one above it, which a parser may have taken for the end of something.
std::optional<Mark> indenting_tab(std::string_view text, const YAML::Mark& mistake) {
  std::optional<Mark> found;
  int line = 0;
  for (size_t begin = 0; begin < text.size() && line <= mistake.line; ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const size_t first = std::min(text.find_first_not_of(" \t", begin), end);
    const size_t tab = text.substr(begin, first - begin).find('\t');
    if (tab != std::string_view::npos && first < end && line >= mistake.line - 1) found = Mark{line + 1, static_cast<int>(tab) + 1, ""};
    begin = end + 1;
  }
  return found;
}

}  // namespace

std::optional<Node> parse_yaml(std::string_view text, Problems& problems) {
  if (const auto place = first_bad_byte(text)) {
    problems.error(*place, "not UTF-8");
    return std::nullopt;
  }
  TreeBuilder builder(text, problems);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    TreeBuilder rest(text, problems);
    if (parser.HandleNextDocument(rest)) {
      if (const auto second = rest.take(); second && !second->is_empty) problems.error(second->mark, "a second YAML document: a file holds one");
    }
  } catch (const YAML::Exception& exception) {
    if (const auto tab = indenting_tab(text, exception.mark)) {
      problems.error(*tab, "not YAML: a tab indents line " + std::to_string(tab->line) + "; YAML allows spaces only");
    } else {
      problems.error(to_mark(exception.mark), "not YAML: " + exception.msg);
    }
    return std::nullopt;
  }
  if (auto root = builder.take()) return root;
  Node empty;
  empty.mark = {1, 1, ""};
  empty.is_empty = true;
  empty.scalar = "null";
  return empty;
}

}  // namespace frazil::app
