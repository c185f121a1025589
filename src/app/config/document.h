// Document: a YAML file as a tree that knows where each key and value stands.
//
// The YAML library is seen in document.cc alone. Scalars stay text: what a value means is decided by the option that it
// is given to, so the words `null`, `off` and `none` stay words. Anchors and aliases are resolved; duplicate keys are
// problems. Plain values; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/problems.h"

namespace frazil::app {

struct Entry;

struct Node {
  enum class Kind { kScalar, kList, kMap };
  Kind kind = Kind::kScalar;
  Mark mark{};
  std::string scalar{};   // of kScalar; "null" where nothing or `~` was written
  bool is_empty = false;  // a scalar that was left out: "key:" and nothing behind it
  std::vector<Node> items{};
  std::vector<Entry> entries;  // no {}: clang 14 would need Entry complete here

  // The value of a key of a map, or nullptr.
  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
  // "a text", "a list", "a map", "nothing": for messages.
  std::string_view kind_name() const;
};

struct Entry {
  std::string key;
  Mark mark;  // of the key
  Node value;
};

// Reads one YAML document. Duplicate keys become problems, and the first one counts; a syntax error becomes one, and
// there is no tree then. An empty text is an empty scalar.
std::optional<Node> parse_yaml(std::string_view text, Problems& problems);

}  // namespace frazil::app
