// PipelineDraft: a pipeline file while it is being written for a user: options by their paths, with comments, printed as
// YAML in the order of the reference.
//
// Values are texts as they will stand in the file, references such as `${env:NAME}` included. One thread at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/config/document.h"
#include "columnar/schema.h"

namespace frazil::app {

class PipelineDraft {
 public:
  PipelineDraft();

  // `path` is an option's ("commit.interval"); sections on the way come into being. A second value replaces the first.
  void set(const std::string& path, const std::string& text);
  void set_list(const std::string& path, const std::vector<std::string>& items);
  // An empty section, as in `create: {}`; nothing when it is there.
  void set_section(const std::string& path);
  // One entry of a map whose keys hold dots, as in source.kafka.properties.
  void set_property(const std::string& path, const std::string& key, const std::string& text);
  // One more of a list of maps, as in `tables`.
  void add_item(const std::string& path, Node map);
  void set_columns(const std::string& path, const columnar::Schema& schema);

  // Nothing when absent, or when it is no text.
  std::optional<std::string> text_of(const std::string& path) const;
  std::optional<std::string> property_of(const std::string& path, const std::string& key) const;
  std::map<std::string, std::string> properties_of(const std::string& path) const;
  bool has(const std::string& path) const { return find(path) != nullptr; }
  void erase_property(const std::string& path, const std::string& key);

  // Words above an option, or above a property when `key` is given; above the whole file when `path` is empty.
  void comment(const std::string& path, const std::string& text);
  void comment(const std::string& path, const std::string& key, const std::string& text);

  // The file. Comments are broken at 100 columns.
  std::string to_yaml() const;

 private:
  Node& at(const std::string& path);
  const Node* find(const std::string& path) const;

  Node root_;
  std::map<std::string, std::vector<std::string>> comments_;
};

// A text as a YAML scalar: plain where that reads back as the same, else in double quotes.
std::string yaml_scalar(const std::string& text);

}  // namespace frazil::app
