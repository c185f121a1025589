// Option: the one declaration of a configuration key. Parsing, validation, the reference page, help and the JSON Schema
// all come from it. Declarations stand in pipeline_options.cc and process_options.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/config/document.h"
#include "app/config/pipeline_config.h"

namespace frazil::app {

enum class OptionKind {
  kSection,  // a map of further options; assigned when it is present
  kSectionList,  // a list of such maps; assigned before each of them is read
  kText,
  kInteger,
  kBoolean,
  kDuration,  // milliseconds
  kSize,      // bytes
  kChoice,    // one word of `values`
  kTextList,
  kProperties,  // a map of keys that keep the names of the system they are for
  kStart,       // where a topic is read from
  kSchema,      // a file, a word of `values`, or columns written out
};

// A value after its kind was checked. Which members are set follows from the kind; `node` is always the text as
// written.
struct OptionValue {
  std::string text;
  int64_t number = 0;
  bool boolean = false;
  std::vector<std::string> list;
  std::map<std::string, std::string> properties;
  StartConfig start;
  std::optional<columnar::Schema> schema;
  TimestampFields timestamps;  // of `schema`
  const Node* node = nullptr;
  bool is_default = false;
};

struct OptionTarget {
  ProcessConfig* process = nullptr;
  PipelineConfig* pipeline = nullptr;
};

struct Option {
  std::string path{};  // "commit.interval"
  OptionKind kind = OptionKind::kText;
  std::string default_text{};         // as it would be written; empty: none
  std::string doc{};                  // sentences
  std::vector<std::string> values{};  // words that are allowed (kChoice), or allowed besides the kind's own form
  bool is_required = false;           // where its section is present
  bool is_secret = false;             // must be a reference
  bool takes_one_text = false;        // kTextList: a text stands for a list of one
  bool reloads = false;               // takes effect while running
  int64_t minimum = INT64_MIN;
  int64_t maximum = INT64_MAX;
  // kProperties: what is wrong with a name or its value, and whether that name's value is a secret.
  std::function<base::Status(const std::string& name, const std::string& value)> check_property{};
  std::function<bool(const std::string& name)> is_secret_property{};
  // Sets the field of the configuration. Returns what is wrong with the value, or nothing.
  std::function<std::string(const OptionTarget&, const OptionValue&)> assign{};
};

// Options of one pipeline, and those of the whole process, each in the order of the reference.
const std::vector<Option>& pipeline_options();
const std::vector<Option>& process_options();

// The path as references show it: what stands in a list of sections has [] behind the list's name.
std::string shown_path(const Option& option);

// "duration", "size", "text", ...: the word of the reference.
std::string kind_name(OptionKind kind);

}  // namespace frazil::app
